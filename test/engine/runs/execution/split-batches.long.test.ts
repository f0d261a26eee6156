import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/client/client.js';
import { fileSink } from '../../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../../src/lists/files/file-source.js';
import { abandonRun } from '../../../../src/engine/runs/abandon-run.js';
import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import type { RunProgress } from '../../../../src/engine/runs/reporting/run-progress.js';
import { readRunStatus } from '../../../../src/engine/runs/reporting/read-status.js';
import { run } from '../../../../src/engine/runs/run.js';
import type { Summary } from '../../../../src/engine/summary/summary.js';
import { withFolder } from '../../../service/with-service.js';
import { withSizeLimit, type SizeLimit } from './size-limit.js';
import { systemError, watchedFiles } from '../watched-files.js';
import type { Given } from '../../../platform/given.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

/** Forty rows of 37 addresses, a duplicate, an empty cell and one that is no line. */
const addresses = Array.from({ length: 37 }, (_, index) => `good+${index}${'x'.repeat(index % 9)}`)
  .map((local, index) => (index % 5 === 3 ? local.replace('good', 'bad') : local))
  .map((local) => `${local}@sluice.test`);
const cells = [...addresses, addresses[4] ?? '', '', '"a,b"'];
const list = ['id,email', ...cells.map((cell, index) => `${index},${cell}`), ''].join('\n');
/** What the two batches of 20 and 17 have. */
const [first, second] = [addresses.slice(0, 20), addresses.slice(20)];

async function verify(client: Client, changes: Given<RunOptions> = {}): Promise<Summary> {
  await writeFile(join(folder, 'list.csv'), list);
  return run({
    source: fileSource(join(folder, 'list.csv')),
    sink: fileSink(join(folder, 'out.csv')),
    client,
    stateDir: join(folder, 'run'),
    email: ['email'],
    country: 'US',
    batchSize: 20,
    pollIntervalMs: 1,
    ...changes,
  });
}

async function output(): Promise<string> {
  return readFile(join(folder, 'out.csv'), 'utf8');
}

async function unlimitedOutput(): Promise<string> {
  const { client } = await withSizeLimit({});
  await verify(client);
  return output();
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
}

describe('a batch that the service refuses for its size', () => {
  const limits: readonly (readonly [string, SizeLimit, number])[] = [
    ['just less than the larger batch', { maxBytes: sizeOf(first) - 1 }, 3],
    ['a quarter of its bytes', { maxBytes: Math.ceil(sizeOf(second) / 4) }, 0],
    ['not much more than a line', { maxBytes: 40 }, 0],
    ['nineteen rows', { maxRows: 19 }, 3],
    ['ten rows', { maxRows: 10 }, 4],
    ['three rows', { maxRows: 3 }, 16],
    ['one row', { maxRows: 1 }, 37],
  ];
  it.each(limits)('(%s) is sent in parts, and all is paid once', async (_, limit, batches) => {
    const unlimited = await unlimitedOutput();
    const { client, uploads, paid } = await withSizeLimit(limit);
    const summary = await verify(client);
    expect(await output()).toBe(unlimited);
    expect(await paid()).toEqual(addresses.toSorted());
    expect(await readdir(folder)).toEqual(['list.csv', 'out.csv']);

    const taken = uploads.filter(({ isRefused }) => !isRefused);
    expect(taken.flatMap((upload) => upload.addresses).toSorted()).toEqual(addresses.toSorted());
    expect(summary.batches.map(({ name }) => name).toSorted()).toEqual(
      taken.map(({ name }) => name).toSorted(),
    );
    if (batches > 0) expect(taken).toHaveLength(batches);
    expect(summary.batches.reduce((sum, batch) => sum + batch.addresses, 0)).toBe(37);
    expect(summary.credits.email).toMatchObject({ spent: 37, source: 'cost_objects' });
    expect(new Set(summary.batches.map(({ batch_uuid }) => batch_uuid)).size).toBe(taken.length);
    for (const { charge, addresses: paidFor } of summary.batches) {
      expect(charge?.spent).toBe(paidFor);
    }
  });

  it('says in the names of its parts which lines they have', async () => {
    const { client } = await withSizeLimit({ maxRows: 10 });
    const { batches } = await verify(client);
    expect(batches.map(({ name }) => name.replace(/-[0-9a-f]{16}-/, ' '))).toEqual([
      'sluice 000001.1-10-1',
      'sluice 000001.11-20-1',
      'sluice 000002.1-9-1',
      'sluice 000002.10-17-1',
    ]);
  });

  it.each(['page', 'nothing', 'and_closes'] as const)(
    'is so whatever else the service says (%s)',
    async (says) => {
      const { client, paid } = await withSizeLimit({ maxBytes: 100, says });
      await verify(client);
      expect(await paid()).toEqual(addresses.toSorted());
    },
  );

  it('is so by the local service itself', async () => {
    const { client, service, paid } = await withSizeLimit({}, { maxFileSizeBytes: 100 });
    expect(service.baseUrl).not.toBe(client.baseUrl);
    await verify(client);
    expect(await paid()).toEqual(addresses.toSorted());
  });

  it('spares batches that are as large a refusal of their own', async () => {
    const { client, uploads, paid } = await withSizeLimit({ maxRows: 2 });
    // Addresses of one length: four batches of eight, and one of five.
    const same = Array.from({ length: 37 }, (_, index) => `good+${index + 10}@sluice.test`);
    const input = ['id,email', ...same.map((cell, index) => `${index},${cell}`), ''].join('\n');
    await writeFile(join(folder, 'same.csv'), input);
    const source = fileSource(join(folder, 'same.csv'));
    await verify(client, { source, batchSize: 8, concurrency: 4 });
    expect(await paid()).toEqual(same);
    const refused = uploads.filter(({ isRefused }) => isRefused);
    const sizes = refused.map((upload) => upload.addresses.length);
    expect(sizes[0]).toBe(8);
    // Whoever is refused again has fewer addresses than all before.
    expect(sizes).toEqual([...new Set(sizes)].toSorted((a, b) => b - a));
    expect(uploads.length - refused.length).toBe(4 * 4 + 3);
  });

  it('goes through with its parts many at once, but the first that is taken', async () => {
    let most = 0;
    const open = new Set<string>();
    const { client } = await withSizeLimit({ maxRows: 3 });
    const onProgress = (progress: RunProgress): void => {
      if (progress.stage !== 'batch') return;
      const { name, state } = progress;
      if (state.stage === 'uploading') open.add(name);
      else if (['done', 'failed', 'split'].includes(state.stage)) open.delete(name);
      most = Math.max(most, open.size);
    };
    await verify(client, { concurrency: 4, onProgress });
    expect(most).toBe(4);
  });
});

