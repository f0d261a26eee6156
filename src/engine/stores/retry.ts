import { isExportWrong } from '../batches/batch-state.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';

/** What a retry of what failed asks the service for. */
interface Retry {
  /** Batches whose results are paid for: their exports alone are asked for again, which is free. */
  readonly exports: number;
  /** Addresses that are sent again, and may be paid for again. */
  readonly addresses: number;
  /** Those of them that may have been paid for already. */
  readonly paidTwice: number;
}

/** What is known of a batch that failed. */
interface FailedBatch {
  readonly reason: string | null;
  readonly uuid: string | null | undefined;
  readonly addresses: number;
  /** Whether its launch was asked for. */
  readonly launched: boolean;
}

export function retryOf(failed: readonly FailedBatch[]): Retry {
  const sent = failed.filter(({ reason, uuid }) => !isExportWrong(reason) || !uuid);
  const addressesOf = (batches: readonly FailedBatch[]): number =>
    batches.reduce((sum, { addresses }) => sum + addresses, 0);
  return {
    exports: failed.length - sent.length,
    addresses: addressesOf(sent),
    paidTwice: addressesOf(sent.filter(({ launched }) => launched)),
  };
}

/** What a retry does, as a verb: `fetches 3 paid exports again (free), sends 40 addresses again`. */
export function describeRetry({ exports, addresses, paidTwice }: Retry): string {
  const which = paidTwice === addresses ? (addresses === 1 ? 'it' : 'they') : grouped(paidTwice);
  const twice = paidTwice > 0 ? ` (${which} failed after the launch, and may be paid twice)` : '';
  const parts = [
    ...(exports > 0 ? [`fetches ${counted(exports, 'paid export')} again (free)`] : []),
    ...(addresses > 0 ? [`sends ${counted(addresses, 'address')} again${twice}`] : []),
  ];
  return parts.length === 0 ? 'sends again only what failed' : parts.join(', ');
}
