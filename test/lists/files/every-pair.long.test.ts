import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../../src/client/client.js';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import type { Row } from '../../../src/lists/rows/chunks/object-chunk.js';
import { rowsSink } from '../../../src/lists/rows/rows-sink.js';
import { rowsSource } from '../../../src/lists/rows/sources/rows-source.js';
import { run } from '../../../src/engine/runs/run.js';
import { createService, type Service } from '../../../src/service/index.js';
import { otherPrograms, type OtherFormat } from './other-programs.js';
import { useTemporaryFolder } from './temporary-folder.js';

const at = useTemporaryFolder();

let service: Service;
let client: Client;
beforeAll(async () => {
  service = await createService();
  client = new Client(service);
});
afterAll(async () => {
  await client.close();
  await service.close();
});

const addresses = ['good1@sluice.test', 'bad@sluice.test', 'no address', 'good2@sluice.test'];
const notes = [
  'plain',
  'a "quoted", one',
  '=SUM(A1)',
  'ümlaut 漢字 🎈',
  "it's;\tso",
  '007',
  '<b>&amp;',
];

const rows: readonly Row[] = Array.from({ length: 23 }, (_, row) => ({
  id: row + 1,
  email: addresses[row % addresses.length],
  active: row % 3 === 0,
  share: row / 8,
  since: new Date(Date.UTC(2024, row % 12, 1 + row, row % 2 === 0 ? 0 : 8, 30 * (row % 2))),
  note: row === 5 ? null : notes[row % notes.length],
}));

const formats = Object.keys(otherPrograms) as OtherFormat[];
const ends = [...formats, 'rows'] as const;
type End = (typeof ends)[number];

function printed(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return value === null || value === undefined ? '' : String(value);
}

/** What a cell is once it was read from the source: only some formats have types. */
function asRead(value: unknown, source: End, sink: End): unknown {
  if (source === 'xlsx' && value instanceof Date && sink !== 'xlsx' && sink !== 'parquet') {
    // A workbook's times have no zone, and are days at midnight.
    return printed(value).replace(/(?:T00:00:00)?\.000Z$/, '');
  }
  if (source === 'csv' || source === 'tsv' || source === 'csv.gz') {
    return printed(value);
  }
  return source === 'jsonl' && value instanceof Date ? value.toISOString() : value;
}

/** What a value is in the sink, as another program reads it there. */
function asWritten(value: unknown, sink: End, source: End): unknown {
  switch (sink) {
    case 'csv':
    case 'csv.gz':
    case 'tsv':
      return printed(value);
    case 'jsonl':
      return value instanceof Date ? printed(value) : value;
    case 'xlsx':
      // And no cell of one has a zone.
      if (value instanceof Date && source !== 'xlsx') return printed(value);
      return value === '' ? null : value;
    default:
      return value;
  }
}

/** Whole numbers are 64 bits wide in Parquet. */
function plain(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? Number(value) : value,
    ]),
  );
}

async function convert(from: End, to: End): Promise<{ read: readonly Row[]; column: string }> {
  const column = from === 'txt' ? 'value' : 'email';
  if (from !== 'rows') await writeFile(at(`in.${from}`), await otherPrograms[from].write(rows));
  const given: Row[] = [];
  const summary = await run({
    source: from === 'rows' ? rowsSource(rows) : fileSource(at(`in.${from}`), { columns: 'all' }),
    sink: to === 'rows' ? rowsSink((some) => void given.push(...some)) : fileSink(at(`out.${to}`)),
    client,
    stateDir: at('run'),
    email: [column],
    country: 'US',
    pollIntervalMs: 1,
  });
  expect(summary.rows).toBe(rows.length);
  if (to === 'rows') return { read: given, column };
  return { read: await otherPrograms[to].read(await readFile(at(`out.${to}`))), column };
}

const known = new Map<string, readonly Row[]>();

/** What the service says of an address, by the columns of an email. */
async function verdicts(column: string): Promise<readonly Row[]> {
  const before = known.get(column);
  if (before) return before;
  const enriched: Row[] = [];
  await run({
    source: rowsSource(rows.map(({ email }) => ({ [column]: email }))),
    sink: rowsSink((some) => void enriched.push(...some)),
    client,
    stateDir: at('verdicts'),
    email: [column],
    country: 'US',
    pollIntervalMs: 1,
  });
  known.set(column, enriched);
  return enriched;
}

describe.each(ends)('from %s', (from) => {
  it.each(ends)('to %s: every cell is there, and what the service says beside it', async (to) => {
    const { read, column } = await convert(from, to);
    const reported = await verdicts(column);
    const own = from === 'txt' ? rows.map(({ email }) => ({ value: email })) : rows;
    const expected = own.map((row, n) => {
      const cells = Object.entries(row).map(
        ([name, value]) => [name, asRead(value, from, to)] as const,
      );
      const all = new Map([...cells, ...Object.entries(reported[n] ?? {})]);
      if (to === 'txt') return { value: row[column as keyof typeof row] };
      return Object.fromEntries(
        [...all].map(([name, value]) => [name, asWritten(value, to, from)]),
      );
    });
    expect(read.map(plain)).toEqual(expected);
  });
});
