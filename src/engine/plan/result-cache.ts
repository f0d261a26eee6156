import type { VerificationService } from '../../client/client.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import type { HashWords } from '../../platform/hashing/address-table.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { VerificationType } from '../../contract/enums.js';
import type { BatchGroup } from '../addresses/address.js';
import { nothing } from '../batches/batch-log.js';
import type { Charge } from '../batches/status-answer.js';
import type { OutcomeTable } from '../results/outcome-table.js';

/** Gives the earlier results of addresses, which need not be sent. */
export interface Recall {
  /** The outcome's id in the plan's table, or -1 for an address to be sent. */
  outcomeOf(hash: HashWords): number;
}

/** The cost of a launched batch. */
export interface LaunchCost {
  readonly type: VerificationType;
  /** It costs this many credits at most. */
  readonly addresses: number;
  /** `undefined` where the service has not said it. */
  readonly charge: Charge | undefined;
}

/** Of a launch that was not carried out. */
export const notLaunched: LaunchCost = { type: 'email', addresses: 0, charge: nothing };

/** The results of one batch or part. */
export interface ReportedResults extends LaunchCost {
  readonly batchUuid: string;
  /** When its results were fetched, in ms since the epoch. */
  readonly atMs: number;
  readonly outcomes: OutcomeTable;
  /** Of every address, under the history's seed: blocks of four words for each. */
  readonly hashes: AsyncIterable<Int32Array>;
  /** By place among the addresses. */
  readonly outcomeOf: (place: number) => number;
}

/** A launched batch whose results a history lacks. */
export interface LaunchedBatch {
  readonly batchUuid: string;
  readonly group: BatchGroup;
  /** The state directory of the run that launched it, and may resume; `undefined` for a stream. */
  readonly run?: string | undefined;
  /** When its launch was noted, in ms since the epoch: its results count from then, whenever they are fetched. */
  readonly launchedAtMs: number;
  readonly addresses: number;
  /** The hashes of its addresses under the history's seed. */
  hashes(): Iterable<HashWords>;
}

/** The results of a batch of which only hashes are known. */
export interface LaunchedResults extends Pick<LaunchCost, 'charge'> {
  readonly outcomes: OutcomeTable;
  /** By address number; `undefined` without a sure result. */
  outcomeOf(index: number): number | undefined;
}

/** How a history asks the service. */
export interface LookSettings {
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  readonly batchDeadlineMs?: number | undefined;
}

/** Results of earlier runs. */
export interface ResultHistory {
  /** The service of its results. */
  readonly service: string;
  /** Whether it is closed. @default false */
  readonly isClosed?: boolean;
  /** Seed of its hashes: a plan with the same seed hashes each address once. */
  readonly seed: Uint8Array;
  /** Prepares the lookups of one plan. @param withOrigin whether outcomes carry their origin */
  recall(outcomes: OutcomeTable, withOrigin: boolean): Recall;
  /**
   * Stores the results of a batch; once it returns, they survive a power cut.
   *
   * @throws OutputError
   */
  keep(results: ReportedResults): Promise<void>;
  /**
   * Notes a batch right before its launch. Until its results are stored, or it is dropped, it has to be
   * collected; once this returns, the note survives a power cut.
   *
   * @param batch with hashes as `keep` takes them, and the state directory of a run that can resume
   * @param owner the object that awaits its results
   * @throws OutputError
   */
  noteLaunch(
    batch: {
      readonly batchUuid: string;
      readonly group: BatchGroup;
      readonly hashes: AsyncIterable<Int32Array>;
      readonly run?: string | undefined;
    },
    owner: object,
  ): Promise<void>;
  /**
   * Notes a stream right before its first upload, by the id in the uploads' names.
   *
   * @throws OutputError
   */
  noteUploads(runId: string, owner: object): Promise<void>;
  /** Gives streams whose uploads nobody deletes to an owner who will. */
  takeUploads(owner: object): readonly string[];
  /**
   * Gives launched batches that nobody awaits to an owner who will.
   *
   * @param isWanted which of them. @default all
   */
  takeLaunched(
    owner: object,
    isWanted?: (batch: LaunchedBatch) => boolean,
  ): readonly LaunchedBatch[];
  /** The owner no longer awaits its batches. */
  release(owner: object): void;
  /**
   * Stores the results of a batch of which only hashes are known.
   *
   * @throws OutputError
   */
  keepLaunched(batch: LaunchedBatch, results: LaunchedResults): Promise<void>;
  /**
   * A batch needs no collecting, or a stream no deleting.
   *
   * @param id the batch's batch_uuid, or the stream's id
   * @param cost the batch's. @default unknown where its launch is noted
   */
  dropLaunch(id: string, cost?: LaunchCost): Promise<void>;
  /**
   * Notes what shared runs have launched that nobody works on any more, before a stream takes launched batches.
   *
   * @returns `undefined` where there are none
   * @throws StateError `state_locked` while processes of a shared run are at work
   * @internal
   */
  noteStopped?(client: VerificationService, settings: LookSettings): Promise<void> | undefined;
}

/** Refuses a history of another service, and a closed one. @param service omitted where the client does not give it */
export function checkHistoryService(history: ResultHistory | undefined, service?: string): void {
  if (!history) return;
  if (history.isClosed === true) {
    throw new ConfigurationError(
      'the history is closed: open it again before the call, and close it after',
      { option: 'openHistory' },
    );
  }
  if (service === undefined || history.service === service) return;
  throw new ConfigurationError(
    `the history holds results of ${history.service}, and this run asks ${service}: open another for it`,
    { option: 'openHistory' },
  );
}
