import { readFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Client } from '../../../src/client/client.js';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import { Journal } from '../../../src/engine/stores/directory/journal.js';
import { run } from '../../../src/engine/runs/run.js';
import { systemFiles } from '../../../src/platform/files/file-system.js';
import { withFolder, withService } from '../../service/with-service.js';
import { versionOne } from './version-one.js';

/** A run of version 1 that was killed while it uploaded the first of its two batches. */
const sample = new URL('samples/journal-version-1.txt', import.meta.url);

interface RunOfSample {
  readonly id: string;
  readonly decides: object;
}

it('a run that an older version began, with a journal of version 1, is gone on with', async () => {
  const folder = await withFolder();
  const { service } = await withService({ apiKey: 'sample-key' });
  const client = new Client({ baseUrl: service.baseUrl, apiKey: 'sample-key' });
  onTestFinished(async () => client.close());
  const [input, output, stateDir] = ['list.csv', 'out.csv', 'run'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const rows = Array.from({ length: 6 }, (_, id) => `${id},good${id}@sluice.test\n`);
  await writeFile(input, `id,email\n${rows.join('')}`);

  // The sample as it is, but for the places of the service and of the files.
  const lines = (await readFile(sample, 'utf8')).trimEnd().split('\n');
  const [head, run1, ...others] = lines.map((line) => JSON.parse(line.slice(9)) as object);
  expect(versionOne([head, run1, ...others])).toBe(await readFile(sample, 'utf8'));
  const begun = run1 as RunOfSample;
  const here = { ...begun, service: service.baseUrl, decides: { ...begun.decides, input, output } };
  await mkdir(stateDir, { mode: 0o700 });
  await writeFile(join(stateDir, 'lock'), '');
  await writeFile(join(stateDir, 'journal'), versionOne([head, here, ...others]), { mode: 0o600 });
  expect(await Journal.read(systemFiles, join(stateDir, 'journal'))).toEqual([here, ...others]);

  const summary = await run({
    source: fileSource(input),
    sink: fileSink(output),
    client,
    stateDir,
    email: ['email'],
    country: 'US',
    batchSize: 3,
    concurrency: 2,
    pollIntervalMs: 1,
  });
  expect(summary.email?.buckets).toMatchObject({ verified: 6 });
  // The upload that was under way never came: it is sent under its next name, by the run that began it.
  expect(summary.batches.map(({ name }) => name)).toEqual([
    `sluice-${begun.id}-000001-2`,
    `sluice-${begun.id}-000002-1`,
  ]);
  const paid: string[] = [];
  for await (const { address } of service.ledger()) paid.push(address);
  expect(paid.toSorted()).toEqual(rows.map((row) => row.trim().slice(2)));
});
