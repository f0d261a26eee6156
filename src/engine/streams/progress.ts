import type { BatchProgress } from '../batches/claim.js';
import { mayHaveLaunched } from '../batches/batch-state.js';

/** What `verify()` reports while rows pass: how many went in and came out so far, and each batch's way. */
export type VerifyProgress =
  | { readonly stage: 'reading' | 'read' | 'writing' | 'written'; readonly rows: number }
  | ({
      readonly stage: 'batch';
      /** Whether a launch of it was asked for: from then on only the service knows whether it is paid. */
      readonly mayHaveLaunched: boolean;
    } & BatchProgress);

type CountedProgress = Exclude<VerifyProgress, { readonly stage: 'batch' }>;

/** What is reported of a batch's progress. */
export function batchProgress(
  progress: BatchProgress,
): Extract<VerifyProgress, { readonly stage: 'batch' }> {
  return { stage: 'batch', mayHaveLaunched: mayHaveLaunched(progress.state), ...progress };
}

/** Rows are reported in hundreds: one at a time would cost more than it is worth. */
const rowsBetween = 100;

/** Counts rows on their way in and out, and reports them now and then. */
export class RowCount {
  readonly #onProgress: (progress: CountedProgress) => void;
  #in = 0;
  #out = 0;

  constructor(onProgress: (progress: CountedProgress) => void) {
    this.#onProgress = onProgress;
  }

  /** Rows that came out so far. */
  get rowsOut(): number {
    return this.#out;
  }

  in(): void {
    this.#in += 1;
    if (this.#in % rowsBetween === 0) this.#onProgress({ stage: 'reading', rows: this.#in });
  }

  allIn(): void {
    this.#onProgress({ stage: 'read', rows: this.#in });
  }

  out(): void {
    this.#out += 1;
    if (this.#out % rowsBetween === 0) this.#onProgress({ stage: 'writing', rows: this.#out });
  }

  allOut(): void {
    this.#onProgress({ stage: 'written', rows: this.#out });
  }
}
