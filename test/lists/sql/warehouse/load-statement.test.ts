import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  loadStatement,
  loadTargets,
  type LoadTarget,
} from '../../../../src/lists/sql/warehouse/load-statement.js';
import { kindNames } from '../../../../src/lists/rows/values/kinds.js';
import { runInProcess } from '../../../cli/harness/run-in-process.js';
import { eventsOf } from '../../../cli/harness/logged-events.js';
import { rejection } from '../harness/rejection.js';
import { withFolder } from '../../../service/with-service.js';
import { parseScript } from './grammars.js';

const formats = ['csv', 'tsv', 'jsonl', 'parquet'] as const;
type Format = (typeof formats)[number];

const places: Readonly<Record<LoadTarget, string | undefined>> = {
  snowflake: '@crm.public.parts/2024/verified/',
  bigquery: 'gs://bucket/verified/',
  redshift: 's3://bucket/verified/',
  databricks: 's3://bucket/verified/',
  clickhouse: 's3://bucket/verified/',
  postgres: undefined,
  duckdb: undefined,
};

interface Manifest {
  readonly format: Format;
  readonly columns: readonly string[];
  readonly kinds: readonly object[];
  readonly parts: readonly { readonly name: string }[];
}

/** Kinds that every target has a type for, in parts of a format. */
function kindsFor(target: LoadTarget, format: Format): readonly object[] {
  const none: Partial<Record<LoadTarget, readonly string[]>> = {
    bigquery: ['uint64', 'interval'],
    redshift: ['uint32', 'uint64', 'time', 'uuid', 'interval'],
    databricks: ['time', 'interval'],
    snowflake: ['interval'],
    clickhouse: ['interval'],
  };
  const refused = format === 'parquet' ? (none[target] ?? []) : [];
  return kindNames
    .filter((name) => !refused.includes(name))
    .map((name) => (name === 'decimal' ? { name, precision: 38, scale: 10 } : { name }));
}

/** A folder of parts by what its manifest says. */
async function withParts(given: Partial<Manifest> = {}): Promise<string> {
  const folder = join(await withFolder(), 'verified');
  await mkdir(folder);
  const { format = 'csv' } = given;
  const packed = format === 'parquet' ? 'parquet' : `${format}.gz`;
  const part = (number: number) => ({
    name: `part-0000${number}.${packed}`,
    rows: 5,
    bytes: 50,
    sha256: '00',
  });
  const manifest = {
    sluice: 'parts 1',
    format,
    compression: format === 'parquet' ? null : 'gzip',
    header: format === 'csv' || format === 'tsv',
    ...(format === 'csv' && { delimiter: ';', quote: '"' }),
    ...(format === 'tsv' && { delimiter: '\t', quote: '"' }),
    columns: ['email'],
    kinds: (given.columns ?? ['email']).map(() => ({ name: 'text' })),
    rows: 10,
    bytes: 100,
    parts: [part(1), part(2)],
    ...given,
  };
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  return folder;
}

async function statement(
  target: LoadTarget,
  given: Partial<Manifest> = {},
  more: { readonly key?: string; readonly quoteNames?: boolean } = {},
): Promise<string> {
  const from = places[target];
  return loadStatement(await withParts(given), {
    table: 'crm.contacts',
    ...more,
    for: target,
    ...(from !== undefined && { from }),
  });
}

const merging = loadTargets.filter((target) => target !== 'clickhouse');
const warehouses = loadTargets.filter((target) => target !== 'postgres');
const cases = loadTargets.flatMap((target) =>
  formats
    .filter((format) => target !== 'postgres' || format !== 'parquet')
    .map((format) => [target, format] as const),
);

