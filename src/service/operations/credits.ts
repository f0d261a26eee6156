import type { VerificationType } from '../../contract/enums.js';
import { HttpProblem, jsonType, ok } from '../http/reply.js';
import type { ServiceContext, Handler } from './operation.js';
import { limits } from '../../contract/limits.js';
import type { LedgerHead } from '../storage/batch.js';
import { type CacheHit, hitCodes } from '../storage/events.js';
import { readLines } from '../storage/line-block.js';
import { openRecords } from '../storage/record-file.js';
import type { Store } from '../storage/store.js';

/** Account credit balance (spec 2.1). */
export const credits: Handler = async ({ account }, { store }) =>
  ok({
    email_credit: store.state.balance(account, 'email'),
    phone_credit: store.state.balance(account, 'phone'),
  });

/**
 * "A balance that is too small for the launch is answered with 402" (spec 3, rule 5). What a
 * launch needs is its cost before refunds. The body is not shown; it has a `message` like the others.
 */
export function requireCredits(
  { store }: ServiceContext,
  wanted: { readonly account: string; readonly type: VerificationType; readonly credits: number },
): void {
  const { account, type, credits } = wanted;
  const available = store.state.balance(account, type);
  if (available >= credits) return;
  throw new HttpProblem(402, 'Payment Required', {
    body: { type, required_credits: credits, available_credits: available },
  });
}

/** `GET /_local/ledger`: every charge of the key's account, as a JSON array with an entry on each line. */
export const ledger: Handler = async ({ account }, { store }) => ({
  status: 200,
  contentType: jsonType,
  body: jsonArray(readLedger(store, account)),
});

const entriesAPiece = 500;

async function* jsonArray(entries: AsyncIterable<LedgerEntry>): AsyncGenerator<string, void> {
  let pending: string[] = [];
  let before = '[\n';
  for await (const entry of entries) {
    pending.push(JSON.stringify(entry));
    if (pending.length < entriesAPiece) continue;
    yield before + pending.join(',\n');
    before = ',\n';
    pending = [];
  }
  if (pending.length > 0) yield before + pending.join(',\n');
  else if (before === '[\n') yield '[';
  yield '\n]\n';
}

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