describe('a single line that is too large', () => {
  it('fails, and only it', async () => {
    const longest = addresses.filter((address) => sizeOf([address]) > 26);
    expect(longest.length).toBeGreaterThan(2);
    const { client, paid } = await withSizeLimit({ maxBytes: 26 });
    const summary = await verify(client, { batchSize: 50 });
    expect(summary.email?.reasons).toMatchObject({ too_large: longest.length });
    expect(summary.email?.buckets.failed).toBe(longest.length);
    expect(await paid()).toEqual(addresses.filter((one) => !longest.includes(one)).toSorted());
    const failed = summary.batches.filter(({ stage }) => stage === 'failed');
    expect(failed.map(({ reason }) => reason)).toEqual(longest.map(() => 'too_large'));
    const rows = (await output()).split('\n').filter((row) => row.includes(',failed,'));
    expect(rows.map((row) => row.split(',')[1])).toEqual(longest);
  });

  it('is sent again when its retry is asked for, and none of the others', async () => {
    const { client, paid, setLimit, uploads } = await withSizeLimit({ maxBytes: 26 });
    await verify(client);
    const before = uploads.length;
    setLimit({});
    const { email } = await verify(client, { retryFailed: true });
    expect(email?.buckets.failed).toBe(0);
    expect(uploads.length - before).toBe(
      addresses.filter((address) => sizeOf([address]) > 26).length,
    );
    expect(await paid()).toEqual(addresses.toSorted());
    expect(await readdir(folder)).toEqual(['list.csv', 'out.csv']);
  });

  it('after the other is a refusal of the whole run: nothing was paid, nothing is left', async () => {
    const { client, paid, uploads } = await withSizeLimit({ maxBytes: 0 });
    await expect(verify(client)).rejects.toMatchObject({ code: 'batch_refused' });
    expect(uploads.length).toBeLessThan(60);
    expect(await paid()).toEqual([]);
    expect(await readdir(folder)).toEqual(['list.csv']);
  });
});

