import type { Reservation } from '../../batches/claim.js';
import type { Batch } from '../../batches/batch.js';
import type { RateMember, RateUpdate } from '../../../client/rate/shared-rate.js';
import type {
  BatchEntry,
  FinishedEntry,
  PartEntry,
  PlanEntry,
  RunEntry,
  StoppedEntry,
} from '../journal-entries.js';
import type { RunNote } from '../run-store.js';
import type { WorkerFigures } from './shared-status.js';

/** What the last step of a run is called in place of a batch's label. */
export const lastStep = 'output';

/** What the copying of its source is called. */
export const copyStep = 'copy';

export interface WholeCopy {
  readonly parts: number;
  /** What it is a copy of. */
  readonly of: string;
}

/** Which claim of a batch, or of the last step, it is: each has a number of its own. */
export interface Token {
  readonly label: string;
  readonly epoch: number;
}

/** Entries of the journal, each with its number: what was written later has a greater one. */
export type Updates = readonly { readonly seq: number; readonly entry: unknown }[];

/** The run that this process knows is not there any more. */
export const gone = 'gone';

/** What is written down under a claim, and what follows for the store, which does not read entries. */
export interface BatchRecord {
  readonly entry: BatchEntry | PartEntry | FinishedEntry;
  /** Number among all that this process writes down: a repeated one is written once. */
  readonly call: number;
  /** No process drives it any more. */
  readonly hasEnded: boolean;
  /** Its credits stay reserved; those of any other are free again. */
  readonly mayBePaid: boolean;
  /** The service takes batches of this run. */
  readonly isProven: boolean;
}

/** What is known of a batch from now on. */
export interface ReopenedBatch {
  readonly label: string;
  readonly entry: BatchEntry | PartEntry;
  readonly mayBePaid: boolean;
}

export interface Claimed {
  /** Absent where there was none to be had. */
  readonly token: Token | undefined;
  /**
   * A batch that no process is given any more: five processes that had it fell silent within a minute of their
   * claim, since the run was last resumed.
   */
  readonly breaking?: string | undefined;
  /** Whether the service has taken a batch of the run: until then none but the first may be had. */
  readonly isProven: boolean;
  /** Whether the store was started again since the process opened it. */
  readonly isRestarted?: boolean;
  readonly updates: Updates | typeof gone;
}

export interface Beat {
  /** Which of the claims another process may have. */
  readonly revoked: readonly Token[];
  /** Whether there is something that no process has any more. */
  readonly mayClaim: boolean;
  /** Nothing until it is joined. */
  readonly pace?: RateUpdate | null;
  /** Rows of the output that another process has written so far. */
  readonly rowsWritten: number;
  readonly updates: Updates | typeof gone;
}

/** What one process asks of the pace that it shares with the others of its account. */
export interface PaceSteps {
  /** Keeps it from now on; heartbeats carry it. */
  join(member: RateMember): Promise<RateUpdate>;

  /** The next moment at which a process of the account may send a request. @returns ms from now */
  takeSlot(): Promise<number>;

  /** No process of the account sends a request for so long. */
  pause(ms: number): Promise<void>;
}

/** What one process asks of the copy of the run's source. */
export interface CopySteps {
  /** Keeps a part of it, in the place of one of the same number. @returns whether the claim still holds */
  keep(token: Token, part: number, bytes: Uint8Array): Promise<boolean>;

  /** Says that it is whole. @returns whether the claim still holds */
  end(token: Token, copy: WholeCopy): Promise<boolean>;

  /** @returns nothing while it is not whole, and once it is dropped */
  whole(): Promise<WholeCopy | undefined>;

  /** @returns nothing where the part is missing, or is not as it was kept */
  part(part: number): Promise<Uint8Array | undefined>;
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
  readonly pace: PaceSteps;
  readonly copy: CopySteps;

  /**
   * Listens for entries as soon as they are recorded, and for announcements, where the store can notify; the
   * next heartbeat brings them in any case.
   *
   * @param listener given what stops all, where that was announced
   */
  listen?(listener: (stopped: StoppedEntry | undefined) => void): void;

  /** Notifies listeners of what stops all, before it is recorded. Never fails. */
  announce?(stopped: StoppedEntry): void;

  /** Begins to work on the run. */
  open(): Promise<Updates>;

  /** Writes down what the run is, where nothing is written down of it yet. */
  begin(run: RunEntry, plan: PlanEntry, call: number): Promise<Updates>;

  /** Makes a finished run unfinished, where nothing was written down of a batch after an entry of this number. */
  reopen(
    batches: readonly ReopenedBatch[],
    after: number,
    call: number,
  ): Promise<Updates | typeof gone>;

  /**
   * Writes down a note. What one says of the budget counts for all that is reserved from then on.
   */
  append(note: RunNote, after: number, call: number): Promise<Updates>;

  /**
   * Claims the first batch that no process has, or that this process has without knowing. Until the service
   * has taken one, only the first that is not at its end goes ahead.
   *
   * @param wanted in order, without those that this process knows to be its own
   * @param after the number of the latest entry that is known
   */
  claim(wanted: readonly Batch[], after: number): Promise<Claimed>;

  /** Claims the last step, where no process has it and it is not done. */
  join(after: number): Promise<Claimed>;

  /** @returns whether the claim still holds; if not, nothing was written */
  record(token: Token, record: BatchRecord): Promise<boolean>;

  /** @returns whether the claim still holds */
  confirm(token: Token): Promise<boolean>;

  /** Reserves within the budget of the run. @returns nothing when the claim does not hold */
  reserve(token: Token): Promise<Reservation | undefined>;

  /**
   * Keeps results in the place of those that were kept before.
   *
   * @param nextCall gives numbers as a record has one
   * @returns whether the claim still holds
   */
  keepResults(token: Token, bytes: Uint8Array, nextCall: () => number): Promise<boolean>;

  results(label: string): Promise<Uint8Array | undefined>;

  /** Keeps what of a history the plan that this process is about to begin with uses. */
  keepRecalled(bytes: Uint8Array): Promise<void>;

  /** The same of the plan that counts. */
  recalled(): Promise<Uint8Array | undefined>;

  /**
   * Claims the copying of the source, where no process has it, it is not done, and the run is not begun.
   */
  claimCopy(after: number): Promise<Claimed>;

  /** A sign of life: the claims hold for another lease. @param figures for those who look at the run */
  beat(tokens: readonly Token[], after: number, figures: WorkerFigures): Promise<Beat>;

  /** Drops the run, and begins to work on it again. */
  startOver(): Promise<Updates>;

  /** Drops all but what the run was and how it ended. */
  clear(): Promise<void>;

  drop(): Promise<void>;

  /** Lets go of all claims. Never fails: they run out by themselves. */
  close(): Promise<void>;
}
