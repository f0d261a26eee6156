import { readFile, writeFile } from 'node:fs/promises';
import ExcelJS from 'exceljs';
import { parquetSchema, parquetMetadata, type LogicalType, type SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { expectPage } from '../../docs/made/expect-page.js';
import { fileSink, fileSource } from '../../../src/index.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';
import { carry } from '../sql/harness/carry.js';
import { askDuckdb } from '../sql/duckdb/ask-duckdb.js';
import { startVerifying } from '../sql/harness/verify-rows.js';
import { bytes, hex, leafPaths, optional, repeated, required, text } from './schema-elements.js';

const at = useTemporaryFolder();

type Element = Omit<SchemaElement, 'name'>;

/** A column of a type with one value, as it is stored; and how it is written where nothing writes the type. */
interface Stored {
  readonly elements: readonly SchemaElement[];
  readonly value: unknown;
  readonly written?: readonly SchemaElement[];
}

const flat = (element: Element, value: unknown): Stored => ({
  elements: [{ name: '', ...element, ...optional }],
  value,
});
const fixed = (bytesOf: Uint8Array, element: Element = {}): Stored =>
  flat({ type: 'FIXED_LEN_BYTE_ARRAY', type_length: bytesOf.length, ...element }, bytesOf);
const int32 = (converted: SchemaElement['converted_type'], value: number): Stored =>
  flat({ type: 'INT32', ...(converted && { converted_type: converted }) }, value);
const int64 = (element: Element, value: bigint): Stored =>
  flat({ type: 'INT64', ...element }, value);
const logical = (logical_type: LogicalType): Element => ({ logical_type });
const list = (element: Element): readonly SchemaElement[] => [
  { name: '', converted_type: 'LIST', num_children: 1, ...optional },
  { name: 'list', num_children: 1, ...repeated },
  { name: 'element', ...element },
];
const map = (names: readonly string[]): readonly SchemaElement[] => [
  { name: '', converted_type: 'MAP', num_children: 1, ...optional },
  { name: 'key_value', num_children: names.length, ...repeated },
  ...names.map((name) => ({ name, ...text, ...required })),
];
const clock = (type: 'TIME' | 'TIMESTAMP', unit: 'MILLIS' | 'MICROS' | 'NANOS', isUtc: boolean) =>
  logical({ type, unit, isAdjustedToUTC: isUtc });
const times = { MILLIS: 1n, MICROS: 1_000n, NANOS: 1_000_000n } as const;
const moment = (unit: keyof typeof times, fraction: bigint): bigint =>
  1_709_202_030_120n * times[unit] + fraction;

/** Every type of the format's specification, and forms that older programs write. */
const types: Readonly<Record<string, Stored>> = {
  BOOLEAN: flat({ type: 'BOOLEAN' }, true),
  INT32: int32(undefined, -2_147_483_648),
  INT64: int64({}, 2n ** 60n + 1n),
  'INT96 (a time)': {
    ...fixed(hex('15cd5b0700000000 d28a2500')),
    elements: [{ name: '', type: 'INT96', ...optional }],
    written: [{ name: '', type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12, ...optional }],
  },
  FLOAT: flat({ type: 'FLOAT' }, Math.fround(0.1)),
  DOUBLE: flat({ type: 'DOUBLE' }, 0.1),
  BYTE_ARRAY: flat(bytes, hex('ff00')),
  'BYTE_ARRAY of a text': flat(bytes, Buffer.from('Zoë, 0301')),
  'BYTE_ARRAY of a number': flat(bytes, hex('00000041')),
  FIXED_LEN_BYTE_ARRAY: fixed(hex('ff00')),
  STRING: flat(text, 'Zoë, 0301'),
  ENUM: flat({ ...bytes, converted_type: 'ENUM' }, Buffer.from('new')),
  UUID: fixed(hex('00112233445566778899aabbccddeeff'), logical({ type: 'UUID' })),
  INT_8: int32('INT_8', -128),
  INT_16: int32('INT_16', -32_768),
  INT_32: int32('INT_32', -2_147_483_648),
  INT_64: int64({ converted_type: 'INT_64' }, -(2n ** 63n)),
  UINT_8: int32('UINT_8', 255),
  UINT_16: int32('UINT_16', 65_535),
  UINT_32: int32('UINT_32', -1),
  UINT_64: int64({ converted_type: 'UINT_64' }, -1n),
  'DECIMAL(9,2), INT32': flat(
    { type: 'INT32', converted_type: 'DECIMAL', precision: 9, scale: 2 },
    -1_050,
  ),
  'DECIMAL(18,4), INT64': int64(
    { converted_type: 'DECIMAL', precision: 18, scale: 4 },
    123_456_789_012_345_678n,
  ),
  'DECIMAL(20,2), BYTE_ARRAY': flat(
    { ...bytes, converted_type: 'DECIMAL', precision: 20, scale: 2 },
    hex('ff38'),
  ),
  'DECIMAL(38,10), FIXED_LEN_BYTE_ARRAY': fixed(hex('00000000 00000000 0de0b6b3 a7640001'), {
    converted_type: 'DECIMAL',
    precision: 38,
    scale: 10,
  }),
  'DECIMAL(45,2), FIXED_LEN_BYTE_ARRAY': fixed(hex('0000000000000001 000000000000000000000001'), {
    converted_type: 'DECIMAL',
    precision: 45,
    scale: 2,
  }),
  DATE: int32('DATE', 19_782),
  TIME_MILLIS: int32('TIME_MILLIS', 37_230_120),
  TIME_MICROS: int64({ converted_type: 'TIME_MICROS' }, 37_230_120_456n),
  'TIME(MICROS)': int64(clock('TIME', 'MICROS', false), 37_230_120_456n),
  'TIME(NANOS)': int64(clock('TIME', 'NANOS', false), 37_230_120_456_789n),
  TIMESTAMP_MILLIS: int64({ converted_type: 'TIMESTAMP_MILLIS' }, moment('MILLIS', 0n)),
  TIMESTAMP_MICROS: int64({ converted_type: 'TIMESTAMP_MICROS' }, moment('MICROS', 456n)),
  ...Object.fromEntries(
    ([false, true] as const).flatMap((isUtc) =>
      (['MILLIS', 'MICROS', 'NANOS'] as const).map((unit) => [
        `TIMESTAMP(${unit}${isUtc ? ', UTC' : ''})`,
        int64(
          clock('TIMESTAMP', unit, isUtc),
          moment(unit, { MILLIS: 0n, MICROS: 456n, NANOS: 456_789n }[unit]),
        ),
      ]),
    ),
  ),
  INTERVAL: fixed(hex('0e000000 03000000 e8030000'), { converted_type: 'INTERVAL' }),
  JSON: flat({ ...bytes, converted_type: 'JSON' }, Buffer.from('{"a":1.50}')),
  BSON: flat({ ...bytes, converted_type: 'BSON' }, hex('0c0000001061000100000000')),
  FLOAT16: fixed(hex('662e'), logical({ type: 'FLOAT16' })),
  NULL: flat({ type: 'INT32', ...logical({ type: 'NULL' }) }, null),
  GEOMETRY: flat(
    { ...bytes, ...logical({ type: 'GEOMETRY' }) },
    hex('0101000000 000000000000f03f 0000000000000040'),
  ),
  GEOGRAPHY: flat(
    { ...bytes, ...logical({ type: 'GEOGRAPHY' }) },
    hex('0101000000 000000000000f03f 0000000000000040'),
  ),
  VARIANT: {
    elements: [
      { name: '', num_children: 2, ...logical({ type: 'VARIANT' }), ...optional },
      { name: 'metadata', ...bytes, ...required },
      { name: 'value', ...bytes, ...optional },
    ],
    // A decimal.
    value: { metadata: hex('010000'), value: hex('20 04 15cd5b07') },
  },
  'a structure': {
    elements: [
      { name: '', num_children: 2, ...optional },
      {
        name: 'sum',
        type: 'INT32',
        converted_type: 'DECIMAL',
        precision: 9,
        scale: 2,
        ...optional,
      },
      { name: 'day', type: 'INT32', converted_type: 'DATE', ...optional },
    ],
    value: { sum: 150, day: 19_782 },
  },
  LIST: { elements: list({ ...text, ...optional }), value: ['a', 'b'] },
  MAP: { elements: map(['key', 'value']), value: [{ key: 'a', value: 'b' }] },
  'MAP without values': {
    elements: map(['key']),
    written: list({ ...bytes, ...required }),
    value: [Buffer.from('a'), Buffer.from('b')],
  },
  'a repeated column': {
    elements: [{ name: '', ...text, ...repeated }],
    written: list({ ...bytes, ...required }).map((element, place) =>
      place === 0 ? { ...element, ...required } : element,
    ),
    value: [Buffer.from('a'), Buffer.from('b')],
  },
};

/** Elements with their physical types alone: so the writer stores values as they are given. */
function plain(elements: readonly SchemaElement[]): SchemaElement[] {
  return elements.map(({ name, type, type_length, num_children, converted_type, ...rest }) => ({
    name,
    ...(type && { type }),
    ...(type_length && { type_length }),
    ...(num_children && { num_children }),
    ...(num_children && converted_type && { converted_type }),
    ...(rest.repetition_type && { repetition_type: rest.repetition_type }),
  }));
}

const named = (name: string, [first, ...more]: readonly SchemaElement[]): SchemaElement[] =>
  first ? [{ ...first, name }, ...more] : [];

function inBytes(value: unknown): unknown {
  if (typeof value === 'string') return Buffer.from(value);
  if (Array.isArray(value)) return value.map(inBytes);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inBytes(each)]));
}

