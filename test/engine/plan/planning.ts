import { AddressBook } from '../../../src/engine/plan/address-book.js';
import { BatchCutter, MemoryStorage } from '../../../src/engine/plan/batch-cutter.js';
import type { Batch } from '../../../src/engine/batches/batch.js';
import type { VerifiedColumn } from '../../../src/engine/plan/cell-reader.js';
import type { CountryRule } from '../../../src/engine/plan/row-countries.js';
import { Planner } from '../../../src/engine/plan/planner.js';
import { ResultJoin } from '../../../src/engine/plan/result-join.js';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import type { CellText, RowChunk } from '../../../src/lists/rows/chunks/row-chunk.js';

/** Rows of cells, by their positions. */
function chunkOf(rows: readonly (readonly CellText[])[]): RowChunk {
  return {
    length: rows.length,
    byteSize: 0,
    text: (row, column) => rows[row]?.[column],
  };
}

export interface PlanningOptions {
  readonly columns?: readonly VerifiedColumn[];
  readonly country?: CountryRule;
  readonly batchSize?: number;
}

/** A planner with all that it works on. */
export class Planning {
  readonly outcomes = new OutcomeTable();
  readonly book = new AddressBook({ seed: new Uint8Array(32).fill(1) });
  readonly cutter: BatchCutter;
  readonly planner: Planner;
  readonly join: ResultJoin;

  constructor(options: PlanningOptions = {}) {
    this.cutter = new BatchCutter({
      batchSize: options.batchSize ?? 1000,
      storage: new MemoryStorage(),
    });
    this.planner = new Planner({
      columns: options.columns ?? [{ type: 'email', position: 0 }],
      country: options.country ?? { fallback: 'US', position: undefined },
      book: this.book,
      cutter: this.cutter,
      outcomes: this.outcomes,
    });
    this.join = new ResultJoin({
      book: this.book,
      outcomes: this.outcomes,
    });
  }

  plan(...rows: (readonly CellText[])[]): Uint32Array {
    return this.planner.plan(chunkOf(rows), 0);
  }

  /** All batches so far, closed. */
  batches(): readonly Batch[] {
    this.cutter.closeAll();
    return this.cutter.take();
  }

  /** What a ticket stands for: bucket and reason, or the first values of a record. */
  tell(ticket: number | undefined): string {
    if (ticket === undefined) return 'no ticket';
    const outcome = this.book.outcome(ticket);
    if (outcome < 0) return 'pending';
    const { verification, reason, values } = this.outcomes.get(outcome);
    return values ? `${verification} ${values.join(' ')}` : `${verification} ${reason}`;
  }
}

export async function linesOf(batch: Batch | undefined): Promise<string[]> {
  let text = '';
  for await (const chunk of batch?.open() ?? []) text += Buffer.from(chunk).toString();
  return text.split('\n').slice(0, -1);
}
