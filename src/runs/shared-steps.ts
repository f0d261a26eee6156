import type { Reservation } from '../batches/batch-claim.js';
import type { Batch } from '../batches/batch.js';
import type { BatchEntry, FinishedEntry, PartEntry, PlanEntry, RunEntry } from './run-entries.js';
import type { RunNote } from './run-store.js';

/** What the last step of a run is called in place of a batch's label. */
export const lastStep = 'output';

/** Which claim of a batch, or of the last step, it is: each has a number of its own. */
export interface Token {
  readonly label: string;
  readonly epoch: number;
}

/** Entries of the journal, each with its number: what was written later has a greater one. */
export type News = readonly { readonly seq: number; readonly entry: unknown }[];

/** The run that this process knows is not there any more. */
export const gone = 'gone';

/** What is written down under a claim, and what follows for the store, which does not read entries. */
export interface BatchRecord {
  readonly entry: BatchEntry | PartEntry | FinishedEntry;
  /** Number among all that this process writes down: a repeated one is written once. */
  readonly call: number;
  /** Nobody drives it any more. */
  readonly hasEnded: boolean;
  /** Its credits stay reserved; those of any other are free again. */
  readonly mayBePaid: boolean;
  /** The service takes batches of this run. */
  readonly isProven: boolean;
}

export interface Claimed {
  /** Absent where there was none to be had. */
  readonly token: Token | undefined;
  readonly news: News | typeof gone;
}

export interface Beat {
  /** Which of the claims another process may have. */
  readonly lost: readonly Token[];
  /** Whether there is something that nobody has any more. */
  readonly mayClaim: boolean;
  readonly news: News | typeof gone;
}

/**
 * The steps of one process in a run that many work on. Each is whole or not at all, and says the same
 * when it is asked again because its answer was lost.
 *
 * All reject with a StateError when what the process knows of the run may be wrong by now, because the
 * store was restored. With a DeadlineError when the store was away for too long.
 */
export interface SharedSteps {
  /** How messages call the store. */
  readonly name: string;

  /** Begins to work on the run. */
  open(): Promise<News>;

  /** Writes down what the run is, where nothing is written down of it yet. @throws StateError when it is gone */
  begin(run: RunEntry, plan: PlanEntry, call: number): Promise<News>;

  /** @throws StateError when the run is gone */
  append(note: RunNote, call: number): Promise<void>;

  /**
   * Claims the first batch that nobody has, or that this process has without knowing. Until the service
   * has taken one, only the first that is not at its end goes ahead.
   *
   * @param wanted in order, without those that this process knows to be its own
   * @param after the number of the latest entry that is known
   */
  claim(wanted: readonly Batch[], after: number): Promise<Claimed>;

  /** Claims the last step, where nobody has it and it is not done. */
  join(after: number): Promise<Claimed>;

  /** @returns whether the claim still holds; if not, nothing was written */
  record(token: Token, record: BatchRecord): Promise<boolean>;

  /** @returns whether the claim still holds */
  confirm(token: Token): Promise<boolean>;

  /** @returns nothing when the claim does not hold */
  reserve(token: Token, most: number): Promise<Reservation | undefined>;

  /** @returns whether the claim still holds */
  keepResults(token: Token, bytes: Uint8Array): Promise<boolean>;

  results(label: string): Promise<Uint8Array | undefined>;

  /** A sign of life: the claims hold for another lease. */
  beat(tokens: readonly Token[], after: number): Promise<Beat>;

  /** Drops the run, and begins to work on it again. */
  startOver(): Promise<News>;

  /** Drops all but what the run was and how it ended. */
  clear(): Promise<void>;

  /** Drops the run. */
  drop(): Promise<void>;

  /** Lets go of all claims. Never fails: they run out by themselves. */
  close(): Promise<void>;
}
