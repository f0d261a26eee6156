import type { VerificationType } from '../../contract/enums.js';
import { HttpProblem } from '../http/http-problem.js';
import { jsonType, ok } from '../http/reply.js';
import type { ServiceContext, Handler } from './operation.js';
import { type LedgerEntry, readLedger } from '../storage/ledger.js';

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
