import { writeFile } from 'node:fs/promises';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { fileSink, fileSource, type Source, type Summary } from '../../../src/index.js';
import { limitedSource } from '../../../src/lists/rows/sources/derived-sources.js';
import type { Given } from '../../platform/given.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';
import { askDuckdb } from '../sql/duckdb/ask-duckdb.js';
import { startVerifying } from '../sql/harness/verify-rows.js';

const at = useTemporaryFolder();
const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' } as const;

/** Row groups of 12,288, 12,288 and 424 rows, with values of many types. */
const list = `select
    if(i % 11 = 0, null, 'good' || (i % 900) || '@sluice.test') as email,
    'id-' || i as id,
    if(i % 3 = 0, null, ['BE', 'NL'][1 + i % 2]) as country,
    if(i % 2 = 0, -0.0::double, 0.0::double) as zero,
    (i / 100)::decimal(12, 2) as amount,
    make_timestamp(1_700_000_000_000_000 + i) as at,
    case when i % 5 = 0 then null else ['a' || i, null, ''] end as tags,
    {'a': i, 'b': {'c': 'x' || i}} as nested,
    i::varchar::blob as bytes
  from range(25_000) t(i)`;

async function writeList(codec: string): Promise<void> {
  await askDuckdb(
    ':memory:',
    `copy (${list}) to '${at('in.parquet')}' (format parquet, codec '${codec}', row_group_size 12288)`,
  );
}

/** Rows of the output that are not as in the input, by their places, and how the output's column \`id\` is stored. */
async function compare(rows: string): Promise<unknown> {
  const numbered = (query: string) =>
    `select row_number() over () as line, r::varchar as r from (${query}) r`;
  const [{ differences } = {}] = (await askDuckdb(
    ':memory:',
    `select count(*)::integer as differences
       from (${numbered(`select * from '${at('in.parquet')}' ${rows}`)}) a
       full join (${numbered(`select columns(c -> c not like 'email\\_%' escape '\\') from '${at('out.parquet')}'`)}) b using (line)
       where a.r is distinct from b.r`,
  )) as { differences?: number }[];
  const groups = await askDuckdb(
    ':memory:',
    `select row_group_num_rows::integer as rows, compression as codec
       from parquet_metadata('${at('out.parquet')}') where path_in_schema = 'id' order by row_group_id`,
  );
  return { differences, groups };
}

interface CountryColumns {
  readonly countryColumn?: string | undefined;
  readonly countryFrom?: string | undefined;
}

async function verifyInto(
  source: Source,
  options:
    | { readonly email: readonly string[] }
    | ({ readonly phone: readonly string[] } & Given<CountryColumns>) = { email: ['email'] },
): Promise<Summary> {
  const { run } = await startVerifying();
  const columns = ['verification', 'valid'] as const;
  return run({ source, sink: fileSink(at('out.parquet')), columns, ...options });
}

