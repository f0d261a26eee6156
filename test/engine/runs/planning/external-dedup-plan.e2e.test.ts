import { readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import { readIntoBatches } from '../../../../src/engine/runs/planning/plan-input.js';
import { run } from '../../../../src/engine/runs/run.js';
import { emptyRunState } from '../../../../src/engine/stores/run-state.js';
import { runEntry } from '../../stores/example-entries.js';
import { StateDirectory } from '../../../../src/engine/stores/directory/state-directory.js';
import type { Summary } from '../../../../src/engine/summary/summary.js';
import { fileSink } from '../../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../../src/lists/files/file-source.js';
import { type FileSystem, systemFiles } from '../../../../src/platform/files/file-system.js';
import { systemClock } from '../../../../src/platform/waiting/clock.js';
import type { ServiceOptions } from '../../../../src/service/index.js';
import type { Given } from '../../../platform/given.js';
import { withFolder, withService, paidAddresses } from '../../../service/with-service.js';
import { Nights } from '../../history/nightly.js';
import { withSizeLimit } from '../execution/size-limit.js';
import { systemError, watchedFiles } from '../watched-files.js';
import { openClient } from '../../../client/test-client.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

/** A third of the cells come again, now and then in other case; some hold nothing or no line. */
const names = Array.from({ length: 900 }, (_, index) => {
  if (index % 90 === 89) return index % 180 === 89 ? '' : '"a,b"';
  const of = (index * 7) % 600;
  const name = `${of % 3 === 0 ? 'bad' : 'good'}${of}@sluice.test`;
  return index % 5 === 0 ? name.toUpperCase() : name;
});
const sent = [
  ...new Set(names.filter((name) => name.includes('@')).map((name) => name.toLowerCase())),
].toSorted();

/** Rows so long that the list is read in several chunks. */
async function writeList(cells = names): Promise<string> {
  const path = join(folder, 'list.csv');
  const rows = cells.map((name, index) => `${index},${name},${'x'.repeat(400)}`);
  await writeFile(path, ['id,email,more', ...rows, ''].join('\n'));
  return path;
}

async function verify(
  client: RunOptions['client'],
  changes: Given<RunOptions> = {},
  cells = names,
): Promise<Summary> {
  return run({
    source: fileSource(await writeList(cells)),
    sink: fileSink(join(folder, 'out.csv')),
    client,
    stateDir: join(folder, 'run'),
    email: ['email'],
    country: 'US',
    batchSize: 97,
    pollIntervalMs: 1,
    partitionFrom: 100,
    ...changes,
  });
}

async function expectRows(cells = names): Promise<void> {
  const rows: Record<string, string>[] = parse(await readFile(join(folder, 'out.csv')), {
    columns: true,
  });
  const found = rows.map((row) => [row['id'], row['email_verification'], row['email_valid']]);
  const wanted = cells.map((cell, id) =>
    cell.includes('@')
      ? [`${id}`, 'verified', `${/^good/i.test(cell)}`]
      : [`${id}`, 'not_submitted', ''],
  );
  expect(found).toEqual(wanted);
}

async function begin(options: ServiceOptions = {}) {
  const { service } = await withService(options);
  const client = openClient(service);
  const charges = async (): Promise<readonly string[]> => {
    const paid = await paidAddresses(service);
    return lower(paid);
  };
  return { client, service, charges };
}

function lower(addresses: readonly string[]): readonly string[] {
  return addresses.map((address) => address.toLowerCase()).toSorted();
}

/** What the first reading of a list leaves: its plan, and every file of the state directory. */
async function planned(partitionFrom: number, files: FileSystem = systemFiles) {
  const path = join(folder, `state-${partitionFrom}`);
  const store = await StateDirectory.open(files, path, { fresh: true });
  try {
    const { entry, plan } = await readIntoBatches({
      source: fileSource(await writeList()),
      sink: fileSink(join(folder, 'out.csv')),
      email: ['email'],
      country: 'US',
      batchSize: 97,
      entry: { ...runEntry, seed: '03'.repeat(32) },
      state: emptyRunState,
      partitionFrom,
      scratch: store,
      files,
      signal: new AbortController().signal,
      clock: systemClock,
      suppressed: undefined,
      concurrency: 1,
    });
    const names = (await readdir(path, { recursive: true, withFileTypes: true }))
      .filter((found) => found.isFile() && found.name !== 'lock' && found.name !== 'journal')
      .map((found) => join(found.parentPath, found.name));
    const kept = await Promise.all(
      names.map(async (name) => [name.slice(path.length), await readFile(name, 'hex')] as const),
    );
    return {
      entry,
      counts: plan.planner.counts,
      isLarge: plan.book.isHandedOver,
      kept: Object.fromEntries(kept),
    };
  } finally {
    await store.close();
  }
}

describe('a list that is too large for one table', () => {
  it('is planned to the same bytes, from whichever chunk on', async () => {
    const { isLarge, ...usual } = await planned(Infinity);
    expect(isLarge).toBe(false);
    expect(Object.keys(usual.kept).length).toBeGreaterThan(6);
    for (const from of [0, 1, 200, 400]) {
      expect(await planned(from)).toEqual({ ...usual, isLarge: true });
    }
  });

  it.each(['upper', 'lower'] as const)(
    'is written as any other where exports name addresses %s',
    async (exportKeys) => {
      const { client, charges } = await begin({ variants: { exportKeys } });
      await verify(client);
      await expectRows();
      expect(await charges()).toEqual(sent);
    },
  );

  it('is sent in parts where its batches are too large for the service', async () => {
    const { client, uploads } = await withSizeLimit({ maxRows: 60 });
    const { batches } = await verify(client);
    expect(batches.length).toBeGreaterThan(10);
    await expectRows();
    const taken = uploads.filter(({ isRefused }) => !isRefused);
    expect(lower(taken.flatMap(({ addresses }) => addresses))).toEqual(sent);
  });

  it.each([
    ['keeps a block of a partition', 'appendFile 000001.txt'],
    ['keeps the lines', 'appendFile 000129.txt'],
    ['reads a partition', 'read 000002.txt'],
    ['reads the lines again', 'read 000129.txt'],
  ])('stops with nothing sent when the disk fails as it %s, and goes on', async (_, failing) => {
    const { client, charges } = await begin();
    let isFailing = true;
    const files = watchedFiles((call) => {
      if (!isFailing || call !== failing) return;
      isFailing = false;
      throw systemError('EIO');
    });
    await expect(verify(client, { files })).rejects.toMatchObject({ code: 'output_failed' });
    expect(isFailing).toBe(false);
    expect(files.openFiles).toEqual([]);
    expect(await charges()).toEqual([]);
    await verify(client);
    await expectRows();
    expect(await charges()).toEqual(sent);
  });

  it.each([
    [100, 1e6],
    [1e6, 100],
  ])(
    'goes on where it stopped when a list was large from %d addresses on, and is from %d',
    async (first, second) => {
      const { client, charges } = await begin();
      const before = { partitionFrom: first, maxCredits: 300 };
      await expect(verify(client, before)).rejects.toMatchObject({
        code: 'budget_exhausted',
      });
      const paid = await charges();
      expect(paid.length).toBeGreaterThan(90);
      // What a process leaves that is killed while it numbers the list.
      await mkdir(join(folder, 'run', 'partitions'));
      await writeFile(join(folder, 'run', 'partitions', '000129.txt'), 'of another process');
      await verify(client, { partitionFrom: second });
      await expectRows();
      expect(await charges()).toEqual(sent);
    },
  );

  it('stops with nothing sent when it is ended while the list is numbered', async () => {
    const { client, charges } = await begin();
    const ending = new AbortController();
    const files = watchedFiles((call) => {
      if (call === 'read 000002.txt') ending.abort(new Error('ended by hand'));
    });
    await expect(verify(client, { files, signal: ending.signal })).rejects.toThrow('ended by hand');
    expect(files.openFiles).toEqual([]);
    expect(await charges()).toEqual([]);
  });

  it('is carried over when it has changed, and paid for once', async () => {
    const { client, charges } = await begin();
    await expect(verify(client, { maxCredits: 300 })).rejects.toThrow();
    const changed = names.toReversed();
    await verify(client, {}, changed);
    await expectRows(changed);
    expect(await charges()).toEqual(sent);
  });

  it('is looked up in a history as any other', async () => {
    const nights = await Nights.begin();
    const rows = names.slice(0, 400);
    await nights.night(rows, { batchSize: 97 });
    const before = await nights.charges();
    const summary = await nights.night([...rows.toReversed(), 'good9000@sluice.test'], {
      batchSize: 97,
      partitionFrom: 0,
    });
    expect((await nights.charges()).slice(before.length)).toEqual(['good9000@sluice.test']);
    expect(summary.email?.buckets.verified).toBe(
      [...rows, 'good9000@sluice.test'].filter((name) => name.includes('@')).length,
    );
  });

  it('stops before anything is sent where its batches would not fit on the disk', async () => {
    const { client, charges } = await begin();
    const files = { ...systemFiles, statfs: async () => ({ bavail: 1, bsize: 4096 }) };
    await expect(verify(client, { files: files as unknown as FileSystem })).rejects.toThrow(
      /5.*KB.*KB/,
    );
    expect(await charges()).toEqual([]);
  });

  it('leaves nothing in the state directory that it was numbered with', async () => {
    const { client } = await begin();
    let found: readonly string[] = [];
    await verify(client, {
      onProgress: ({ stage }) => {
        if (stage === 'read') found = readdirSync(join(folder, 'run'));
      },
    });
    expect(found).toContain('tickets');
    expect(found).not.toContain('partitions');
  });
});
