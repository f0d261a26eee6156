import { readFile, writeFile } from 'node:fs/promises';
import { parquetMetadata, parquetReadObjects, type SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import { checkPage, DamagedParquet, forWriter } from '../../../src/lists/parquet/hyparquet.js';
import {
  int96Nanos,
  logicalReader,
  nestedReader,
} from '../../../src/lists/parquet/parquet-values.js';
import { estimateRun } from '../../../src/engine/runs/estimate.js';
import { askDuckdb } from '../sql/duckdb/ask-duckdb.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';
import { carry } from '../sql/harness/carry.js';
import { addedColumnsOf } from '../rows/added-columns.js';
import { writeRows } from '../rows/read-rows.js';
import { optional } from './schema-elements.js';

const at = useTemporaryFolder();

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
  seen: [1_700_000_000_123_456n, 1_700_006_400_000_000n, null],
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

async function copy(output: string, write = writeInput): Promise<Buffer> {
  await write();
  const reading = await fileSource(at('in.parquet')).open({ wanted: () => [0] });
  const opening = {
    reading,
    verified: [0],
    added: [addedColumnsOf('email', 'valid')],
    cellsOf: () => [true],
  };
  await writeRows(fileSink(at(output)), opening);
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

const nested = `SELECT 'a@example.com' AS email,
  {'sum': 12345678901234567890123456.0123456789::DECIMAL(38,10), 'seen': TIMESTAMP '2024-02-29 10:20:30.123456',
   'day': DATE '1600-01-01', 'bits': '\\xFF\\x00'::BLOB, 'id': '00000000-0000-0000-0000-0000000000ff'::UUID} AS one,
  [TIMESTAMPTZ '2024-02-29 10:20:30.123456+00', NULL] AS list,
  MAP {10: 1.10::DECIMAL(5,2), 2: NULL} AS map,
  {'map': MAP {DATE '2024-02-29': [1, NULL]}} AS deep
  UNION ALL SELECT NULL, NULL, [], MAP {}, {'map': NULL}`;

async function writeNested(): Promise<void> {
  await askDuckdb(':memory:', `COPY (${nested}) TO '${at('in.parquet')}'`);
}

describe('nested Parquet', () => {
  it('keeps all digits of what is in lists, structures and maps, and the types of keys', async () => {
    await copy('out.parquet', writeNested);
    const columnsOf = (file: string) => `SELECT email, one, list, map, deep FROM '${at(file)}'`;
    for (const [left, right] of [
      ['in.parquet', 'out.parquet'],
      ['out.parquet', 'in.parquet'],
    ] as const) {
      expect(
        await askDuckdb(':memory:', `${columnsOf(left)} EXCEPT ALL ${columnsOf(right)}`),
      ).toEqual([]);
    }
    const typesOf = (file: string) => askDuckdb(':memory:', `DESCRIBE ${columnsOf(file)}`);
    expect(await typesOf('out.parquet')).toEqual(await typesOf('in.parquet'));
  });

  it('is JSON with the same digits where cells are text', async () => {
    const [, row] = (await copy('out.csv', writeNested)).toString().split('\n');
    expect(row?.replaceAll('""', '"')).toBe(
      'a@example.com,"{"sum":12345678901234567890123456.0123456789,"seen":"2024-02-29T10:20:30.123456","day":"1600-01-01","bits":"/wA=","id":"00000000-0000-0000-0000-0000000000ff"}",' +
        '"["2024-02-29T10:20:30.123456Z",null]","{"2":null,"10":1.10}","{"map":{"2024-02-29":[1,null]}}",true',
    );
  });
});

it('tells numbers without a form in JSON from nulls in a list, as lists of a DuckDB database', async () => {
  const query = "SELECT ['1.5', 'nan', '-inf', NULL]::DOUBLE[] AS list";
  const write = async () => {
    await askDuckdb(':memory:', `COPY (${query}) TO '${at('in.parquet')}'`);
  };
  const [row = ''] = (await copy('out.jsonl', write)).toString().split('\n');
  expect(JSON.parse(row)).toMatchObject({ list: [1.5, 'NaN', '-Infinity', null] });
});

describe('lists and groups in each other', () => {
  it('are there, empty, or null at every level, as DuckDB has them', async () => {
    const rows = `SELECT 'a@example.com' AS email, * FROM (VALUES
      ([{'n': 1, 'in': [[1, NULL], NULL, []], 'of': {'x': {'y': 'a'}, 'z': [{'w': 1}, NULL]}}, NULL, {'n': NULL, 'in': NULL, 'of': NULL}]),
      (NULL), ([]), ([NULL]),
      ([{'n': 2, 'in': [], 'of': {'x': NULL, 'z': []}}, {'n': 3, 'in': [NULL], 'of': {'x': {'y': NULL}, 'z': NULL}}])
    ) AS t(deep)`;
    const write = async () => {
      await askDuckdb(':memory:', `COPY (${rows}) TO '${at('in.parquet')}'`);
    };
    const cells = (await copy('out.jsonl', write)).toString().trimEnd().split('\n');
    const wanted = await askDuckdb(
      ':memory:',
      `SELECT to_json(deep)::VARCHAR AS deep FROM (${rows})`,
    );
    expect(cells.map((line) => (JSON.parse(line) as { deep: unknown }).deep)).toEqual(
      wanted.map((row) => JSON.parse((row as { deep: string | null }).deep ?? 'null') as unknown),
    );
    await copy('out.parquet', write);
    const of = (file: string) => `SELECT deep FROM '${at(file)}'`;
    expect(
      await askDuckdb(':memory:', `${of('in.parquet')} EXCEPT ALL ${of('out.parquet')}`),
    ).toEqual([]);
  });
});

async function writeColumns(
  own: readonly (readonly [SchemaElement, unknown[]])[],
  change?: (writer: ParquetWriter) => void,
): Promise<void> {
  const bytes = new ByteWriter();
  const root = { name: 'root', num_children: own.length };
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [root, ...own.map(([element]) => element)],
  });
  await writer.write({ columnData: own.map(([{ name }, data]) => ({ name, data })) });
  change?.(writer);
  await writer.finish();
  await writeFile(at('in.parquet'), bytes.getBytes());
}

