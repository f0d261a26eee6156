import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import {
  fileSink,
  fileSource,
  partsSink,
  streamRun,
  type Row,
  type Sink,
} from '../../../../src/index.js';
import { sinkChecks } from '../../../../src/testing/index.js';
import { csvCells } from '../../../cli/harness/csv-cells.js';
import { dieBehind } from '../../sql/harness/spoilt-sinks.js';
import { readAll } from '../../sql/harness/carry.js';
import { rejection } from '../../sql/harness/rejection.js';
import { startVerifying } from '../../sql/harness/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';

interface Manifest {
  readonly columns: readonly string[];
  readonly rows: number;
  readonly parts: readonly {
    readonly name: string;
    readonly rows: number;
    readonly bytes: number;
    readonly sha256: string;
  }[];
}

const partBytes = 1_000_000;

const hash = (text: string): string => createHash('sha512').update(text).digest('base64');

/** What hardly compresses, so that few rows fill a part. */
const fill = (seed: string): string =>
  ['a', 'b', 'c', 'd'].map((salt) => hash(salt + seed)).join('');

/** Rows that hardly compress, some of them with a line end in a cell; few addresses. */
async function writeList(folder: string, rows: number): Promise<string> {
  const path = join(folder, 'list.csv');
  let filling = 'seed';
  const lines = Array.from({ length: rows }, (_, index) => {
    filling = fill(filling);
    return `${index},good${index % 50}@sluice.test,"${filling.slice(0, 40)}${index % 3 === 0 ? '\n' : ','}${filling.slice(40)}"\n`;
  });
  await writeFile(path, `id,email,filling\n${lines.join('')}`);
  return path;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
}

/** Holds the files of a folder against its manifest. */
async function expectAgreement(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  expect((await readdir(folder)).toSorted()).toEqual(
    ['manifest.json', ...manifest.parts.map(({ name }) => name)].toSorted(),
  );
  for (const { name, bytes, sha256 } of manifest.parts) {
    const content = await readFile(join(folder, name));
    expect(content.length).toBe(bytes);
    expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
  }
  expect(manifest.parts.reduce((sum, { rows }) => sum + rows, 0)).toBe(manifest.rows);
  return manifest;
}

describe('a folder of parts as a sink', () => {
  let folder = '';
  const path = (): string => join(folder, 'parts');
  const checks = sinkChecks({
    create: () => partsSink(path(), { partBytes }),
    async read() {
      const manifest = await readManifest(path()).catch(() => undefined);
      const tables = manifest?.parts.map(async ({ name }) => {
        return parse<Row>(gunzipSync(await readFile(join(path(), name))), { columns: true });
      });
      return tables && (await Promise.all(tables)).flat();
    },
    hasTypes: false,
  });
  test.each(checks.map((check) => [check.name, check] as const))('%s', async (_, check) => {
    folder = await withFolder();
    await expect(check.run()).resolves.toBeUndefined();
  });
});