/** A list of two contacts, the second without any value. */
async function writeInput(columns: readonly (readonly [string, Stored])[]): Promise<void> {
  const all: (readonly [string, Stored])[] = [['email', flat(text, 'a@x.example')], ...columns];
  const schemaOf = (of: (stored: Stored) => readonly SchemaElement[]): SchemaElement[] => [
    { name: 'root', num_children: all.length },
    ...all.flatMap(([name, stored]) => named(name, of(stored))),
  ];
  const into = new ByteWriter();
  const writer = new ParquetWriter({
    writer: into,
    schema: schemaOf(({ elements, written }) => plain(written ?? elements)),
    statistics: false,
  });
  const none = ({ elements: [first] }: Stored) =>
    first?.repetition_type === 'REPEATED' ? [] : null;
  await writer.write({
    columnData: all.map(([name, stored]) => ({
      name,
      data: [inBytes(stored.value), none(stored)],
    })),
  });
  // The bytes are the same: hyparquet-writer does not write some of the types.
  writer.schema = schemaOf(({ elements }) => elements);
  const leaves = all.flatMap(([name, { elements }]) => {
    const paths = leafPaths(named(name, elements));
    const physical = elements.flatMap(({ type }) => (type ? [type] : []));
    return paths.map((path, place) => ({ path, type: physical[place] ?? 'BYTE_ARRAY' }));
  });
  for (const group of writer.row_groups) {
    for (const [place, { meta_data: meta }] of group.columns.entries()) {
      if (!meta) continue;
      meta.path_in_schema = [...(leaves[place]?.path ?? [])];
      meta.type = leaves[place]?.type ?? meta.type;
    }
  }
  await writer.finish();
  await writeFile(at('in.parquet'), into.getBytes());
}

