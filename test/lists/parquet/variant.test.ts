import { readFile, writeFile } from 'node:fs/promises';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { fileSink, fileSource } from '../../../src/index.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';
import { carry } from '../sql/harness/carry.js';
import { askDuckdb } from '../sql/duckdb/ask-duckdb.js';
import { bytes, hex, optional, required } from './schema-elements.js';

const at = useTemporaryFolder();

/** A variant of these values in bytes, `typed` of them in columns of their own. */
async function writeVariants(
  values: readonly (Record<string, unknown> | null)[],
  typed: readonly SchemaElement[] = [],
): Promise<void> {
  const elements = (group: Partial<SchemaElement>): SchemaElement[] => [
    { name: 'root', num_children: 2 },
    { name: 'email', ...bytes, converted_type: 'UTF8', ...optional },
    { name: 'x', num_children: typed.length === 0 ? 2 : 3, ...group, ...optional },
    { name: 'metadata', ...bytes, ...required },
    { name: 'value', ...bytes, ...optional },
  ];
  const written = new ByteWriter();
  const writer = new ParquetWriter({
    writer: written,
    schema: [
      ...elements({}),
      ...typed.map(({ converted_type: converted, ...rest }) =>
        converted === 'DECIMAL'
          ? { name: rest.name, type: 'INT64' as const, ...optional }
          : { ...rest, ...(converted && { converted_type: converted }) },
      ),
    ],
    statistics: false,
  });
  await writer.write({
    columnData: [
      { name: 'email', data: values.map(() => 'a@x.example') },
      { name: 'x', data: [...values] },
    ],
  });
  writer.schema = [...elements({ logical_type: { type: 'VARIANT' } }), ...typed];
  await writer.finish();
  await writeFile(at('in.parquet'), written.getBytes());
}

const noNames = hex('01 00 00');
/** Two names: `sum` and `at`. */
const names = hex('01 02 00 03 05 73756d 6174');

/** What the bytes mean, by the table of primitive types of the format's specification. */
const written = [
  { value: '20 04 15cd5b07', is: '12345.6789' },
  { value: '24 02 d2040000 00000000', is: '12.34' },
  { value: '28 02 ffffffffffffffff ffffffffffffffff', is: '-0.01' },
  { value: '18 ffffffffffffff7f', is: '9223372036854775807' },
  { value: '2c 10270000', is: '1997-05-19' },
  { value: '34 c0c62d0000000000', is: '1970-01-01T00:00:03' },
  { value: '30 01 00000000000000', is: '1970-01-01T00:00:00.000001Z' },
  { value: '4c 0100000000000000', is: '1970-01-01T00:00:00.000000001' },
  { value: '44 0400000000000000', is: '00:00:00.000004' },
  { value: '0d 616263', is: 'abc' },
  { value: '00', is: '' },
  { value: '03 02 00 02 06 0c01 20 01 0b000000', is: '[1,1.1]' },
] as const;

describe('a variant', () => {
  it('is read with all its digits', async () => {
    await writeVariants(written.map(({ value }) => ({ metadata: noNames, value: hex(value) })));
    await carry(fileSource(at('in.parquet')), fileSink(at('out.csv')));
    const lines = (await readFile(at('out.csv'), 'utf8')).trim().split('\n').slice(1);
    const cell = (text: string) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    expect(lines).toEqual(written.map(({ is }) => `a@x.example,${cell(is)}`));
  });

  it('is put together from its bytes and the columns of its members', async () => {
    const decimal: SchemaElement[] = [
      { name: 'typed_value', num_children: 1, ...optional },
      { name: 'sum', num_children: 2, ...required },
      { name: 'value', ...bytes, ...optional },
      {
        name: 'typed_value',
        type: 'INT64',
        converted_type: 'DECIMAL',
        precision: 18,
        scale: 4,
        ...optional,
      },
    ];
    await writeVariants(
      [
        {
          metadata: names,
          value: hex('02 01 01 00 04 0d616263'),
          typed_value: { sum: { value: null, typed_value: 123456789n } },
        },
        { metadata: names, value: hex('0c 07'), typed_value: null },
        {
          metadata: names,
          value: null,
          typed_value: { sum: { value: hex('0d 616263'), typed_value: null } },
        },
        null,
      ],
      decimal,
    );
    await carry(fileSource(at('in.parquet')), fileSink(at('out.jsonl')));
    expect((await readFile(at('out.jsonl'), 'utf8')).match(/(?<="x":).*(?=\}$)/gm)).toEqual([
      '{"at":"abc","sum":12345.6789}',
      '7',
      '{"sum":"abc"}',
      'null',
    ]);
  });

  it('stays a variant in Parquet, whose values another program reads alike', async () => {
    await writeVariants([
      { metadata: names, value: hex('02 02 00 01 00 06 0a 20 04 15cd5b07 0d616263') },
      null,
    ]);
    expect(await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')))).toEqual([]);
    const rows = (name: string) =>
      askDuckdb(':memory:', `SELECT x::JSON::VARCHAR AS x, typeof(x) AS type FROM '${at(name)}'`);
    expect(await rows('out.parquet')).toEqual([
      { x: '{"at":"abc","sum":12345.6789}', type: 'VARIANT' },
      { x: 'null', type: 'VARIANT' },
    ]);
    expect(await rows('out.parquet')).toEqual(await rows('in.parquet'));
  });

  it('ends the reading where its bytes are none', async () => {
    await writeVariants([{ metadata: noNames, value: hex('20') }]);
    await expect(
      carry(fileSource(at('in.parquet')), fileSink(at('out.csv'))),
    ).rejects.toMatchObject({
      code: 'input_malformed',
    });
  });
});