describe('what a page says of itself', () => {
  const parts = {
    pages: { parquetHeader: () => ({ data_page_header_v2: { is_compressed: false } }) },
  };
  it.each([
    ['parquet-cpp version 1.5.1-SNAPSHOT', true],
    ['parquet-cpp-arrow version 2.0.0', true],
    ['parquet-cpp-arrow version 3.0.0', false],
    [undefined, false],
  ])('%s: whether it is compressed', (createdBy, isCompressed) => {
    const { pages } = forWriter(parts as never, createdBy);
    expect(pages.parquetHeader({} as never).data_page_header_v2?.is_compressed).toBe(isCompressed);
  });

  it('is refused where a part would be shorter than nothing', () => {
    const sizes = {
      compressed_page_size: 9,
      uncompressed_page_size: 9,
      type: 'DATA_PAGE_V2',
    } as const;
    const second = { num_values: 2, num_nulls: 0, repetition_levels_byte_length: 0 };
    const page = (levels: number) =>
      checkPage({
        ...sizes,
        data_page_header_v2: { ...second, definition_levels_byte_length: levels },
      } as never);
    expect(() => page(2)).not.toThrow();
    expect(() => page(-1)).toThrow(DamagedParquet);
    expect(() => page(10)).toThrow(DamagedParquet);
  });
});

