import { readFile, writeFile } from 'node:fs/promises';
import {
  Binary,
  Bool,
  DateDay,
  Decimal,
  Dictionary,
  Field,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  List,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  TimeMicrosecond,
  TimeMillisecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
  vectorFromArray,
  type DataType,
} from 'apache-arrow';
import {
  Compression,
  readParquet,
  Table as WasmTable,
  WriterPropertiesBuilder,
  writeParquet,
} from 'parquet-wasm';
import { describe, expect, it } from 'vitest';
import { fileSink, fileSource } from '../../../src/index.js';
import { carry } from '../sql/harness/carry.js';
import { askDuckdb } from '../sql/duckdb/ask-duckdb.js';
import { startVerifying } from '../sql/harness/verify-rows.js';
import { useTemporaryFolder } from './temporary-folder.js';

const at = useTemporaryFolder();

/** 2024-02-29 10:20:30 UTC, in seconds. */
const moment = 1_709_202_030n;
const zone = 'Europe/Berlin';

/** Columns as arrow has them: a value as arrow takes it, and its text where all is text. */
const columns: readonly (readonly [string, DataType, unknown, string])[] = [
  ['email', new Utf8(), 'a@example.com', 'a@example.com'],
  ['i8', new Int8(), -128, '-128'],
  ['i16', new Int16(), -32_768, '-32768'],
  ['i32', new Int32(), -2_147_483_648, '-2147483648'],
  ['i64', new Int64(), -(2n ** 63n), '-9223372036854775808'],
  ['u8', new Uint8(), 255, '255'],
  ['u16', new Uint16(), 65_535, '65535'],
  ['u32', new Uint32(), 4_294_967_295, '4294967295'],
  ['u64', new Uint64(), 2n ** 64n - 1n, '18446744073709551615'],
  ['words', new Dictionary(new Utf8(), new Int8()), 'gold', 'gold'],
  ['b', new Bool(), true, 'true'],
  ['f4', new Float32(), 0.5, '0.5'],
  ['f8', new Float64(), 0.1, '0.1'],
  ['d', new Decimal(2, 10, 128), Uint32Array.of(1250, 0, 0, 0), '12.50'],
  ['day', new DateDay(), new Date('2024-02-29'), '2024-02-29'],
  ['t3', new TimeMillisecond(), 37_230_123, '10:20:30.123'],
  ['t6', new TimeMicrosecond(), 37_230_123_456n, '10:20:30.123456'],
  // Parquet has no seconds: this writer gives bare integers, of which nobody can tell what they are.
  ['s', new TimestampSecond(), Number(moment) * 1000, String(moment)],
  ['ms', new TimestampMillisecond(), Number(moment) * 1000 + 123, '2024-02-29T10:20:30.123'],
  ['us', new TimestampMicrosecond(), Number(moment) * 1000 + 123, '2024-02-29T10:20:30.123'],
  // Of a double that counts nanoseconds this one is exact.
  ['ns', new TimestampNanosecond(), Number(moment) * 1000 + 124, '2024-02-29T10:20:30.124'],
  ['sz', new TimestampSecond(zone), Number(moment) * 1000, String(moment)],
  ['msz', new TimestampMillisecond(zone), Number(moment) * 1000 + 123, '2024-02-29T10:20:30.123Z'],
  ['usz', new TimestampMicrosecond(zone), Number(moment) * 1000 + 123, '2024-02-29T10:20:30.123Z'],
  ['nsz', new TimestampNanosecond('UTC'), Number(moment) * 1000 + 124, '2024-02-29T10:20:30.124Z'],
  ['x', new Binary(), Buffer.from([0xff]), '/w=='],
  ['list', new List(new Field('item', new Int32(), true)), [1, 2], '[1,2]'],
  ['of', new Struct([new Field('k', new Utf8(), true)]), { k: 'v' }, '{"k":"v"}'],
];

/** A file by arrow's own writer: a row with a value in each column, and one without. */
async function writeArrow(path: string, compression: Compression, rows = 2): Promise<void> {
  const vectors = columns.map(([name, type, value]) => {
    const values = [value, name === 'email' ? value : null].slice(0, rows);
    return [name, vectorFromArray(values, type)] as const;
  });
  const table = new Table(Object.fromEntries(vectors));
  const properties = new WriterPropertiesBuilder().setCompression(compression).build();
  const written = writeParquet(WasmTable.fromIPCStream(tableToIPC(table, 'stream')), properties);
  await writeFile(path, written);
}