const code = (value: string): string => `\`${value.replaceAll('|', '\\|')}\``;

const bufferOf = async (name: string): Promise<ArrayBuffer> =>
  new Uint8Array(await readFile(at(name))).buffer;

/** The elements of a file's columns, by name. */
async function elementsIn(name: string): Promise<ReadonlyMap<string, string>> {
  const { children } = parquetSchema(parquetMetadata(await bufferOf(name)));
  return new Map(
    children.map((column) => [
      column.element.name,
      JSON.stringify(column, [
        'element',
        'children',
        'type',
        'type_length',
        'converted_type',
        'logical_type',
        'unit',
        'isAdjustedToUTC',
        'precision',
        'scale',
        'name',
      ]),
    ]),
  );
}

/** Texts of the first row's values as DuckDB reads them, and their types. */
function asDuckdbReads(name: string, columns: readonly string[]): Promise<readonly unknown[]> {
  const each = columns.map((column) => `"${column}"::VARCHAR, typeof("${column}")`);
  return askDuckdb(':memory:', `SELECT ${each.join(', ')} FROM '${at(name)}'`);
}

function inWorkbook({ value, numFmt }: Pick<ExcelJS.Cell, 'value' | 'numFmt'>): string {
  if (value === null) return 'empty';
  if (value instanceof Date) return `date, ${code(numFmt)}`;
  return `${typeof value === 'string' ? 'text' : typeof value}, ${code(String(value))}`;
}