describe('a load statement', () => {
  test.each(cases)('is of the grammar of %s, for %s and all kinds', async (target, format) => {
    const kinds = kindsFor(target, format);
    const columns = kinds.map((_, at) => `column ${at} of us`);
    const script = await statement(target, { format, columns, kinds });
    await parseScript(script, target);
    for (const column of columns) expect(script).toContain(column);
  });

  test.each(merging)('that merges by key is of the grammar of %s', async (target) => {
    const columns = ['id', 'email', 'email_valid'];
    const kinds = ['text', 'text', 'boolean'].map((name) => ({ name }));
    const script = await statement(target, { columns, kinds }, { key: 'id' });
    await parseScript(script, target);
    // What is there stays there: only the table beside it is dropped.
    const dropped = [...script.matchAll(/^DROP TABLE .*$/gm)].map(([line]) => line);
    expect(dropped).toHaveLength(2);
    for (const line of dropped) expect(line).toContain('sluice_load_contacts');
    expect(script).toMatch(/MERGE INTO [^]*WHEN MATCHED[^]*WHEN NOT MATCHED/);
    await expect(
      parseScript(script.replace('WHEN MATCHED', 'IF MATCHED'), target),
    ).rejects.toThrow();
  });

  test.each(warehouses)(
    'that is damaged is refused by the grammar it is held against: %s',
    async (target) => {
      for (const format of formats) {
        const script = (await statement(target, { format })).replaceAll(/^--.*\n/gm, '');
        const damages = [
          script.replace('CREATE TABLE', 'CREATE TABEL'),
          script.replace(/(\([^()]*)\)/, '$1'),
          script.replace(/COPY|INSERT|LOAD/, 'BRING'),
          script.replace(/\bFROM\b/, 'FORM'),
          script.replace(/\bFROM\b/, ''),
          script.replace(/['"`]/, ''),
          script.replace(/;\s*$/, ') ;'),
          script.replace(/,(?=[^,]*$)|(?<=\()'/, ',,'),
        ];
        for (const damaged of damages) {
          if (damaged === script) continue;
          await expect(parseScript(damaged, target), damaged).rejects.toThrow();
        }
      }
    },
  );

  test.each([
    ['snowflake', '"Say ""hi"" `x`" VARCHAR'],
    ['redshift', '"Say ""hi"" `x`" VARCHAR(65535)'],
    ['databricks', '`Say "hi" ``x``` STRING'],
    ['clickhouse', '`Say "hi" \\`x\\`` Nullable(String)'],
    ['duckdb', '"Say ""hi"" `x`" VARCHAR'],
    ['postgres', '"Say ""hi"" `x`" text'],
  ] as const)('has names quoted as %s does it', async (target, definition) => {
    const script = await statement(target, { columns: ['Say "hi" `x`'] });
    expect(script).toContain(definition);
    // Names with backslashes in quotes are no standard that the grammar has.
    if (target !== 'clickhouse') await parseScript(script, target);
  });

  test('has the types of digits and clocks, and text where there is none, which it says', async () => {
    const kinds = [
      { name: 'decimal', precision: 10, scale: 2 },
      { name: 'decimal', precision: 50, scale: 2 },
      { name: 'timestamp', scale: 9 },
      { name: 'timestamptz' },
      { name: 'uint64' },
    ];
    const columns = ['price', 'large', 'fine', 'moment', 'count'];
    const types = async (target: LoadTarget): Promise<readonly string[]> => {
      const script = await statement(target, { columns, kinds });
      return columns.map(
        (name) => new RegExp(`^ +["\`]?${name}["\`]? (.+?),?$`, 'm').exec(script)?.[1] ?? '',
      );
    };
    expect(await types('snowflake')).toEqual([
      'NUMBER(10, 2)',
      'VARCHAR',
      'TIMESTAMP_NTZ(9)',
      'TIMESTAMP_TZ(6)',
      'INTEGER',
    ]);
    expect(await types('bigquery')).toEqual([
      'NUMERIC(10, 2)',
      'STRING',
      'STRING',
      'TIMESTAMP',
      'NUMERIC(20)',
    ]);
    expect(await types('redshift')).toEqual([
      'DECIMAL(10, 2)',
      'VARCHAR(65535)',
      'VARCHAR(65535)',
      'TIMESTAMPTZ',
      'DECIMAL(20, 0)',
    ]);
    expect(await types('databricks')).toEqual([
      'DECIMAL(10, 2)',
      'STRING',
      'STRING',
      'TIMESTAMP',
      'DECIMAL(20, 0)',
    ]);
    expect(await statement('bigquery', { columns, kinds })).toContain(
      '-- Column "large" is loaded as text: decimal(50,2).',
    );
  });

  test('says where it was not run, and nothing of it where the tests run such', async () => {
    for (const target of loadTargets) {
      const isRun = ['clickhouse', 'postgres', 'duckdb'].includes(target);
      expect((await statement(target)).includes('not run there')).toBe(!isRun);
    }
  });

  test('names the parts of the manifest, and no others', async () => {
    const mark = 'part-1f0c9a3e-';
    const parts = [1, 2].map((number) => ({
      name: `${mark}0000${number}.csv.gz`,
      rows: 5,
      bytes: 50,
      sha256: '00',
    }));
    for (const target of loadTargets) {
      const script = await statement(target, { parts });
      expect(script).toContain(mark);
      expect(script).not.toMatch(/part-[*0{]/);
    }
  });

  test('names a thousand parts at once for Snowflake, and loads all of them or none', async () => {
    const parts = Array.from({ length: 1500 }, (_, at) => ({
      name: `part-${String(at + 1).padStart(5, '0')}.csv.gz`,
      rows: 1,
      bytes: 1,
      sha256: '00',
    }));
    const script = await statement('snowflake', { parts });
    expect(script.match(/COPY INTO/g)).toHaveLength(2);
    expect(script).toMatch(/BEGIN TRANSACTION;\nCOPY[^]*COMMIT;\n$/);
    await parseScript(script, 'snowflake');
  });
});

describe('what cannot be loaded is refused by name', () => {
  test.each(['bigquery', 'redshift', 'databricks', 'duckdb'] as const)(
    'columns that differ in case only, for %s',
    async (target) => {
      const error = await rejection(statement(target, { columns: ['Email', 'email'] }));
      expect(error).toMatchObject({ code: 'invalid_option' });
      expect(error).toMatchObject({ column: 'email', fault: 'repeated' });
      expect(error.message).toContain('"Email"');
    },
  );

  test.each(['snowflake', 'clickhouse', 'postgres'] as const)(
    'which are two columns for %s',
    async (target) => {
      const columns = ['Email', 'email'];
      await parseScript(await statement(target, { columns }, { quoteNames: true }), target);
    },
  );

  test('which are written without quotes for snowflake where that is their name in upper case', async () => {
    const columns = ['id', 'Order', 'Home address'];
    const script = await statement('snowflake', { columns });
    await parseScript(script, 'snowflake');
    expect(script).toContain('COPY INTO crm.contacts (id, "ORDER", "Home address")');
    const exact = await statement('snowflake', { columns }, { quoteNames: true });
    expect(exact).toContain('COPY INTO "crm"."contacts" ("id", "Order", "Home address")');
  });

  const unfit = [{ option: 'sink.format', column: 'email', fault: 'unsupported' }] as const;

  test.each([
    ['postgres', { columns: ['x'.repeat(64)] }, { fault: 'too_long' }, /\b63\b/],
    ['redshift', { columns: ['ü'.repeat(64)] }, { fault: 'too_long' }, /\b127\b/],
    ['bigquery', { columns: ['Who (name)'] }, { fault: 'unsupported', column: 'Who (name)' }],
    ['snowflake', { columns: ['a\nb'] }, { fault: 'unsupported', column: 'a\nb' }],
    ['databricks', { format: 'parquet', kinds: [{ name: 'time' }] }, ...unfit, /\btime\b/],
    ['redshift', { format: 'parquet', kinds: [{ name: 'uint64' }] }, ...unfit, /\buint64\b/],
    ['bigquery', { format: 'parquet', kinds: [{ name: 'json', nested: true }] }, ...unfit],
    ['postgres', { format: 'parquet' }, { option: 'sink.format', fault: 'unsupported' }],
    ['redshift', { quote: null }, { option: 'sink.quote', fault: 'unsupported' }],
  ] as const)('for %s: %j', async (target, given, fields, named = /(?:)/) => {
    const error = await rejection(statement(target, given as Partial<Manifest>));
    expect(error).toMatchObject({ code: 'invalid_option', ...fields });
    expect(error.message).toMatch(named);
  });

  test('a key that no column has, and one where nothing is merged', async () => {
    const misspelt = await rejection(statement('snowflake', {}, { key: 'emial' }));
    const fields = { code: 'column_not_found', option: 'key', column: 'emial' };
    expect(misspelt).toMatchObject(fields);
    expect(misspelt.message).toMatch(/: email$/);
    const clickhouse = await rejection(statement('clickhouse', {}, { key: 'email' }));
    expect(clickhouse).toMatchObject({ option: 'key', fault: 'unsupported' });
    expect(clickhouse.message).toContain('ReplacingMergeTree');
  });

  test.each([
    ['snowflake', undefined, 'missing', /`from` @my_stage\b/],
    ['snowflake', 's3://bucket/verified/', 'unsupported', /@my_stage\b/],
    ['bigquery', 's3://bucket/', 'unsupported', /gs:\S+$/],
    ['redshift', "s3://bucket/it's/", 'unsupported', /s3:\S+$/],
    ['duckdb', 'verified[1]', 'unsupported', /"verified\[1\]"/],
  ] as const)('a place, for %s: %s', async (target, from, fault, named) => {
    const folder = await withParts();
    const options = { for: target, ...(from !== undefined && { from }) };
    const error = await rejection(loadStatement(folder, options));
    expect(error).toMatchObject({ option: 'from', fault });
    expect(error.message).toMatch(named);
  });
});

describe('sluice load-statement', () => {
  test('prints the statement, for a table by the folder’s name', async () => {
    const folder = await withParts();
    const ended = await runInProcess(['load-statement', `${folder}/`, '--for', 'duckdb']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout.toString()).toBe(await loadStatement(folder, { for: 'duckdb' }));
    expect(ended.stdout.toString()).toContain('CREATE TABLE "verified" (\n  "email" VARCHAR\n);');
  });

  test.each([
    ['no target', [], { option: '--for', fault: 'missing' }],
    ['a misspelt one', ['--for', 'snowflak'], { option: '--for' }],
    ['a folder without a manifest', ['--for', 'duckdb'], { fault: 'missing' }],
  ])('ends with 2 for %s', async (_, args, fields) => {
    const folder = await withFolder();
    const ended = await runInProcess(['load-statement', folder, ...args]);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'invalid_option', ...fields }]);
    expect(ended.code).toBe(2);
  });
});