const codecs = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI', 'ZSTD', 'LZ4_RAW'] as const;

describe('a Parquet file by arrow', () => {
  it.each(codecs)('has the same types and values in Parquet: %s', async (codec) => {
    await writeArrow(at('in.parquet'), Compression[codec]);
    await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')));
    const rows = (name: string) => `SELECT * FROM '${at(name)}'`;
    const types = async (name: string) => askDuckdb(':memory:', `DESCRIBE ${rows(name)}`);
    expect(await types('out.parquet')).toEqual(await types('in.parquet'));
    const same = `SELECT count(*) AS n FROM (${rows('in.parquet')} EXCEPT ${rows('out.parquet')})`;
    expect(await askDuckdb(':memory:', same)).toEqual([{ n: 0n }]);
    expect(
      await askDuckdb(':memory:', `SELECT count(*) AS n FROM (${rows('out.parquet')})`),
    ).toEqual([{ n: 2n }]);
  });

  it('has the same types with the results beside it, for programs with Arrow: zones and categories', async () => {
    await writeArrow(at('in.parquet'), Compression.ZSTD);
    const { run } = await startVerifying();
    const [source, sink] = [fileSource(at('in.parquet')), fileSink(at('out.parquet'))];
    await run({ source, sink, email: ['email'], columns: ['verification', 'valid'] });
    const typesOf = async (name: string) => {
      const { schema } = tableFromIPC(readParquet(await readFile(at(name))).intoIPCStream());
      return schema.fields.map((field) => `${field.name} ${String(field.type)}`);
    };
    const types = await typesOf('in.parquet');
    expect(types).toContain('words Dictionary<Int8, Utf8>');
    expect(types).toContain('usz Timestamp<MICROSECOND, Europe/Berlin>');
    const more = ['email_verification Utf8', 'email_valid Bool'];
    expect(await typesOf('out.parquet')).toEqual([...types, ...more]);
  });

  it('has its texts in CSV', async () => {
    await writeArrow(at('in.parquet'), Compression.LZ4_RAW);
    await carry(fileSource(at('in.parquet')), fileSink(at('out.csv')));
    const [full, empty] = await askDuckdb(
      ':memory:',
      `SELECT * FROM read_csv('${at('out.csv')}', all_varchar = true, header = true)`,
    );
    expect(full).toEqual(Object.fromEntries(columns.map(([name, , , text]) => [name, text])));
    expect(empty).toEqual({
      ...Object.fromEntries(columns.map(([name]) => [name, null])),
      email: 'a@example.com',
    });
  });

  it('has its values in JSON lines', async () => {
    await writeArrow(at('in.parquet'), Compression.SNAPPY);
    await carry(fileSource(at('in.parquet')), fileSink(at('out.jsonl')));
    const [row] = await askDuckdb(
      ':memory:',
      `SELECT i8, i64, u64::VARCHAR AS u64, words, d, list, "of", b FROM read_json('${at('out.jsonl')}') LIMIT 1`,
    );
    expect(row).toMatchObject({
      i8: -128n,
      i64: -(2n ** 63n),
      u64: '18446744073709551615',
      words: 'gold',
      b: true,
    });
    const first = JSON.parse(
      (await readFile(at('out.jsonl'), 'utf8')).split('\n')[0] ?? '',
    ) as object;
    expect(first).toMatchObject({ d: '12.50', list: [1, 2], of: { k: 'v' }, day: '2024-02-29' });
  });

  it('without rows keeps its columns and types', async () => {
    await writeArrow(at('in.parquet'), Compression.LZ4_RAW, 0);
    await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')));
    const types = async (name: string) =>
      askDuckdb(':memory:', `DESCRIBE SELECT * FROM '${at(name)}'`);
    expect(await types('out.parquet')).toEqual(await types('in.parquet'));
    await carry(fileSource(at('in.parquet')), fileSink(at('out.csv')));
    expect((await readFile(at('out.csv'), 'utf8')).trim()).toBe(
      columns.map(([name]) => name).join(','),
    );
  });
});