/** Types that DuckDB does not read, or that are written as others. */
const notForDuckdb = /^(?:BSON|NULL|GEO.*|DECIMAL\(45,2\).*|VARIANT|MAP without.*|a repeated.*)$/;

describe('every type of Parquet', () => {
  const columns = Object.entries(types);

  it('comes through a run to every output, as docs/reference/parquet-types.md says (-u writes it)', async () => {
    await writeInput(columns);
    const reported: string[] = [];
    for (const ending of ['csv', 'jsonl', 'xlsx', 'parquet']) {
      const { run } = await startVerifying();
      await run({
        source: fileSource(at('in.parquet')),
        sink: fileSink(at(`out.${ending}`)),
        email: ['email'],
        onProgress(progress) {
          const isReported = progress.stage === 'text_column' && ending === 'parquet';
          if (isReported) reported.push(progress.column);
        },
      });
    }
    const [csv = {}] = (await askDuckdb(
      ':memory:',
      `SELECT * FROM read_csv('${at('out.csv')}', all_varchar = true, header = true)`,
    )) as Record<string, string | null>[];
    const [json = ''] = (await readFile(at('out.jsonl'), 'utf8')).split('\n');
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(at('out.xlsx'));
    const cells = book.worksheets[0]?.getRow(2);
    const [given, written] = await Promise.all(['in.parquet', 'out.parquet'].map(elementsIn));
    const rows = columns.map(([name], place) => {
      const text = csv[name] ?? '';
      const start = `${JSON.stringify(name)}:`;
      const from = json.indexOf(start) + start.length;
      const next = columns[place + 1]?.[0] ?? 'email_verification';
      const member = json.slice(from, json.indexOf(`,${JSON.stringify(next)}:`, from));
      const isKept = given?.get(name) === written?.get(name);
      const other = written?.get(name)?.includes('"JSON"') ? 'JSON' : 'TIMESTAMP(NANOS)';
      expect(reported.includes(name)).toBe(!isKept && other === 'JSON');
      const kept = isKept ? 'kept' : other;
      return [
        name,
        text === '' ? 'empty' : code(text),
        code(member),
        inWorkbook(cells?.getCell(place + 2) ?? { value: null, numFmt: '' }),
        kept,
      ];
    });
    await expectPage('docs/reference/parquet-types.md', [
      '# Types of Parquet',
      '',
      'Written by a test, which carries a value of each type through a run: what each output has of it. DuckDB reads the Parquet output as it reads the input.',
      '',
      '| type | CSV, TSV | JSONL | XLSX | Parquet |',
      '| --- | --- | --- | --- | --- |',
      ...rows.map((row) => `| ${row.join(' | ')} |`),
      '',
      '- `kept`: the type and the value as they are stored. What becomes JSON is reported before anything is sent.',
      '- A value that its output cannot hold is refused before anything is sent, with the name of its column: times of `INT96` outside of 1678 to 2261 in Parquet.',
      '- A `BYTE_ARRAY` without a type is text where it is UTF-8 without control characters, as older programs write texts. Other bytes are base64.',
      '',
    ]);
  });

  it('is to DuckDB the same after a copy', async () => {
    const readable = columns.filter(([name]) => !notForDuckdb.test(name));
    await writeInput(readable);
    await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')));
    const names = readable.map(([name]) => name).filter((name) => !name.startsWith('INT96'));
    expect(await asDuckdbReads('out.parquet', names)).toEqual(
      await asDuckdbReads('in.parquet', names),
    );
  });
});
