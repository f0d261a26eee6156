import type { AssertionError } from 'node:assert';
import { readFile, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import ExcelJS from 'exceljs';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { fileSink, type FileSinkOptions, streamSink } from '../../src/lists/files/file-sink.js';
import { fileSource, streamSource } from '../../src/lists/files/file-source.js';
import { sinkChecks, sourceChecks } from '../../src/testing/index.js';
import type { Row } from '../../src/lists/rows/chunks/object-chunk.js';
import type { RowChunk } from '../../src/lists/rows/chunks/row-chunk.js';
import { rowsSink } from '../../src/lists/rows/rows-sink.js';
import { rowsSource } from '../../src/lists/rows/sources/rows-source.js';
import type { JoinedRows, Sink } from '../../src/lists/rows/sink.js';
import type { Source } from '../../src/lists/rows/source.js';
import { useTemporaryFolder } from '../lists/files/temporary-folder.js';
import { BytesTaker } from '../lists/rows/bytes-taker.js';

const at = useTemporaryFolder();
const header = ['id', 'email', 'note'];
const rows = [
  ['1', 'ann@example.com', 'x, "q"'],
  ['2', 'bob@example.com', 'ümlaut'],
  ['3', 'cid@example.com', 'last'],
];
const objects = rows.map((row) => Object.fromEntries(header.map((name, n) => [name, row[n]])));
const csv =
  'id,email,note\n1,ann@example.com,"x, ""q"""\n2,bob@example.com,ümlaut\n3,cid@example.com,last\n';
const jsonl = objects.map((row) => `${JSON.stringify(row)}\n`).join('');

/** What the formats that only programs write are made of: our own sinks, checked below on their own. */
const binary = new Map<string, Buffer>();
beforeAll(async () => {
  const { mkdtemp } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const folder = await mkdtemp(`${tmpdir()}/sluice-conformance-`);
  for (const ending of ['xlsx', 'parquet']) {
    const path = `${folder}/list.${ending}`;
    const reading = await rowsSource(objects).open({ wanted: () => [] });
    const writing = await fileSink(path).open({
      reading,
      verified: [1],
      added: [],
      cellsOf: () => [],
    });
    for await (const chunk of reading.chunks) {
      const outcomes = new Uint32Array(0);
      await writing.write({ chunk, from: 0, to: chunk.length, outcomes, width: 0 });
    }
    await writing.finish();
    binary.set(ending, await readFile(path));
  }
});

async function file(name: string, content: string | Buffer | undefined): Promise<Source> {
  await writeFile(at(name), content ?? '');
  return fileSource(at(name));
}

const sources: readonly (readonly [what: string, create: () => Source | Promise<Source>])[] = [
  ['a CSV file', () => file('a.csv', csv)],
  ['a compressed CSV file', () => file('a.csv.gz', gzipSync(csv))],
  ['a CSV file in UTF-16', () => file('a.csv', Buffer.from(`\ufeff${csv}`, 'utf16le'))],
  ['a CSV file with semicolons', () => file('a.csv', csv.replaceAll(/,(?! )/g, ';'))],
  [
    'a CSV file of another dialect',
    async () => {
      const cells = [header, ...rows].map((row) => row.map((cell) => `'${cell}'`).join('||'));
      await writeFile(at('a.csv'), cells.join('\n'));
      return fileSource(at('a.csv'), { delimiter: '||' });
    },
  ],
  ['a TSV file', () => file('a.tsv', csv.replaceAll(/,(?! )/g, '\t'))],
  ['a JSONL file', () => file('a.jsonl', jsonl)],
  ['an XLSX file', () => file('a.xlsx', binary.get('xlsx'))],
  ['a Parquet file', () => file('a.parquet', binary.get('parquet'))],
  ['a stream of CSV', () => streamSource('a stream', () => Readable.from([Buffer.from(csv)]))],
  ['a stream of JSONL', () => streamSource('a stream', () => Readable.from([Buffer.from(jsonl)]))],
  ['a stream of XLSX', () => streamSource('a stream', () => Readable.from([binary.get('xlsx')]))],
  [
    'a stream of Parquet',
    () => streamSource('a stream', () => Readable.from([binary.get('parquet')])),
  ],
  ['an array of objects', () => rowsSource(objects)],
  ['an array of lists', () => rowsSource(rows, { header })],
  ['a Readable', () => rowsSource(Readable.from(objects))],
  ['a Web stream', () => rowsSource(Readable.toWeb(Readable.from(objects)) as ReadableStream<Row>)],
  [
    'an async iterable',
    () =>
      rowsSource(
        (async function* () {
          yield* objects;
        })(),
      ),
  ],
  ['an iterable', () => rowsSource(new Set(objects))],
];

describe.each(sources)('%s as a source', (_, create) => {
  let paths = 0;
  const newPath = (): string => at(`kept-${(paths += 1)}`);
  const options = { header, rows, create, newPath };
  it.each(sourceChecks(options).map((check) => [check.name, check] as const))(
    '%s',
    async (_, check) => {
      await expect(check.run()).resolves.toBeUndefined();
    },
  );
});

it('a source whose bytes are not its text is found', async () => {
  const chunk: RowChunk = {
    length: 2,
    byteSize: 8,
    text: (row) => (row === 0 ? 'ann' : 'bob'),
    raw: {
      bytes: Buffer.from('ann\nbobs'),
      cellStart: (row) => row * 4,
      cellEnd: (row) => (row === 0 ? 3 : 8),
    },
  };
  const create = (): Source => ({
    name: 'people',
    async open({ wanted }) {
      wanted(['name']);
      return { header: ['name'], chunks: Readable.from([chunk]) };
    },
  });
  const checks = sourceChecks({ header: ['name'], rows: [['ann'], ['bob']], create });
  const check = checks.find(
    ({ name }) => name === 'has in the bytes that it offers what it has as text',
  );
  await expect(check?.run()).rejects.toThrow('column 0 of row 1 of a chunk, in bytes');
});

it.each<[string, (row: Row) => Row, string]>([
  [
    'lacks a cell',
    ({ email, ...row }) => (email === null ? row : { email, ...row }),
    'and is missing',
  ],
  ['has another cell', (row) => ({ ...row, email: row['email'] ?? '' }), 'and is ""'],
  ['has a cell too many', (row) => ({ ...row, more: 1 }), '"more" should not be there'],
])('a sink that %s is reported where', async (_, change, words) => {
  let given: Row[] = [];
  const checks = sinkChecks({
    create: () => {
      given = [];
      return rowsSink((some) => void given.push(...some.map(change)));
    },
    read: async () => given,
    isWhole: false,
  });
  const failed = await checks[1]?.run().then(undefined, (error: unknown) => error);
  const place = words.startsWith('and') ? 'row 5: "email" should be null, ' : 'row 1: ';
  expect(String(failed)).toContain(`what is there: ${place}${words}`);
  // For the diff of a test runner.
  expect((failed as AssertionError).actual).toBe(given);
  expect((failed as AssertionError).expected).toHaveLength(given.length);
});

/** A sink of two verified columns, as its `idOf` finds the outcome of a cell. */
function jsonSink(
  given: Row[],
  idOf: (rows: JoinedRows, row: number, k: number) => number | undefined,
): Sink {
  return {
    name: 'rows',
    async check() {},
    async open({ reading, added, cellsOf }) {
      return {
        async write(rows) {
          for (let row = rows.from; row < rows.to; row += 1) {
            const own = reading.header.map((name, column) => [name, rows.chunk.text(row, column)]);
            const others = added.flatMap((columns, k) => {
              const id = idOf(rows, row, k);
              const cells = id === undefined ? undefined : cellsOf(id, k);
              return cells ? columns.map(({ name }, at) => [name, cells[at]]) : [];
            });
            const pairs: [string, unknown][] = [...own, ...others].map(([name, cell]) => [
              String(name),
              cell ?? null,
            ]);
            given.push(Object.fromEntries(pairs));
          }
        },
        async finish() {},
        async abort() {},
      };
    },
  };
}

it.each<[string, Parameters<typeof jsonSink>[1], string | undefined]>([
  [
    'takes each outcome from its place',
    ({ outcomes, from, width }, row, k) => outcomes[(row - from) * width + k],
    undefined,
  ],
  [
    'forgets the width',
    ({ outcomes, from }, row) => outcomes[row - from],
    'row 1: "mobile_valid" should be false, and is true',
  ],
  [
    'forgets where the stretch begins',
    ({ outcomes, width }, row, k) => outcomes[row * width + k],
    'row 2: "email_verification" should be ',
  ],
  [
    'drops every verified column after the first',
    ({ outcomes, from, width }, row, k) => (k === 0 ? outcomes[(row - from) * width] : undefined),
    'row 1: "mobile_verification" should be "verified", and is missing',
  ],
])('a sink of two columns that %s is judged by it', async (_, idOf, words) => {
  let given: Row[] = [];
  const checks = sinkChecks({
    create: () => jsonSink((given = []), idOf),
    read: async () => given,
    isWhole: false,
  });
  const errors: string[] = [];
  for (const { run } of checks) await run().catch((error: unknown) => errors.push(String(error)));
  if (words === undefined) expect(errors).toEqual([]);
  else expect(errors.join('\n')).toContain(words);
});

it('a source that loses a row, or changes a cell, is notified so', async () => {
  const create = () => rowsSource([['a'], ['b']], { header: ['name'] });
  const failure = async (wanted: string[][]): Promise<unknown> =>
    sourceChecks({ create, header: ['name'], rows: wanted })[2]?.run();
  await expect(failure([['a'], ['c']])).rejects.toThrow(
    'the rows: row 2: column 1: it should be "c", and is "b"',
  );
  await expect(failure([['a'], ['b'], ['c']])).rejects.toThrow(
    'the rows: there should be 3, and there are 2',
  );
});

const readers: Readonly<Record<string, (bytes: Buffer) => Promise<readonly Row[]>>> = {
  csv: async (bytes) => parse(bytes, { columns: true }),
  tsv: async (bytes) => parse(bytes, { columns: true, delimiter: '\t' }),
  'csv.gz': async (bytes) => parse(gunzipSync(bytes), { columns: true }),
  jsonl: async (bytes) =>
    bytes
      .toString()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row),
  parquet: async (bytes) => parquetReadObjects({ file: new Uint8Array(bytes).buffer }),
  async xlsx(bytes) {
    const workbook = new ExcelJS.Workbook();
    await workbook.xlsx.load(new Uint8Array(bytes).buffer);
    const [names, ...values] = workbook.worksheets[0]?.getSheetValues().slice(1) ?? [];
    const columns = (names as string[]).slice(1);
    return values.map((row) =>
      Object.fromEntries(columns.map((name, n) => [name, (row as unknown[])[n + 1] ?? null])),
    );
  },
};
const hasTypes = (ending: string): boolean => !/sv/.test(ending);