describe('a file of pyarrow', () => {
  it('has what is in lists also where its pages count no null for an empty list', async () => {
    // data_page_version='2.0'
    const file =
      'UEFSMRUGFZoBFZoBXBUKFQAVChUAFQQVABIcAAAACgELAAAAYUB4LmV4YW1wbGULAAAAYUB4LmV4YW1wbGULAAAAYUB4LmV4YW1wbGULAAAAYUB4LmV4YW1wbGULAAAAYUB4LmV4YW1wbGUVBhUkFSRcFQ4VBBUKFQAVCBUEEhwAAAADIgNkIA4BAAAAAgAAAAMAAAAVBBlsNQAYBnNjaGVtYRUEABUMJQIYBWVtYWlsJQBMHAAAADUCGAR0YWdzFQIVBkw8AAAANQQYBGxpc3QVAgA1AhgHZWxlbWVudBUCABUCJQIYAXgAFgoZHBksJgAcFQwZJQYAGRgFZW1haWwVABYKFs4BFs4BJghJHBUAFQAVAgA8Fm4ZBhkmAAoAAAAmABwVAhklBgAZSAR0YWdzBGxpc3QHZWxlbWVudAF4FQAWDhZUFlQm1gFJHBUAFQAVAgA8KSYKBBlWAgICAgYAAAAWogIWCiYIFqICACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNS4wLjEZLBwAABwAAAAFAQAAUEFSMQ==';
    const write = () => writeFile(at('in.parquet'), file, 'base64');
    const lines = (await copy('out.jsonl', write)).toString().trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { tags: unknown }).tags)).toEqual([
      [{ x: 1 }, { x: 2 }],
      [],
      null,
      [null, { x: 3 }],
      [{ x: null }],
    ]);
  });

  it('says that it is encrypted also where its footer is not', async () => {
    // plaintext_footer=True
    const file =
      'UEFSMS8AAAA+W0/+1dsOC2VoQmmHPO0RUJiGbjoe8C0pxEikWOSNMzj5Oapl2S5tEdh+eqFbYzEAAAAgwhnEcpF0lu/UQrV0zquL5XMBDhgjwvaUTj7uDE83OWvZ6AgcLGYP7JcK7JMUJjnuFQQZLDUAGAZzY2hlbWEVAgAVDCUCGAVlbWFpbCUATBwAAAAWAhkcGRwmABwVDBklBgAZGAVlbWFpbBUAFgIWkAEW0AEmCHwWFhkGGSYAAgAAXCwZGAVlbWFpbBiXAXsia2V5TWF0ZXJpYWxUeXBlIjoiUEtNVDEiLCJpbnRlcm5hbFN0b3JhZ2UiOnRydWUsImlzRm9vdGVyS2V5IjpmYWxzZSwibWFzdGVyS2V5SUQiOiJjIiwid3JhcHBlZERFSyI6IktoaitHeEZYYzlmdEtDbGQ4bVByM3c9PSIsImRvdWJsZVdyYXBwaW5nIjpmYWxzZX0AABhOSgAAACQFITijHz1dxr5td7Llj5fNuzj9DnBx4/rlTmsMwpzsj6SzjUAfavJREAZXwuGrY4Wbvan0d6zX0/qHPXFQDkc7LyS41vqjOFzVABaQARYCJggW0AEUAAAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjUuMC4xGRwcAAAcHCgIMf3KhT9h+KESAAAYywF7ImtleU1hdGVyaWFsVHlwZSI6IlBLTVQxIiwiaW50ZXJuYWxTdG9yYWdlIjp0cnVlLCJpc0Zvb3RlcktleSI6dHJ1ZSwia21zSW5zdGFuY2VJRCI6IkRFRkFVTFQiLCJrbXNJbnN0YW5jZVVSTCI6IkRFRkFVTFQiLCJtYXN0ZXJLZXlJRCI6ImYiLCJ3cmFwcGVkREVLIjoiN0o1aTAwTjlOWE9rMXdkWHlYQ3kvQT09IiwiZG91YmxlV3JhcHBpbmciOmZhbHNlfQBxbxUsDarhduq1HLdQNezZ63nU7Rt460Bs4rkkdgIAAFBBUjE=';
    await writeFile(at('in.parquet'), file, 'base64');
    await expect(fileSource(at('in.parquet')).open({ wanted: () => [0] })).rejects.toThrow(
      'a column is encrypted',
    );
  });
});

