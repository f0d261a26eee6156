import type { HeldCredits, Reservation } from '../../batches/claim.js';
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

/** The label of the output and the end of the run. */
export const outputStep = 'output';

export const copyStep = 'copy';

export interface WholeCopy {
  readonly parts: number;
  /** Identifies the original. */
  readonly of: string;
}

/** Identifies a claim of a batch or the output: each has its own number. */
export interface Token {
  readonly label: string;
  readonly epoch: number;
}

/** Numbered entries of the journal: later ones have greater numbers. */
export type Updates = readonly { readonly seq: number; readonly entry: unknown }[];

/** The known run is no longer there. */
export const gone = 'gone';

/** A record under a claim, with its effects on the store, which does not read entries. */
export interface BatchRecord {
  readonly entry: BatchEntry | PartEntry | FinishedEntry;
  /** Number among all records of this process: a repeated one is stored once. */
  readonly call: number;
  /** No process drives it any more. */
  readonly hasEnded: boolean;
  /** Its credits from now on. */
  readonly held: HeldCredits;
  /** The service accepts batches of this run. */
  readonly isProven: boolean;
}

/** The new state of a reopened batch. */
export interface ReopenedBatch {
  readonly label: string;
  readonly entry: BatchEntry | PartEntry;
  readonly held: HeldCredits;
}

export interface Claimed {
  /** Absent where none was free. */
  readonly token: Token | undefined;
  /**
   * A batch that is no longer claimed: five processes fell silent within a minute of claiming it, since the
   * run was last resumed.
   */
  readonly breaking?: string | undefined;
  /** Whether the service has accepted a batch of the run: until then only the first may be claimed. */
  readonly isProven: boolean;
  /** Whether the store was restarted since the process opened it. */
  readonly isRestarted?: boolean;
  readonly updates: Updates | typeof gone;
}

export interface Beat {
  /** Claims that another process may have. */
  readonly revoked: readonly Token[];
  /** Whether something is free to claim. */
  readonly mayClaim: boolean;
  /** Absent until it is joined. */
  readonly pace?: RateUpdate | null;
  /** Rows of the output written by another process. */
  readonly rowsWritten: number;
  readonly updates: Updates | typeof gone;
}

/** One process's steps in its account's shared rate. */
export interface PaceSteps {
  /** Joins it; heartbeats carry it from then on. */
  join(member: RateMember): Promise<RateUpdate>;

  /** Takes the account's next slot. @returns ms until it */
  takeSlot(): Promise<number>;

  /** Pauses all processes of the account. */
  pause(ms: number): Promise<void>;
}

/** One process's steps for the copy of the run's source. */
export interface CopySteps {
  /** Stores a part, replacing one of the same number. @returns whether the claim is still valid */
  keep(token: Token, part: number, bytes: Uint8Array): Promise<boolean>;

  /** Marks it complete. @returns whether the claim is still valid */
  end(token: Token, copy: WholeCopy): Promise<boolean>;

  /** @returns nothing until it is complete, and once it is dropped */
  whole(): Promise<WholeCopy | undefined>;

  /** @returns nothing for a missing or damaged part */
  part(part: number): Promise<Uint8Array | undefined>;
}

/**
 * One process's steps in a shared run. Each is atomic, and gives the same answer when repeated after a lost
 * one.
 *
 * All reject with a StateError when the store was restored, so that the process's knowledge may be wrong;
 * with a DeadlineError when the store was unreachable for too long.
 */
export interface SharedSteps {
  /** The store in messages. */
  readonly name: string;
  readonly pace: PaceSteps;
  readonly copy: CopySteps;

  /**
   * Listens for entries as soon as they are recorded, and for announcements, where the store can notify; the
   * next heartbeat brings them in any case.
   *
   * @param listener called with what stops all, where announced
   */
  listen?(listener: (stopped: StoppedEntry | undefined) => void): void;

  /** Notifies listeners of what stops all, before it is recorded. Never fails. */
  announce?(stopped: StoppedEntry): void;

  /** Joins the run. */
  open(): Promise<Updates>;

  /** Records the run, unless it is recorded. */
  begin(run: RunEntry, plan: PlanEntry, call: number): Promise<Updates>;

  /** Reopens a finished run, unless a batch was recorded after this entry number. */
  reopen(
    batches: readonly ReopenedBatch[],
    after: number,
    call: number,
  ): Promise<Updates | typeof gone>;

  /** Records a note. A budget applies to all later reservations. */
  append(note: RunNote, after: number, call: number): Promise<Updates>;

  /**
   * Claims the first batch that no process has, or that this process has without knowing. Until the service
   * has accepted one, only the first unfinished one may be claimed.
   *
   * @param wanted by priority, without its known claims
   * @param after the number of the latest known entry
   */
  claim(wanted: readonly Batch[], after: number): Promise<Claimed>;

  /** Claims the output, if no process has it and it is not done. */
  claimOutput(after: number): Promise<Claimed>;

  /** @returns whether the claim is still valid; if not, nothing was recorded */
  record(token: Token, record: BatchRecord): Promise<boolean>;

  /** @returns whether the claim is still valid */
  confirm(token: Token): Promise<boolean>;

  /** Reserves within the budget of the run. @returns nothing when the claim is no longer valid */
  reserve(token: Token): Promise<Reservation | undefined>;

  /**
   * Stores results, replacing earlier ones.
   *
   * @param nextCall gives the numbers of records
   * @returns whether the claim is still valid
   */
  keepResults(token: Token, bytes: Uint8Array, nextCall: () => number): Promise<boolean>;

  results(label: string): Promise<Uint8Array | undefined>;

  /** Stores the used results of a history for the plan that this process is about to begin with. */
  keepRecalled(bytes: Uint8Array): Promise<void>;

  /** Reads them for the plan that counts. */
  recalled(): Promise<Uint8Array | undefined>;

  /** Claims the copying of the source, if no process has it, it is not done, and the run has not begun. */
  claimCopy(after: number): Promise<Claimed>;

  /** A heartbeat: extends the claims by another lease. @param figures shown by `sluice status` */
  beat(tokens: readonly Token[], after: number, figures: WorkerFigures): Promise<Beat>;

  /** Drops everything but the run's identity and end. */
  clear(): Promise<void>;

  drop(): Promise<void>;

  /** Releases all claims. Never fails: they expire by themselves. */
  close(): Promise<void>;
}
