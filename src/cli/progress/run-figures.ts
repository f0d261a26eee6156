import type { VerificationType } from '../../contract/index.js';
import type { Batch, Charge, KnownBatch, RunProgress } from '../../index.js';

/** What a batch has behind it; the order of its life. */
const ranks = {
  planned: 0,
  uploading: 1,
  uploaded: 2,
  parsing: 3,
  ready: 4,
  launching: 5,
  verifying: 6,
  done: 7,
  exported: 8,
  failed: 8,
  // Its parts are counted in its place.
  split: -1,
} as const satisfies Record<KnownBatch['stage'], number>;

/** The stages of a run, as a person watches them. */
export const runStages = [
  'reading',
  'uploading',
  'preparing',
  'verifying',
  'exporting',
  'writing',
] as const;
export type RunStage = (typeof runStages)[number];

/** Where a batch must have got to, to be through a stage, and to be in it. */
const batchStages = {
  uploading: { in: ranks.uploading, through: ranks.uploaded },
  preparing: { in: ranks.uploaded, through: ranks.ready },
  verifying: { in: ranks.ready, through: ranks.done },
  exporting: { in: ranks.done, through: ranks.exported },
} as const;

export interface StageFigures {
  /** Rows or addresses that are through it. */
  readonly done: number;
  /** How many there are to be; `undefined` while nobody knows. */
  readonly total: number | undefined;
  /** Batches that are in it now. */
  readonly batches: number;
  /** When its first row or batch came; `undefined` before. */
  readonly sinceMs: number | undefined;
  readonly isOver: boolean;
}

export interface CreditFigures {
  /** Before refunds: batches that may have been launched. */
  readonly launched: Readonly<Record<VerificationType, number>>;
  /** What the service has said that it gave back. */
  readonly refunded: number;
}

interface SeenBatch {
  readonly addresses: number;
  readonly type: VerificationType;
  readonly known: KnownBatch;
  readonly mayHaveLaunched: boolean;
  readonly charge: Charge | undefined;
}

/** What is known of a run while it goes: a fold of what it tells. */
export class RunFigures {
  #rowsRead = 0;
  #isRead = false;
  #rowsWritten = 0;
  #isWritten = false;
  #addresses: number | undefined;
  readonly #batches = new Map<string, SeenBatch>();
  readonly #since = new Map<RunStage, number>();

  note(progress: RunProgress, nowMs: number): void {
    switch (progress.stage) {
      case 'reading':
      case 'read':
        this.#begin('reading', nowMs);
        this.#rowsRead = progress.rows;
        if (progress.stage === 'read') {
          this.#isRead = true;
          this.#addresses = progress.addresses;
        }
        return;
      case 'batch':
        this.#noteBatch(progress, nowMs);
        return;
      case 'writing':
      case 'written':
        this.#begin('writing', nowMs);
        this.#rowsWritten = progress.rows;
        this.#isWritten ||= progress.stage === 'written';
        return;
      default:
    }
  }

  of(stage: RunStage): StageFigures {
    const sinceMs = this.#since.get(stage);
    if (stage === 'reading') {
      const total = this.#isRead ? this.#rowsRead : undefined;
      return { done: this.#rowsRead, total, batches: 0, sinceMs, isOver: this.#isRead };
    }
    if (stage === 'writing') {
      const total = this.#isRead ? this.#rowsRead : undefined;
      return { done: this.#rowsWritten, total, batches: 0, sinceMs, isOver: this.#isWritten };
    }
    const { in: from, through } = batchStages[stage];
    let done = 0;
    let batches = 0;
    for (const { known, addresses } of this.#batches.values()) {
      const rank = ranks[known.stage];
      if (rank >= through) done += addresses;
      else if (rank >= from) batches += 1;
    }
    const total = this.#addresses;
    return { done, total, batches, sinceMs, isOver: total !== undefined && done >= total };
  }

  get failedBatches(): number {
    return [...this.#batches.values()].filter(({ known }) => known.stage === 'failed').length;
  }

  credits(): CreditFigures {
    const launched = { email: 0, phone: 0 };
    let refunded = 0;
    for (const { mayHaveLaunched, type, addresses, charge } of this.#batches.values()) {
      if (!mayHaveLaunched) continue;
      launched[type] += charge?.spent ?? addresses;
      refunded += charge?.refunded ?? 0;
    }
    return { launched, refunded };
  }

  get launchedBatches(): number {
    return [...this.#batches.values()].filter((batch) => batch.mayHaveLaunched).length;
  }

  #noteBatch(
    { batch, known, mayHaveLaunched, charge }: Extract<RunProgress, { readonly stage: 'batch' }>,
    nowMs: number,
  ): void {
    const { addresses, lane } = batch;
    this.#batches.set(keyOf(batch), {
      addresses,
      type: lane.type,
      known,
      mayHaveLaunched,
      charge,
    });
    const rank = ranks[known.stage];
    for (const stage of ['uploading', 'preparing', 'verifying', 'exporting'] as const) {
      if (rank >= batchStages[stage].in) this.#begin(stage, nowMs);
    }
  }

  #begin(stage: RunStage, nowMs: number): void {
    if (!this.#since.has(stage)) this.#since.set(stage, nowMs);
  }
}

function keyOf(batch: Batch): string {
  return `${batch.id} ${batch.part?.start ?? 0} ${batch.addresses}`;
}