describe('columns of one name', () => {
  it('keep each its own values', async () => {
    const column = (name: string, data: unknown[]) =>
      [{ name, type: 'INT64', ...optional }, data] as const;
    const write = () =>
      writeColumns(
        [column('n', [1n, 2n]), column('between', [3n, 4n]), column('m', [5n, 6n])],
        (writer) => {
          const last = writer.schema.at(-1);
          if (last) last.name = 'n';
          for (const { columns: chunks } of writer.row_groups) {
            const data = chunks.at(-1)?.meta_data;
            if (data) data.path_in_schema = ['n'];
          }
        },
      );
    const lines = (await copy('out.csv', write)).toString().split('\n');
    expect(lines.slice(1, 3)).toEqual(['1,3,5,true', '2,4,6,true']);
  });
});

describe('rows that a footer counts', () => {
  const write = (rows: bigint) =>
    writeColumns([[{ name: 'n', type: 'INT64', ...optional }, [1n, null]]], (writer) => {
      writer.num_rows = rows;
    });

  it('are those of its row groups where it counts none', async () => {
    expect((await copy('out.csv', () => write(0n))).toString()).toBe(
      'n,email_valid\n1,true\n,true\n',
    );
  });

  it('are refused before the first row where they are others', async () => {
    await write(7n);
    await expect(fileSource(at('in.parquet')).open({ wanted: () => [0] })).rejects.toMatchObject({
      code: 'input_malformed',
      fault: 'damaged',
    });
  });
});

/** Columns of times as older programs store them: nanoseconds of a day, and the Julian day. */
async function writeOldTimes(...days: readonly number[]): Promise<void> {
  const times = days.map((day) => {
    const bytes = new Uint8Array(12);
    const view = new DataView(bytes.buffer);
    view.setBigInt64(0, 123_456_789n, true);
    view.setInt32(8, day, true);
    return bytes;
  });
  const form = (time: Partial<SchemaElement>): SchemaElement[] => [
    { name: 'root', num_children: 3 },
    { name: 'email', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
    { name: 'at', ...time, ...optional },
    { name: 'in', num_children: 1, ...optional },
    { name: 'at', ...time, ...optional },
  ];
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: form({ type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12 }),
    statistics: false,
  });
  await writer.write({
    columnData: [
      { name: 'email', data: times.map(() => 'a@example.com') },
      { name: 'at', data: times },
      { name: 'in', data: times.map((time) => ({ at: time })) },
    ],
  });
  // The bytes are the same: nothing writes the type any more.
  writer.schema = form({ type: 'INT96' });
  for (const { columns: chunks } of writer.row_groups) {
    for (const { meta_data: data } of chunks) {
      if (data?.type === 'FIXED_LEN_BYTE_ARRAY') data.type = 'INT96';
    }
  }
  await writer.finish();
  await writeFile(at('in.parquet'), bytes.getBytes());
}

describe('times of 96 bits', () => {
  const leapDay2024 = 2_460_370;

  it('keep their nanoseconds, in 64 bits and as text', async () => {
    const write = () => writeOldTimes(leapDay2024, leapDay2024 - 1);
    const csv = (await copy('out.csv', write)).toString().split('\n');
    expect(csv[1]).toBe(
      'a@example.com,2024-02-29T00:00:00.123456789,"{""at"":""2024-02-29T00:00:00.123456789""}",true',
    );
    await copy('out.parquet', write);
    expect(
      await askDuckdb(
        ':memory:',
        `SELECT DISTINCT typeof("at") AS type, "at"::VARCHAR AS flat, "in"."at"::VARCHAR AS nested FROM '${at('out.parquet')}' ORDER BY 2`,
      ),
    ).toEqual(
      ['2024-02-28 00:00:00.123456789', '2024-02-29 00:00:00.123456789'].map((time) => ({
        type: 'TIMESTAMP_NS',
        flat: time,
        nested: time,
      })),
    );
  });

  it('are refused in the first reading where no type of the output holds them', async () => {
    await writeOldTimes(5_373_484);
    const reading = await fileSource(at('in.parquet')).open({ wanted: () => [0] });
    const validate = await fileSink(at('out.parquet')).validate?.(reading, {
      verified: [0],
      added: [addedColumnsOf('email', 'valid')],
      samples: [],
    });
    await expect(async () => {
      for await (const chunk of reading.chunks) validate?.(chunk);
    }).rejects.toMatchObject({ fault: 'unsupported', column: 'at' });
  });
});

