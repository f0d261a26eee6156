import { jsonType } from '../http/reply.js';
import { readLedger, type LedgerEntry } from '../store/ledger.js';
import type { Handler } from './operation.js';

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
