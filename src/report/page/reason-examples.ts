import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import { maskedCell } from '../../platform/text/masked-cell.js';

/** A cell that has no result, so that its owner finds it: the report is passed on, the list is not. */
export interface Example {
  /** In its sheet or file, where that is known; else the first row below the header is 1. */
  readonly row: number;
  /** Its form; empty where it holds nothing, or no text. */
  readonly form: string;
}

const mostExamples = 5;
/** Services name reasons, too. */
const mostReasons = 50;

/** The first cells of each reason, in one column. */
export class ReasonExamples {
  readonly #isEmail: boolean;
  readonly #byReason = new Map<string, Example[]>();

  constructor(isEmail: boolean) {
    this.#isEmail = isEmail;
  }

  add(reason: string, row: number, cell: CellText): void {
    let examples = this.#byReason.get(reason);
    if (!examples) {
      if (this.#byReason.size >= mostReasons) return;
      examples = [];
      this.#byReason.set(reason, examples);
    }
    if (examples.length >= mostExamples) return;
    examples.push({ row, form: typeof cell === 'string' ? maskedCell(cell, this.#isEmail) : '' });
  }

  of(reason: string): readonly Example[] {
    return this.#byReason.get(reason) ?? [];
  }
}
