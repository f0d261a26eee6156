import { join } from 'node:path';
import { expect, it } from 'vitest';
import { estimateRun } from '../../../src/engine/runs/estimate.js';
import { finishedEntry } from '../../../src/engine/stores/journal-entries.js';
import { estimateSchema, summarySchema } from '../../../src/engine/summary/summary-schema.js';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import { goodNames, Nights } from '../history/nightly.js';

it('holds for what runs and dry runs say', async () => {
  const nights = await Nights.begin();
  const summary = await nights.night([...goodNames(4), '"x,y"', '', 'good1@sluice.test']);
  expect(summarySchema.parse(summary)).toEqual(summary);
  const history = await nights.open();
  const estimate = await estimateRun({
    source: fileSource(join(nights.folder, 'list.csv')),
    sink: fileSink(join(nights.folder, 'other.csv')),
    client: nights.client,
    history,
    email: ['email'],
    country: 'US',
  });
  await history.close();
  expect(estimateSchema.parse(estimate)).toEqual(estimate);
});

it('reads back the summary of a finished run, and no part of one', async () => {
  const nights = await Nights.begin();
  const summary = await nights.night(goodNames(1));
  expect(finishedEntry.parse({ entry: 'finished', summary })).toMatchObject({ summary });
  expect(finishedEntry.safeParse({ entry: 'finished', summary: { rows: 1 } }).success).toBe(false);
});

it('accounts for every batch, with the times at which it got on', async () => {
  const nights = await Nights.begin();
  const { batches, credits } = await nights.night(goodNames(7));
  expect(batches.map(({ addresses }) => addresses)).toEqual([3, 3, 1]);
  expect(batches.reduce((sum, { charge }) => sum + (charge?.spent ?? 0), 0)).toBe(7);
  expect(credits.email).toMatchObject({ spent: 7, source: 'cost_objects' });
  for (const { times } of batches) {
    const order = [
      times.uploaded_at,
      times.prepared_at,
      times.launched_at,
      times.verified_at,
      times.exported_at,
    ];
    expect(order.every((time) => time !== null)).toBe(true);
    expect(order.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual(order);
  }
});