describe('row groups from Parquet to Parquet', () => {
  it.each(['zstd', 'uncompressed'])(
    'are copied as they are, and small ones written anew: %s',
    async (codec) => {
      await writeList(codec);
      await verifyInto(fileSource(at('in.parquet')));
      expect(await compare('')).toEqual({
        differences: 0,
        groups: [
          { rows: 12_288, codec: codec.toUpperCase() },
          { rows: 12_288, codec: codec.toUpperCase() },
          { rows: 424, codec: 'SNAPPY' },
        ],
      });
    },
  );

  it('tell their sizes, and have no dictionary where it was at 0', async () => {
    const rows = 10_000;
    const bytes = new ByteWriter();
    const writer = new ParquetWriter({
      writer: bytes,
      schema: [
        { name: 'root', num_children: 2 },
        { name: 'email', ...text },
        { name: 'id', ...text },
      ],
    });
    const id = Array.from({ length: rows }, (_, row) => `id-${row}`);
    const email = id.map((_, row) => `good${row % 9}@sluice.test`);
    await writer.write({
      columnData: [
        { name: 'email', data: email, encoding: 'PLAIN' },
        { name: 'id', data: id, encoding: 'PLAIN' },
      ],
      rowGroupSize: rows,
    });
    // As some writers say that there is none.
    for (const { meta_data: meta } of writer.row_groups.flatMap(({ columns }) => columns)) {
      if (meta) meta.dictionary_page_offset = 0n;
    }
    await writer.finish();
    await writeFile(at('in.parquet'), bytes.getBytes());
    await verifyInto(fileSource(at('in.parquet')));
    expect(await compare('')).toEqual({ differences: 0, groups: [{ rows, codec: 'SNAPPY' }] });
    const sizes = await askDuckdb(
      ':memory:',
      `select any_value(row_group_bytes) = sum(total_uncompressed_size) as is_whole
         from parquet_metadata('${at('out.parquet')}')`,
    );
    expect(sizes).toEqual([{ is_whole: true }]);
  });

  it('are written anew from where the list ends within one', async () => {
    await writeList('zstd');
    await verifyInto(limitedSource(fileSource(at('in.parquet')), 13_000));
    expect(await compare('limit 13_000')).toEqual({
      differences: 0,
      groups: [
        { rows: 12_288, codec: 'ZSTD' },
        { rows: 712, codec: 'SNAPPY' },
      ],
    });
  });
});

describe('numbers that do not fit their country, from Parquet to Parquet', () => {
  it.each([
    { countries: { countryColumn: 'country' }, unfit: 2, notUnderstood: 1 },
    { countries: { countryFrom: 'calling' }, unfit: 6 },
    { countries: { countryColumn: 'country', countryFrom: 'calling' }, unfit: 2, notUnderstood: 1 },
  ])(
    'are examined with the countries of their rows: $countries',
    async ({ countries, ...seen }) => {
      await askDuckdb(
        ':memory:',
        `copy (select '415555' as phone, '+33 1 42 68 53 00' as calling,
               case i when 0 then 'Atlantis' when 1 then null when 2 then 'FR' else 'DE' end as country
             from range(6) t(i))
         to '${at('in.parquet')}' (format parquet)`,
      );
      const source = fileSource(at('in.parquet'));
      const summary = await verifyInto(source, { phone: ['phone'], ...countries });
      expect({
        rows: summary.rows,
        unfit: summary.columns[0]?.unfit?.cells,
        notUnderstood: summary.countries?.not_understood,
      }).toEqual({ rows: 6, notUnderstood: undefined, ...seen });
    },
  );
});

describe('what a Parquet file notes of itself', () => {
  const notesOf = async (path: string) => {
    const notes = (await askDuckdb(
      ':memory:',
      `select decode(key) as key, decode(value) as value from parquet_kv_metadata('${path}')`,
    )) as { key: string; value: string }[];
    return Object.fromEntries(notes.map(({ key, value }) => [key, value]));
  };

  it('stays, but for schemas that lack the new columns', async () => {
    const notes = {
      pandas: '{"index_columns":["id"]}',
      geo: '{"version":"1.1.0","primary_column":"at","columns":{}}',
      'ARROW:schema': 'AAAA',
      'org.apache.spark.version': '3.5.1',
      'org.apache.spark.sql.parquet.row.metadata': '{"type":"struct","fields":[]}',
      'exported by': 'Mäx',
    };
    const given = Object.entries(notes).map(([key, value]) => `"${key}": '${value}'`);
    await askDuckdb(
      ':memory:',
      `copy (select 'good@sluice.test' as email, 7 as id) to '${at('in.parquet')}'
         (format parquet, kv_metadata {${given.join(', ')}})`,
    );
    expect(await notesOf(at('in.parquet'))).toEqual(notes);
    await verifyInto(fileSource(at('in.parquet')));
    expect(await notesOf(at('out.parquet'))).toEqual({
      pandas: notes.pandas,
      geo: notes.geo,
      'org.apache.spark.version': '3.5.1',
      'exported by': 'Mäx',
    });
  });
});
