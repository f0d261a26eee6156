import type { VerificationType } from '../../contract/enums.js';
import { limits } from '../../contract/limits.js';
import type { LedgerHead } from './batch.js';
import { type CacheHit, hitCodes } from './events.js';
import { readLines } from './line-block.js';
import { openRecords } from './record-file.js';
import type { Store } from './store.js';

/** A charged address. Clients cannot see it: tests compare it with what they believe. */
export interface LedgerEntry {
  /** Null for a unit verification. */
  readonly batch_uuid: string | null;
  readonly type: VerificationType;
  /** As submitted. */
  readonly address: string;
  readonly credits: number;
  /** Credits given back at once for a cache hit. */
  readonly refund: number;
  /** Time of the charge (date-time). */
  readonly time: string;
}

const creditsARecord = 1;

/** Reads the charges of all accounts, or of one, in order. */
export async function* readLedger(
  store: Store,
  account?: string,
): AsyncGenerator<LedgerEntry, void> {
  // Later charges are not included.
  for (const head of store.state.ledger.slice()) {
    if (account !== undefined && head.account !== account) continue;
    if (head.of === 'unit') yield entry(head, head.address, head.hit);
    else yield* readLaunch(store, head);
  }
}

async function* readLaunch(
  store: Store,
  head: Extract<LedgerHead, { of: 'batch' }>,
): AsyncGenerator<LedgerEntry, void> {
  const files = store.files(head);
  const hits = head.hits ? await openRecords(files.hits, 1) : undefined;
  try {
    for await (const addresses of readLines(files.addresses)) {
      const codes = await hits?.read(addresses.length);
      for (const [index, address] of addresses.entries()) {
        yield entry(head, address, hitCodes[codes?.[index] ?? 0] ?? null);
      }
    }
  } finally {
    await hits?.close();
  }
}

function entry(head: LedgerHead, address: string, hit: CacheHit): LedgerEntry {
  return {
    batch_uuid: head.of === 'batch' ? head.uuid : null,
    type: head.type,
    address,
    credits: creditsARecord,
    refund: hit === null ? 0 : creditsARecord * limits.cacheRefund,
    time: new Date(head.atMs).toISOString(),
  };
}
