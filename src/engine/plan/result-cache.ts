import { ConfigurationError } from '../../platform/errors/errors.js';
import type { HashWords } from '../../platform/hashing/address-table.js';
import type { BatchGroup } from '../addresses/address.js';
import type { OutcomeTable } from '../results/outcome-table.js';

/** Says which addresses need not be sent, and what became of them before. */
export interface Recall {
  /** The outcome's id in the plan's table, or -1 when the address has to be sent. */
  outcomeOf(hash: HashWords): number;
}

/** The results of one batch, or of a part of one. */
export interface ReportedResults {
  readonly batchUuid: string;
  /** When its results were fetched, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Number of its addresses. */
  readonly addresses: number;
  /** The table that the results' outcomes are of. */
  readonly outcomes: OutcomeTable;
  /** Every address with its outcome. */
  readonly results: AsyncIterable<AddressResult>;
}

export interface AddressResult {
  readonly group: number;
  /** The address in its normal form. */
  readonly key: string;
  /** Id of its outcome. */
  readonly outcome: number;
}

/** A batch that was launched, and whose results a history does not have. */
export interface LaunchedBatch {
  readonly batchUuid: string;
  readonly group: BatchGroup;
  /** Number of its addresses. */
  readonly addresses: number;
  /** Those of its addresses, under the history's seed. */
  hashes(): Iterable<HashWords>;
}

/** Results of earlier runs. */
export interface ResultHistory {
  /** The service that its results are of. */
  readonly service: string;
  /** Whether it takes nothing in any more. @default false */
  readonly isClosed?: boolean;
  /** Seed of its hashes: with the same one, a plan hashes each address once. */
  readonly seed: Uint8Array;
  /**
   * Prepares for the lookups of one plan.
   *
   * @param withOrigin whether outcomes carry where they come from
   */
  recall(outcomes: OutcomeTable, withOrigin: boolean): Recall;
  /**
   * Takes in the results of a batch; when it has returned, they outlast a power cut.
   *
   * @throws OutputError
   */
  keep(results: ReportedResults): Promise<void>;
  /**
   * Notes a batch right before its launch. Until its results are kept, or it is dropped, they are still to
   * be collected: when it has returned, that outlasts a power cut.
   *
   * @param batch with its addresses in their normal form
   * @param owner who waits for its results
   * @throws OutputError
   */
  noteLaunch(
    batch: {
      readonly batchUuid: string;
      readonly group: BatchGroup;
      readonly keys: AsyncIterable<string>;
    },
    owner: object,
  ): Promise<void>;
  /**
   * Notes a stream, by the id that the names of its uploads have, right before the first of them.
   *
   * @throws OutputError
   */
  noteUploads(runId: string, owner: object): Promise<void>;
  /** Gives the ids of streams whose uploads nobody deletes to an owner who does so. */
  takeUploads(owner: object): readonly string[];
  /** Gives the batches that were launched, and that are not waited for, to an owner who does so. */
  takeLaunched(owner: object): readonly LaunchedBatch[];
  /** An owner of batches waits for them no more. */
  release(owner: object): void;
  /**
   * Takes in the results of a batch of which only hashes are known.
   *
   * @throws OutputError
   */
  keepLaunched(
    batch: LaunchedBatch,
    results: Pick<ReportedResults, 'atMs' | 'outcomes'> & {
      /** Of its address of this number; `undefined` where that has no sure result. */
      outcomeOf(index: number): number | undefined;
    },
  ): Promise<void>;
  /**
   * Nothing is to be collected of a batch, or deleted of the uploads of a stream.
   *
   * @param id the batch's batch_uuid, or the stream's id
   * @throws OutputError
   */
  dropLaunch(id: string): Promise<void>;
}

/**
 * Results of one service must not stand for those of another, and what is paid for must find its place.
 *
 * @param service not where the client does not say it
 */
export function checkHistoryService(history: ResultHistory | undefined, service?: string): void {
  if (!history) return;
  if (history.isClosed === true) {
    throw new ConfigurationError(
      'the history is closed: open it again before the call, and close it after',
    );
  }
  if (service === undefined || history.service === service) return;
  throw new ConfigurationError(
    `the history holds results of ${history.service}, and this run asks ${service}: open another for it`,
  );
}