describe('a folder of parts', () => {
  test('holds the rows of one file, split between rows, a header in each', async () => {
    const folder = await withFolder();
    const source = fileSource(await writeList(folder, 10_000));
    const verifying = await startVerifying();
    const whole = join(folder, 'whole.csv');
    await verifying.run({ source, sink: fileSink(whole), email: ['email'] });
    const parts = join(folder, 'parts');
    await verifying.run({ source, sink: partsSink(`${parts}/`, { partBytes }), email: ['email'] });
    const manifest = await expectAgreement(parts);
    expect(manifest.parts.length).toBeGreaterThan(2);
    expect(manifest.parts[0]?.name).toBe('part-00001.csv.gz');
    const [header = [], ...rows] = csvCells(await readFile(whole));
    expect(manifest.columns).toEqual(header);
    const found: string[][] = [];
    for (const [at, { name, bytes, rows: count }] of manifest.parts.entries()) {
      const [first, ...own] = csvCells(gunzipSync(await readFile(join(parts, name))));
      expect(first).toEqual(header);
      expect(own).toHaveLength(count);
      found.push(...own);
      const isLast = at === manifest.parts.length - 1;
      if (!isLast) expect(bytes).toBeGreaterThanOrEqual(partBytes);
      expect(bytes).toBeLessThan(1.5 * partBytes);
    }
    expect(found).toEqual(rows);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'parts', 'whole.csv']);
  });

  test('holds the same in Parquet, whose columns have the same types in each part', async () => {
    const folder = await withFolder();
    const list = join(folder, 'list.jsonl');
    // Parts end with groups of 50,000 rows: the first has no value of `n`.
    const line = (index: number): string =>
      `{"id":${index},"email":"good${index % 50}@sluice.test","n":${index < 50_500 ? 'null' : index + 0.5},"filling":"${hash(String(index))}"}\n`;
    await writeFile(list, Array.from({ length: 51_000 }, (_, index) => line(index)).join(''));
    const verifying = await startVerifying();
    const sink = partsSink(join(folder, 'parts'), { partBytes, format: 'parquet' });
    await verifying.run({ source: fileSource(list), sink, email: ['email'] });
    const { parts } = await expectAgreement(join(folder, 'parts'));
    const rows: unknown[][] = [];
    for (const { name } of parts) {
      expect(name).toMatch(/\.parquet$/);
      rows.push(...(await readAll(fileSource(join(folder, 'parts', name)))));
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(rows).toHaveLength(51_000);
    const cells = (row: number): readonly unknown[] | undefined => rows[row]?.slice(0, 3);
    expect(cells(50_499)).toEqual([50_499n, 'good49@sluice.test', null]);
    expect(cells(50_999)).toEqual([50_999n, 'good49@sluice.test', 50_999.5]);
    expect(new Set(rows.map((row) => row[4]))).toEqual(new Set(['verified']));
    const streamed = await rejection(
      streamRun({
        client: verifying.client,
        source: fileSource(list),
        sink,
        email: ['email'],
        country: 'US',
      }),
    );
    expect(streamed).toMatchObject({ code: 'invalid_option', fault: 'unsupported' });
  });

  test('of no rows has one part, which tells the columns', async () => {
    const folder = await withFolder();
    await writeFile(join(folder, 'list.csv'), 'id,email\n');
    const verifying = await startVerifying();
    const sink = partsSink(join(folder, 'parts'), { partBytes });
    await verifying.run({
      source: fileSource(join(folder, 'list.csv')),
      sink,
      email: ['email'],
    });
    const manifest = await expectAgreement(join(folder, 'parts'));
    expect(manifest.parts).toMatchObject([{ name: 'part-00001.csv.gz', rows: 0 }]);
  });

  test('takes the place of an earlier one when it is whole, and not before', async () => {
    const folder = await withFolder();
    const list = await writeList(folder, 5000);
    const parts = join(folder, 'parts');
    await mkdir(join(folder, 'elsewhere'));
    await symlink('elsewhere', parts);
    const verifying = await startVerifying();
    const run = (sink: Sink): Promise<unknown> =>
      verifying.run({ source: fileSource(list), sink, email: ['email'] });
    await run(partsSink(parts, { partBytes }));
    const before = await expectAgreement(parts);

    await writeList(folder, 5250);
    const sink = partsSink(parts, { partBytes });
    const killed = new Error('killed in the middle');
    let writes = 0;
    const failing: Sink = {
      ...sink,
      async open(opening) {
        const writing = await sink.open(opening);
        return {
          async write(rows) {
            writes += 1;
            if (writes > 4) throw killed;
            await writing.write(rows);
          },
          finish: () => writing.finish(),
          abort: () => writing.abort(),
        };
      },
    };
    expect(await rejection(run(failing))).toBe(killed);
    expect(await expectAgreement(parts)).toEqual(before);
    expect((await readdir(folder)).toSorted()).toEqual(['elsewhere', 'list.csv', 'parts']);

    const paid = await verifying.charges();
    const end = new Error('killed behind the end');
    expect(await rejection(run(dieBehind(sink, end)))).toBe(end);
    expect((await expectAgreement(parts)).rows).toBe(5250);
    await run(sink);
    expect((await expectAgreement(parts)).rows).toBe(5250);
    expect(await verifying.charges()).toBe(paid);
    expect((await readdir(folder)).toSorted()).toEqual(['elsewhere', 'list.csv', 'parts']);
  });

  test('is put back when a process was killed between the two renames of an exchange', async () => {
    const folder = await withFolder();
    const list = await writeList(folder, 10);
    const parts = join(folder, 'parts');
    const verifying = await startVerifying();
    const run = { source: fileSource(list), email: ['email'] };
    await verifying.run({ ...run, sink: partsSink(parts, { partBytes }) });
    const aside = join(
      folder,
      `.sluice-${createHash('sha256').update(parts).digest('hex').slice(0, 16)}.old`,
    );
    await rename(parts, aside);
    const sink = partsSink(parts, { partBytes });
    const failing = new Error('no more');
    const stopping: Sink = {
      ...sink,
      async open(opening) {
        const writing = await sink.open(opening);
        return {
          write: () => Promise.reject(failing),
          finish: () => writing.finish(),
          abort: () => writing.abort(),
        };
      },
    };
    expect(await rejection(verifying.run({ ...run, sink: stopping }))).toBe(failing);
    expect((await expectAgreement(parts)).rows).toBe(10);
  });

  test.each([
    ['a file', 'list.csv', 'exists'],
    ['a folder that holds something else', 'other', 'other_content'],
    ['a folder in no folder', 'no/where', 'missing'],
  ])('is refused before anything is sent where %s stands', async (_, name, fault) => {
    const folder = await withFolder();
    const list = await writeList(folder, 5);
    await mkdir(join(folder, 'other'));
    await writeFile(join(folder, 'other', 'manifest.json'), '{"name":"a web page"}');
    const verifying = await startVerifying();
    const sink = partsSink(join(folder, name), { partBytes });
    const error = await rejection(
      verifying.run({ source: fileSource(list), sink, email: ['email'] }),
    );
    expect(error).toMatchObject({ code: 'invalid_option', file: join(folder, name), fault });
    expect(await verifying.charges()).toBe(0);
    expect(await readdir(join(folder, 'other'))).toEqual(['manifest.json']);
  });

  test('has parts of a megabyte at least, in a format that is split', () => {
    const refused = (option: string): Error => expect.objectContaining({ option }) as Error;
    expect(() => partsSink('parts', { partBytes: 1000 })).toThrow(refused('partBytes'));
    expect(() => partsSink('parts', { partBytes, format: 'xlsx' })).toThrow(refused('format'));
  });
});