describe.each(Object.keys(readers))('a file of %s as a sink', (ending) => {
  const read = async () => {
    const bytes = await readFile(at(`out.${ending}`)).catch(() => undefined);
    return bytes && readers[ending]?.(bytes);
  };
  const checks = sinkChecks({
    create: () => fileSink(at(`out.${ending}`)),
    read,
    hasTypes: hasTypes(ending),
  });
  it.each(checks.map((check) => [check.name, check] as const))('%s', async (_, check) => {
    await expect(check.run()).resolves.toBeUndefined();
  });
});

describe.each(['csv', 'jsonl', 'xlsx', 'parquet'] as const)(
  'a stream of %s as a sink',
  (format) => {
    let bytes: Buffer | undefined;
    const create = (options: FileSinkOptions = {}) => {
      const stream = new BytesTaker((all) => {
        bytes = all;
      });
      return streamSink(stream, { ...options, format, name: 'a stream' });
    };
    const checks = sinkChecks({
      create,
      read: async () => bytes && readers[format]?.(bytes),
      hasTypes: hasTypes(format),
      isWhole: false,
    });
    it.each(checks.map((check) => [check.name, check] as const))('%s', async (_, check) => {
      await expect(check.run()).resolves.toBeUndefined();
    });
  },
);

describe('a function as a sink', () => {
  let given: Row[] = [];
  const create = () => {
    given = [];
    return rowsSink((rows) => {
      given.push(...rows);
    });
  };
  const checks = sinkChecks({ create, read: async () => given, isWhole: false });
  it.each(checks.map((check) => [check.name, check] as const))('%s', async (_, check) => {
    await expect(check.run()).resolves.toBeUndefined();
  });
});