describe('a run whose batches were split', () => {
  it('goes on with the same parts at whatever write of its journal it is stopped', async () => {
    const unlimited = await unlimitedOutput();
    const limit = { maxRows: 6 };
    let writes = 0;
    const counting = watchedFiles((call) => void (writes += call === 'appendFile journal' ? 1 : 0));
    const { client } = await withSizeLimit(limit);
    await verify(client, { files: counting });
    expect(writes).toBeGreaterThan(30);
    for (let failing = 1; failing <= writes; failing += 5) {
      const { client: again, paid, uploads } = await withSizeLimit(limit);
      let made = 0;
      const files = watchedFiles((call) => {
        if (call === 'appendFile journal' && (made += 1) >= failing) throw systemError('EIO');
      });
      const stopped: unknown = await verify(again, { files }).catch((error: unknown) => error);
      if (stopped instanceof Error) await verify(again);
      expect(await output()).toBe(unlimited);
      expect(await paid(), `write ${failing}`).toEqual(addresses.toSorted());
      // A part has one name for ever, but where a new attempt of it is made.
      const names = new Set(uploads.map(({ name }) => name.replace(/-\d+$/, '')));
      expect(names.size, `write ${failing}`).toBeLessThanOrEqual(2 + 4 + 8);
    }
  }, 60_000);

  it('remembers the refused size when it goes on', async () => {
    const { client, uploads, paid } = await withSizeLimit({ maxRows: 10 });
    const stop = new AbortController();
    const onProgress = (progress: RunProgress): void => {
      if (progress.stage === 'batch' && progress.state.stage === 'split') stop.abort();
    };
    const options = { batchSize: 12, concurrency: 1 };
    const stopped = verify(client, { ...options, onProgress, signal: stop.signal });
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
    expect(uploads.map(({ isRefused }) => isRefused)).toEqual([true]);
    await verify(client, options);
    const refused = uploads.filter(({ isRefused }) => isRefused).map(({ sizeBytes }) => sizeBytes);
    // Whoever is refused again is smaller than all before.
    expect(refused).toEqual(refused.toSorted((a, b) => b - a));
    expect(refused.length).toBeLessThan(4);
    expect(await paid()).toEqual(addresses.toSorted());
  });

  it('reserves credits part by part, and goes on where they ended', async () => {
    const { client, paid } = await withSizeLimit({ maxRows: 5 });
    const stopped = verify(client, { maxCredits: 13, concurrency: 1 });
    await expect(stopped).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect(await paid()).toHaveLength(10);
    const status = await readRunStatus(join(folder, 'run'));
    expect(status.launchedCredits.email).toBe(10);
    expect(status.stages).toMatchObject({ exported: 2, ready: 1 });
    expect(status.stages['split']).toBeUndefined();
    // Of each half the first is cut up before the other is looked at.
    expect(status.batches).toBe(5);
    await expect(verify(client, { maxCredits: 36 })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    await verify(client, { maxCredits: 37 });
    expect(await paid()).toEqual(addresses.toSorted());
  });

  it('writes what its parts have told when it is to write part of it', async () => {
    const { client, paid } = await withSizeLimit({ maxRows: 5 });
    const partial = await verify(client, { maxCredits: 13, concurrency: 1, partial: true });
    expect(partial.email?.reasons).toMatchObject({ not_finished: 27 });
    expect(partial.email?.buckets).toMatchObject({ failed: 27, not_submitted: 2 });
    expect((await output()).split('\n').filter((row) => row.includes(',verified,'))).toHaveLength(
      11,
    );
    const whole = await verify(client, { partial: true });
    expect(whole.email?.buckets).toMatchObject({ verified: 38, failed: 0 });
    expect(await paid()).toEqual(addresses.toSorted());
  });

  it('deletes its parts when it is to delete its batches', async () => {
    const { client, paid } = await withSizeLimit({ maxRows: 5 });
    await verify(client, { deleteBatches: true });
    expect(await paid()).toEqual(addresses.toSorted());
    expect(await client.listBatches()).toEqual([]);
  });

  it('deletes the parts that were never launched when it is abandoned', async () => {
    const { client, paid } = await withSizeLimit({ maxRows: 5 });
    const stopped = verify(client, { maxCredits: 13, concurrency: 1 });
    await expect(stopped).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect(await client.listBatches()).toHaveLength(3);
    const stateDir = join(folder, 'run');
    const abandoned = await abandonRun({ stateDir, client });
    const kept = await client.listBatches();
    expect(abandoned).toMatchObject({ deleted: 1, left: [] });
    const names = kept.map(({ name }) => name).toSorted();
    expect(abandoned.launched.toSorted()).toEqual(names);
    expect(kept.map(({ status }) => status)).toEqual(Array(2).fill('verification_done'));
    expect(await paid()).toHaveLength(10);
  });

  it('deletes uploads of parts whose answers were lost and that were sent again', async () => {
    const { client, paid, uploads } = await withSizeLimit({ maxRows: 10, losesAnswer: 3 });
    const { batches } = await verify(client, { concurrency: 1 });
    expect(await paid()).toEqual(addresses.toSorted());
    const lost = uploads[2]?.name ?? '';
    expect(lost).toMatch(/\.\d+-\d+-1$/);
    const attempts = uploads.filter(({ name }) => name.startsWith(lost.slice(0, -1)));
    expect(attempts.map(({ name }) => name.slice(-2))).toEqual(['-1', '-2']);
    const kept = (await client.listBatches()).map(({ name }) => name).toSorted();
    expect(kept).toEqual(batches.map(({ name }) => name).toSorted());
  });
});
