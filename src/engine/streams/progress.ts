import type { BatchProgress } from '../batches/claim.js';
import { mayHaveLaunched } from '../batches/batch-state.js';

/** Progress of `verify()`: rows in and out so far, and the stages of batches. */
export type VerifyProgress =
  | { readonly stage: 'reading' | 'read' | 'writing' | 'written'; readonly rows: number }
  | ({
      readonly stage: 'batch';
      /** Whether its launch was requested: from then on only the service knows whether it is paid. */
      readonly mayHaveLaunched: boolean;
    } & BatchProgress);

type CountedProgress = Exclude<VerifyProgress, { readonly stage: 'batch' }>;

/** The report of a batch's progress. */
export function batchProgress(
  progress: BatchProgress,
): Extract<VerifyProgress, { readonly stage: 'batch' }> {
  return { stage: 'batch', mayHaveLaunched: mayHaveLaunched(progress.state), ...progress };
}

/** Rows are reported in hundreds: single reports would cost too much. */
const rowsBetween = 100;

/** Counts rows in and out, and reports them now and then. */
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
