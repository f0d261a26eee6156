import { rm } from 'node:fs/promises';
import { ResultCaches } from '../caches/result-caches.js';
import { FileWriter } from '../content/record-file.js';
import type { ServiceContext } from '../service-context.js';
import type { Batch } from '../store/batch.js';
import { hitCodes } from '../store/events.js';

const accountCode = hitCodes.indexOf('account');
const globalCode = hitCodes.indexOf('global');

/**
 * Looks every address of a prepared batch up in the caches, and writes down for each whether it was
 * found: the ledger and the refunds go by this, whatever the caches learn later.
 */
export async function findHits(
  batch: Batch,
  { store, caches, clock }: ServiceContext,
): Promise<{ readonly accountHits: number; readonly globalHits: number }> {
  const { account, parameters } = batch;
  const found = { accountHits: 0, globalHits: 0 };
  if (!caches.mayFind(account, parameters)) return found;
  const files = store.files(batch);
  const wanted = { account, parameters, nowMs: clock.wallNow() };
  // What a launch that was refused for its credits, or killed, has left.
  await rm(files.hits, { force: true });
  const hits = await FileWriter.create(files.hits);
  try {
    for await (const keys of ResultCaches.readKeys(files.keys)) {
      const codes = caches.findAll(keys, wanted);
      for (const code of codes) {
        if (code === accountCode) found.accountHits += 1;
        if (code === globalCode) found.globalHits += 1;
      }
      await hits.write(codes);
    }
    await hits.finish({ durable: store.isDurable });
  } finally {
    await hits.close();
  }
  return found;
}
