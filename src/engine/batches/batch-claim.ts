import type { BatchProgress } from './batch-progress.js';

/** What came of reserving the credits of a launch. */
export type Reservation = {
  /** Credits of the batch's type that all launches of the run come to with this one. */
  readonly credits: number;
} & (
  | { readonly isGranted: true }
  /** With the most that they may come to. */
  | { readonly isGranted: false; readonly most: number }
);

/**
 * The right to drive one batch. While it holds, no other process writes down what becomes of the batch;
 * once it is lost, nothing more is written or sent under it.
 */
export interface BatchClaim {
  /** Aborted with a {@link ClaimLostError} when another process may have the batch; absent where none can. */
  readonly lost?: AbortSignal;

  /**
   * Writes down what is known from now on. Where that was surely not launched, its credits are free again.
   *
   * @param at when it became known. @default now
   * @throws ClaimLostError with nothing written; OutputError
   */
  record(progress: BatchProgress, at?: string): Promise<void>;

  /**
   * Makes sure that the claim still holds, before a request with an effect that nothing was recorded for.
   *
   * @throws ClaimLostError
   */
  confirm(): Promise<void>;

  /**
   * Reserves the credits of the batch's launch, once however often it is asked for.
   *
   * @param most credits of the batch's type for all launches of the run, as this process was told. Where
   *   processes share the run, what the newest of them was told counts in its place
   * @throws ClaimLostError
   */
  reserve(most: number): Promise<Reservation>;
}

/** Another process may have it by now: this one leaves it alone, and goes on with what it has. */
export class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError';

  /** @param what a batch by its label, or the output */
  constructor(what: string) {
    super(`another process may have ${what}`);
  }
}
