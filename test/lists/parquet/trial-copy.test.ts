import { writeFile } from 'node:fs/promises';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { fileSink, fileSource } from '../../../src/index.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';
import { carry } from '../sql/harness/carry.js';
import { askDuckdb } from '../sql/duckdb/ask-duckdb.js';
import { leafPaths, optional, repeated, required, text } from './schema-elements.js';

const at = useTemporaryFolder();

/** A column `x` as older programs write it, whose bytes are those of a list as newer ones do. */
interface OldForm {
  readonly data: readonly unknown[];
  /** As it is written, and as the footer has it. */
  readonly written: readonly SchemaElement[];
  readonly footer: readonly SchemaElement[];
}

async function writeInput({ data, written, footer }: OldForm): Promise<void> {
  const schemaOf = (elements: readonly SchemaElement[]): SchemaElement[] => [
    { name: 'root', num_children: 2 },
    { name: 'email', ...text, ...optional },
    ...elements,
  ];
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({ writer: bytes, schema: schemaOf(written), statistics: false });
  await writer.write({
    columnData: [
      { name: 'email', data: data.map(() => 'a@x.example') },
      { name: 'x', data: [...data] },
    ],
  });
  // Nothing writes such schemas any more.
  writer.schema = schemaOf(footer);
  const paths = leafPaths(footer);
  for (const { columns } of writer.row_groups) {
    for (const [leaf, { meta_data: meta }] of columns.slice(1).entries()) {
      if (meta) meta.path_in_schema = [...(paths[leaf] ?? [])];
    }
  }
  await writer.finish();
  await writeFile(at('in.parquet'), bytes.getBytes());
}

const list = (outer: Partial<SchemaElement>): readonly SchemaElement[] => [
  { name: 'x', converted_type: 'LIST', num_children: 1, ...outer },
  { name: 'list', num_children: 1, ...repeated },
  { name: 'element', ...text, ...required },
];

describe('Parquet of a type that is not written any more', () => {
  it.each<[string, OldForm, readonly string[]]>([
    [
      'a repeated column',
      {
        data: [['a', 'b'], [], ['c']],
        written: list(required),
        footer: [{ name: 'x', ...text, ...repeated }],
      },
      ['["a","b"]', '[]', '["c"]'],
    ],
    [
      'a repeated column in a structure',
      {
        data: [['a', 'b'], [], ['c']],
        written: list(required),
        footer: [
          { name: 'x', num_children: 1, ...required },
          { name: 'tag', ...text, ...repeated },
        ],
      },
      ['{"tag":["a","b"]}', '{"tag":[]}', '{"tag":["c"]}'],
    ],
    [
      'a map without values',
      {
        data: [['a', 'b'], [], ['c']],
        written: list(optional),
        footer: [
          { name: 'x', converted_type: 'MAP', num_children: 1, ...optional },
          { name: 'key_value', num_children: 1, ...repeated },
          { name: 'key', ...text, ...required },
        ],
      },
      [
        '{"key_value":[{"key":"a"},{"key":"b"}]}',
        '{"key_value":[]}',
        '{"key_value":[{"key":"c"}]}',
      ],
    ],
  ])('is JSON, and that is reported before anything is sent: %s', async (_, form, values) => {
    await writeInput(form);
    const reported = await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')));
    expect(reported).toEqual([['x', 'json']]);
    expect(
      await askDuckdb(
        ':memory:',
        `SELECT email, coalesce(x::VARCHAR, '') AS x, typeof(x) AS type FROM '${at('out.parquet')}'`,
      ),
    ).toEqual(values.map((x) => ({ email: 'a@x.example', x, type: 'JSON' })));
  });

  it.each([
    ['an enumeration', "'b'::ENUM('a', 'b')"],
    ['a list of lists', '[[1], [], [NULL, 2]]'],
    ['a list of structures', "[{'a': 1, 'b': [MAP {'k': 1}]}]"],
    ['a map of maps', "MAP {'a': MAP {'b': NULL}}"],
  ])('is kept where it can be: %s', async (_, value) => {
    const query = `SELECT 'a@x.example' AS email, ${value} AS x UNION ALL SELECT 'b', NULL`;
    await askDuckdb(':memory:', `COPY (${query}) TO '${at('in.parquet')}'`);
    expect(await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')))).toEqual([]);
    const rows = (name: string) =>
      askDuckdb(':memory:', `SELECT x::VARCHAR AS x, typeof(x) AS type FROM '${at(name)}'`);
    expect(await rows('out.parquet')).toEqual(await rows('in.parquet'));
  });
});

describe('zeros with a sign', () => {
  const query = "SELECT f, d, l::VARCHAR AS l, s::VARCHAR AS s FROM '%'";
  // DuckDB's dictionary takes them for one value as well.
  const made = (path: string): string =>
    `COPY (SELECT 'a@x.example' AS email, x::FLOAT AS f, x AS d, [x, NULL] AS l, {'a': {'b': x}, 't': 'text'} AS s
       FROM (SELECT CASE i % 4 WHEN 0 THEN 0.0::DOUBLE WHEN 1 THEN '-0.0'::DOUBLE WHEN 2 THEN 'nan'::DOUBLE END AS x
         FROM range(64) r(i))) TO '${path}' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 1)`;

  it('stay as they are, in flat and in nested columns', async () => {
    await askDuckdb(':memory:', made(at('in.parquet')));
    await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')));
    const [given, copied] = await Promise.all(
      ['in.parquet', 'out.parquet'].map((name) =>
        askDuckdb(':memory:', query.replace('%', at(name))),
      ),
    );
    expect(given?.slice(0, 2)).toMatchObject([{ d: 0 }, { d: -0 }]);
    expect(copied).toEqual(given);
  });

  it('stay as they are as text and as JSON', async () => {
    await askDuckdb(':memory:', made(at('in.parquet')));
    await carry(fileSource(at('in.parquet')), fileSink(at('out.csv')));
    await carry(fileSource(at('in.parquet')), fileSink(at('out.jsonl')));
    await carry(fileSource(at('out.jsonl')), fileSink(at('back.parquet')));
    const asText = `SELECT d::DOUBLE AS d FROM read_csv('${at('out.csv')}', all_varchar = true) LIMIT 2`;
    const asJson = `SELECT d::DOUBLE AS d FROM '${at('back.parquet')}' LIMIT 2`;
    expect(await askDuckdb(':memory:', asText)).toEqual([{ d: 0 }, { d: -0 }]);
    expect(await askDuckdb(':memory:', asJson)).toEqual([{ d: 0 }, { d: -0 }]);
  });
});
