import { readFile, writeFile } from 'node:fs/promises';
import { parquetMetadata, parquetReadObjects, type SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { fileSink } from '../../src/formats/file-sink.js';
import { fileSource } from '../../src/formats/file-source.js';
import { int96Nanos, logicalReader } from '../../src/formats/parquet/logical-value.js';
import { useTemporaryFolder } from './temporary-folder.js';
import { addedColumnsOf } from '../rows/added-columns.js';

const at = useTemporaryFolder();

const optional = { repetition_type: 'OPTIONAL' } as const;
const schema: SchemaElement[] = [
  { name: 'root', num_children: 6 },
  { name: 'email', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
  { name: 'money', type: 'INT64', converted_type: 'DECIMAL', precision: 18, scale: 4, ...optional },
  { name: 'seen', type: 'INT64', converted_type: 'TIMESTAMP_MICROS', ...optional },
  { name: 'day', type: 'INT32', converted_type: 'DATE', ...optional },
  { name: 'tags', converted_type: 'LIST', num_children: 1, ...optional },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
  { name: 'count', type: 'INT64', repetition_type: 'REQUIRED' },
];
const columns = {
  email: ['a@example.com', null, 'c@example.com'],
  money: [123456789012345678n, -5n, null],
  seen: [1_700_000_000_123_456n, 1_700_000_000_000_000n, null],
  day: [new Date('2024-02-29'), null, new Date('1950-01-01')],
  tags: [['x', 'y'], [], null],
  count: [2n ** 60n + 1n, 7n, -1n],
};

async function writeInput(): Promise<void> {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({ writer: bytes, schema });
  await writer.write({
    columnData: Object.entries(columns).map(([name, data]) => ({ name, data })),
    rowGroupSize: 2,
  });
  await writer.finish();
  await writeFile(at('in.parquet'), bytes.getBytes());
}

async function copy(output: string): Promise<Buffer> {
  await writeInput();
  const reading = await fileSource(at('in.parquet')).open({ wanted: () => [0] });
  const opening = {
    reading,
    verified: [0],
    added: [addedColumnsOf('email', 'valid')],
    cellsOf: () => [true],
  };
  const writing = await fileSink(at(output)).open(opening);
  for await (const chunk of reading.chunks) {
    const outcomes = new Uint32Array(chunk.length);
    await writing.write({ chunk, from: 0, to: chunk.length, outcomes, width: 1 });
  }
  await writing.finish();
  return readFile(at(output));
}

describe('Parquet to Parquet', () => {
  it('keeps every value and every type as they are stored', async () => {
    const written = new Uint8Array(await copy('out.parquet')).buffer;
    const before = new Uint8Array(await readFile(at('in.parquet'))).buffer;
    const rows = await parquetReadObjects({ file: written });
    const expected = await parquetReadObjects({ file: before });
    expect(rows).toEqual(expected.map((row) => ({ ...row, email_valid: true })));
    const stored = (file: ArrayBuffer) => parquetMetadata(file).schema.slice(1);
    expect(stored(written).slice(0, -1)).toEqual(stored(before));
    expect(stored(written).at(-1)).toMatchObject({ name: 'email_valid', type: 'BOOLEAN' });
  });
});

describe('Parquet to CSV', () => {
  it('prints what values stand for, to the last digit', async () => {
    expect((await copy('out.csv')).toString()).toBe(
      [
        'email,money,seen,day,tags,count,email_valid',
        'a@example.com,12345678901234.5678,2023-11-14T22:13:20.123456Z,2024-02-29,"[""x"",""y""]",1152921504606846977,true',
        ',-0.0005,2023-11-14T22:13:20.000Z,,[],7,true',
        'c@example.com,,,1950-01-01,,-1,true',
        '',
      ].join('\n'),
    );
  });
});

describe('what is stored', () => {
  it('is read as what it stands for', () => {
    const read = (element: Omit<SchemaElement, 'name'>, value: unknown): unknown =>
      logicalReader({ name: 'a', ...element })(value);
    const decimal = { type: 'FIXED_LEN_BYTE_ARRAY', converted_type: 'DECIMAL', scale: 2 } as const;
    expect(read(decimal, Uint8Array.of(0xff, 0x38))).toBe('-2.00');
    expect(read({ type: 'INT32', converted_type: 'UINT_32' }, -1)).toBe(4_294_967_295);
    expect(read({ type: 'INT64', converted_type: 'UINT_64' }, -1n)).toBe(2n ** 64n - 1n);
    expect(read({ type: 'BYTE_ARRAY' }, Uint8Array.of(0xff))).toEqual(Uint8Array.of(0xff));
    expect(read({ type: 'DOUBLE' }, null)).toBeNull();
    expect(int96Nanos((2_440_589n << 64n) + 5n)).toBe(86_400_000_000_005n);
  });
});
