import type { AddedCells, JoinedRows, OpenSinkOptions, OutputCell } from '../../lists/rows/sink.js';
import { ReasonExamples } from './reason-examples.js';
import { TopCounts } from './top-counts.js';

/** What became of a cell, as the report's charts tell it apart. */
export const fates = ['valid', 'wrong', 'unknown', 'unverified'] as const;
type Fate = (typeof fates)[number];

/** What an outcome means for the figures; of a run there are a few dozen. */
interface Meaning {
  readonly way: number;
  readonly operator: string | undefined;
  /** Why there is no result; empty where there is one. */
  readonly reason: string;
}

/** With `--provenance` each cell has an outcome of its own. */
const mostMeanings = 10_000;
/** Longer names are of nobody. */
const longestDomain = 253;

/**
 * What only the rows themselves tell: where emails are kept, who carries phone numbers, and which cells
 * have no result.
 */
export class ListFigures {
  readonly domains = new TopCounts({ ways: fates.length });
  readonly operators = new TopCounts({ ways: fates.length });
  /** By verified column. */
  readonly examples: readonly ReasonExamples[];
  readonly #verified: readonly number[];
  /** All that is known of a cell, also what is not written. */
  readonly #found: AddedCells;
  /** By verified column: what its outcomes mean. */
  readonly #meanings: readonly Map<number, Meaning>[];
  /** Whether examples have the numbers that rows have in the sheet or file; else they are counted below the header. */
  hasRowNumbers = true;
  readonly #isOneInput: boolean;
  #rows = 0;

  constructor(opening: OpenSinkOptions) {
    this.#verified = opening.verified;
    this.#isOneInput = opening.reading.first === undefined;
    this.#found = opening.whole ?? opening;
    this.#meanings = opening.added.map(() => new Map());
    this.examples = opening.added.map((_, column) => new ReasonExamples(this.#isEmail(column)));
  }

  add({ chunk, from, to, outcomes, width }: JoinedRows): void {
    for (const [column, position] of this.#verified.entries()) {
      const isEmail = this.#isEmail(column);
      const examples = this.examples[column];
      for (let row = from; row < to; row += 1) {
        const { way, operator, reason } = this.#meaningOf(
          outcomes[(row - from) * width + column] ?? 0,
          column,
        );
        if (reason !== '') {
          const counted = this.#rows + row - from + 1;
          examples?.add(
            reason,
            this.#isOneInput ? (chunk.number?.(row) ?? counted) : counted,
            chunk.text(row, position),
          );
        }
        if (isEmail) {
          const domain = domainOf(chunk.text(row, position));
          if (domain !== undefined) this.domains.add(domain, way);
        } else if (operator !== undefined) {
          this.operators.add(operator, way);
        }
      }
    }
    this.hasRowNumbers &&= this.#isOneInput && chunk.number !== undefined;
    this.#rows += to - from;
  }

  #isEmail(column: number): boolean {
    return !this.#fieldsOf(column).includes('operator');
  }

  #meaningOf(outcome: number, column: number): Meaning {
    const known = this.#meanings[column]?.get(outcome);
    if (known) return known;
    const fields = this.#fieldsOf(column);
    const cells = this.#found.cellsOf(outcome, column);
    const cellOf = (field: string): OutputCell => cells[fields.indexOf(field)] ?? null;
    const [operator, reason] = [cellOf('operator'), cellOf('reason')];
    const meaning = {
      way: fates.indexOf(fateOf(cellOf)),
      operator: typeof operator === 'string' && operator !== '' ? operator : undefined,
      reason: typeof reason === 'string' ? reason : '',
    };
    const meanings = this.#meanings[column];
    if ((meanings?.size ?? 0) >= mostMeanings) meanings?.clear();
    meanings?.set(outcome, meaning);
    return meaning;
  }

  #fieldsOf(column: number): readonly string[] {
    return this.#found.added[column]?.map(({ field }) => field) ?? [];
  }
}

/** Of several flags, wrong counts before unknown before valid, as in the summary. */
function fateOf(cellOf: (field: string) => OutputCell): Fate {
  if (cellOf('wrong') === true) return 'wrong';
  if (cellOf('unknown') === true) return 'unknown';
  return cellOf('valid') === true ? 'valid' : 'unverified';
}

function domainOf(cell: unknown): string | undefined {
  if (typeof cell !== 'string') return undefined;
  const domain = cell.slice(cell.lastIndexOf('@') + 1).trim();
  const isDomain =
    cell.includes('@') && domain.length <= longestDomain && /^[^\s,;:<>()"']+$/.test(domain);
  return isDomain ? domain.toLowerCase() : undefined;
}
