import { isExportWrong } from '../batches/known-batch.js';
import { counted } from '../words/shown-numbers.js';

/** What a retry of what failed asks the service for. */
interface Retry {
  /** Batches whose results are paid for: their exports alone are asked for again, which is free. */
  readonly exports: number;
  /** Addresses that are sent again, and may be paid for again. */
  readonly addresses: number;
}

/** What is known of a batch that failed. */
interface FailedBatch {
  readonly reason: string | null;
  readonly uuid: string | null | undefined;
  readonly addresses: number;
}

export function retryOf(failed: readonly FailedBatch[]): Retry {
  const sent = failed.filter(({ reason, uuid }) => !isExportWrong(reason) || !uuid);
  const addresses = sent.reduce((sum, batch) => sum + batch.addresses, 0);
  return { exports: failed.length - sent.length, addresses };
}

/** What a retry does, as a verb: `fetches 3 paid exports again (free), sends 40 addresses again`. */
export function describeRetry({ exports, addresses }: Retry): string {
  const parts = [
    ...(exports > 0 ? [`fetches ${counted(exports, 'paid export')} again (free)`] : []),
    ...(addresses > 0 ? [`sends ${counted(addresses, 'address')} again`] : []),
  ];
  return parts.length === 0 ? 'sends again only what failed' : parts.join(', ');
}
