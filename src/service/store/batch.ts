import { limits } from '../../contract/limits.js';
import type { BatchStatus } from '../../contract/enums.js';
import type { BatchParameters } from '../../contract/parameters.js';
import type { ParsingCounts, VerdictCount } from './events.js';

/** What preparation made of the uploaded content. */
export interface Prepared {
  readonly counts: ParsingCounts;
  /** Addresses that a launch verifies. */
  readonly addresses: number;
  /**
   * What is known of them without asking anybody, each verdict in the place of its code in the codes
   * file; logs of earlier releases do not have it.
   */
  readonly verdicts?: readonly VerdictCount[] | undefined;
}

/** What a launch cost. */
export interface Charge {
  readonly addresses: number;
  readonly accountHits: number;
  readonly globalHits: number;
}

/** Where a batch is in its life (spec 3). Times are milliseconds since 1970. */
export type Stage =
  /** Uploaded or updated; its preparation was not asked for since. */
  | { readonly name: 'uploaded' }
  | { readonly name: 'parsing'; readonly sinceMs: number }
  | { readonly name: 'ready'; readonly prepared: Prepared }
  | {
      readonly name: 'verifying';
      readonly prepared: Prepared;
      readonly charge: Charge;
      readonly sinceMs: number;
    }
  | {
      readonly name: 'done';
      readonly prepared: Prepared;
      readonly charge: Charge;
      readonly verdicts: readonly VerdictCount[];
    }
  | { readonly name: 'failed' };

export interface Batch {
  readonly uuid: string;
  /** Name of the account that owns it. */
  readonly account: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly parameters: BatchParameters;
  /** Size of the uploaded content. */
  readonly bytes: number;
  /** How often its preparation began: tells the files of one preparation from those of another. */
  readonly revision: number;
  readonly stage: Stage;
}

/** The status that the specification has for a stage (spec 2.4). */
export function statusOf(stage: Stage): BatchStatus {
  switch (stage.name) {
    case 'uploaded':
    case 'parsing':
      return 'parsing_content';
    case 'ready':
      return 'ready_for_verification';
    case 'verifying':
      return 'verification_ongoing';
    case 'done':
      return 'verification_done';
    case 'failed':
      return 'internal_error';
  }
}

/** "1 credit" for a record (spec 8), and "50% of the record's cost" back for a cache hit (spec 8). */
export function refundOf({ accountHits, globalHits }: Charge): number {
  return (accountHits + globalHits) * limits.cacheRefund;
}
