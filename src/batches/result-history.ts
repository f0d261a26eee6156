import type { HashWords } from '../addresses/address-table.js';
import type { OutcomeTable } from '../results/outcome-table.js';

/** Says which addresses need not be sent, and what became of them before. */
export interface Recall {
  /** The outcome's id in the plan's table, or -1 when the address has to be sent. */
  outcomeOf(hash: HashWords): number;
}

/** What one batch has told, or a part of one. */
export interface ToldResults {
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
  readonly lane: number;
  /** The address in its normal form. */
  readonly key: string;
  /** Id of its outcome. */
  readonly outcome: number;
}

/** Results of earlier runs. */
export interface ResultHistory {
  /** The service that its results are of. */
  readonly service: string;
  /** Seed of its hashes: with the same one, a plan hashes each address once. */
  readonly seed: Uint8Array;
  /**
   * Prepares for the lookups of one plan.
   *
   * @param withOrigin whether outcomes carry where they come from
   */
  recall(outcomes: OutcomeTable, withOrigin: boolean): Recall;
  /**
   * Takes in what a batch has told; when it has returned, that outlasts a power cut.
   *
   * @throws OutputError
   */
  keep(told: ToldResults): Promise<void>;
}