describe('Parquet to CSV', () => {
  it('prints what values stand for, to the last digit', async () => {
    expect((await copy('out.csv')).toString()).toBe(
      [
        'email,money,seen,day,tags,count,email_valid',
        'a@example.com,12345678901234.5678,2023-11-14T22:13:20.123456Z,2024-02-29,"[""x"",""y""]",1152921504606846977,true',
        ',-0.0005,2023-11-15T00:00:00.000Z,,[],7,true',
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
    const logical = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' } as const;
    const moment = { type: 'INT64', logical_type: logical } as const;
    // The infinity of some programs.
    expect(read(moment, 2n ** 63n - 1n)).toBe('106751991167T07:12:55.807Z');
  });

  it('is an empty list where it has to be one, and a null where it is a group without anything in it', () => {
    const list = { repetition_type: 'REQUIRED', converted_type: 'LIST', num_children: 1 } as const;
    const array = { name: 'array', type: 'INT32', repetition_type: 'REPEATED' } as const;
    expect(nestedReader([{ name: 'a', ...list }, array])(null)).toEqual([]);
    const group = { ...optional, num_children: 1 };
    const leaf = { name: 'c', type: 'INT32', ...optional } as const;
    const read = nestedReader([{ name: 'a', ...group }, { name: 'b', ...group }, leaf]);
    expect(read({})).toEqual({ b: null });
    expect(read({ b: { c: 1 } })).toEqual({ b: { c: 1 } });
  });
});

it.each([
  ['FLOAT', undefined],
  ['DOUBLE', 1],
] as const)(
  'has phone numbers of %s as they were written, or refuses them',
  async (type, addresses) => {
    const made = `SELECT 14155552671::${type} AS tel`;
    await askDuckdb(':memory:', `COPY (${made}) TO '${at('in.parquet')}' (FORMAT parquet)`);
    const estimate = estimateRun({ source: at('in.parquet'), phone: ['tel'], country: 'US' });
    if (addresses === undefined) {
      await expect(estimate).rejects.toMatchObject({ code: 'input_malformed', column: 'tel' });
    } else expect((await estimate).phone).toMatchObject({ addresses });
  },
);

it('prints single-precision numbers as other programs do, flat and nested', async () => {
  const floats = '[0.1, 3.4028235e38, -2.5, 16777217, 1234.567, 1e-7, 0.33333334]::FLOAT[]';
  const made = `SELECT 'a@x.example' AS email, unnest(${floats}) AS f`;
  await askDuckdb(
    ':memory:',
    `COPY (SELECT *, [f] AS l FROM (${made})) TO '${at('in.parquet')}' (FORMAT parquet)`,
  );
  await carry(fileSource(at('in.parquet')), fileSink(at('out.csv')));
  const printed = `SELECT f::VARCHAR AS f, f::DOUBLE AS d FROM '${at('in.parquet')}'`;
  const written = `SELECT f, l FROM read_csv('${at('out.csv')}', all_varchar = true)`;
  const [given, found] = await Promise.all([
    askDuckdb(':memory:', printed) as Promise<{ f: string; d: number }[]>,
    askDuckdb(':memory:', written) as Promise<{ f: string; l: string }[]>,
  ]);
  // DuckDB pads exponents (1e-07).
  const digits = given.map(({ f }) =>
    f.includes('e') ? String(Number(f)) : f.replace(/\.0$/, ''),
  );
  expect(found.map(({ f }) => f)).toEqual(digits);
  expect(found.map(({ l }) => l)).toEqual(found.map(({ f }) => `[${f}]`));
  expect(found.map(({ f }) => Math.fround(Number(f)))).toEqual(given.map(({ d }) => d));
});
