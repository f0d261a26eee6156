import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import ExcelJS from 'exceljs';
import { parquetMetadata, type SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parquetWriting } from '../../../src/lists/parquet/parquet-writer.js';
import { splitSink } from '../../../src/engine/runs/output/split-sink.js';
import { fileDestination, writerSink } from '../../../src/lists/files/writer-sink.js';
import {
  Client,
  combinedSource,
  fileSink,
  fileSource,
  rowsSink,
  rowsSource,
  run,
  type Row,
  type Sink,
} from '../../../src/index.js';
import { createService } from '../../../src/service/index.js';
import { carry, readAll } from '../sql/harness/carry.js';
import { askDuckdb } from '../sql/duckdb/ask-duckdb.js';
import { useTemporaryFolder } from './temporary-folder.js';
import { zipOf } from '../xlsx/zip-entries.js';

const at = useTemporaryFolder();

const widths = [8, 16, 32, 64].flatMap((bitWidth) => [
  { bitWidth, isSigned: true },
  { bitWidth, isSigned: false },
]);

/** Integers of every width, with the newer annotation that arrow's writers give them. */
async function writeWidths(path: string): Promise<void> {
  const schema: SchemaElement[] = [
    { name: 'root', num_children: widths.length },
    ...widths.map(({ bitWidth, isSigned }): SchemaElement => ({
      name: `${isSigned ? 'i' : 'u'}${bitWidth}`,
      type: bitWidth === 64 ? 'INT64' : 'INT32',
      repetition_type: 'OPTIONAL',
      logical_type: { type: 'INTEGER', bitWidth, isSigned },
    })),
  ];
  const most = widths.map(
    ({ bitWidth, isSigned }) => 2n ** BigInt(bitWidth - (isSigned ? 1 : 0)) - 1n,
  );
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({ writer: bytes, schema });
  const columnData = most.map((value, column) => {
    const { bitWidth = 0 } = widths[column] ?? {};
    return {
      name: schema[column + 1]?.name ?? '',
      data: [bitWidth === 64 ? value : Number(value), null],
    };
  });
  await writer.write({ columnData, rowGroupSize: 2 });
  await writer.finish();
  await writeFile(path, bytes.getBytes());
}

async function types(path: string): Promise<readonly string[]> {
  const rows = (await askDuckdb(':memory:', `DESCRIBE SELECT * FROM '${path}'`)) as readonly {
    readonly column_name: string;
    readonly column_type: string;
  }[];
  return rows.map(({ column_name: name, column_type: type }) => `${name} ${type}`);
}

async function makeParquet(path: string, query: string, options = ''): Promise<void> {
  await askDuckdb(
    ':memory:',
    "SET TimeZone = 'UTC'",
    `COPY (${query}) TO '${path}' (FORMAT parquet${options})`,
  );
}

const manyKinds = `SELECT 'a@example.com' AS email, 1::TINYINT AS i, 2::UBIGINT AS u, 1.50::DECIMAL(10,2) AS d,
  '2024-02-29'::DATE AS day, '12:34:56.789012'::TIME AS t, '2024-02-29 10:00:00'::TIMESTAMP AS ts,
  '2024-02-29 10:00:00+00'::TIMESTAMPTZ AS tz, '1 month 2 days 03:04:05'::INTERVAL AS iv,
  '\\xFF'::BLOB AS x, '{"k": 1.50}'::JSON AS j, 0.5::FLOAT AS f`;

describe('a Parquet output', () => {
  it('keeps the width of integers so that other programs read them', async () => {
    await writeWidths(at('in.parquet'));
    await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')));
    expect(await types(at('out.parquet'))).toEqual([
      'i8 TINYINT',
      'u8 UTINYINT',
      'i16 SMALLINT',
      'u16 USMALLINT',
      'i32 INTEGER',
      'u32 UINTEGER',
      'i64 BIGINT',
      'u64 UBIGINT',
    ]);
    expect(await askDuckdb(':memory:', `SELECT * FROM '${at('out.parquet')}'`)).toEqual([
      {
        i8: 127,
        u8: 255,
        i16: 32_767,
        u16: 65_535,
        i32: 2 ** 31 - 1,
        u32: 2 ** 32 - 1,
        i64: 2n ** 63n - 1n,
        u64: 2n ** 64n - 1n,
      },
      { i8: null, u8: null, i16: null, u16: null, i32: null, u32: null, i64: null, u64: null },
    ]);
  });

  it.each(['footer', 'row group'])('with a damaged %s does not come about', async (where) => {
    await makeParquet(at('in.parquet'), manyKinds);
    const place = fileDestination(at('out.parquet'));
    let number = 0;
    const damaging: Sink = writerSink(
      {
        ...place,
        async open(permissions) {
          const output = await place.open(permissions);
          return {
            ...output,
            async write(bytes) {
              number += 1;
              const isIt = number === (where === 'footer' ? 2 : 1);
              await output.write(isIt ? damaged(bytes, where) : bytes);
            },
          };
        },
      },
      parquetWriting(),
    );
    await expect(carry(fileSource(at('in.parquet')), damaging)).rejects.toMatchObject({
      code: 'output_failed',
    });
    expect(await readdir(at('.'))).not.toContain('out.parquet');
  });

  it('has the columns of an input without rows, and so has a table', async () => {
    await makeParquet(at('in.parquet'), `${manyKinds} LIMIT 0`);
    await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')));
    const expected = await types(at('in.parquet'));
    expect(await types(at('out.parquet'))).toEqual(expected);
    expect(expected).toContain('day DATE');
    expect(expected).toContain('d DECIMAL(10,2)');
  });

  it('has columns whose names have invisible characters, or half of one', async () => {
    const row = { email: 'a@example.com', '\ufeffname': 'A', '\ufeff\ufeffx': 'B', 'y\ud83d': 'C' };
    await carry(rowsSource([row]), fileSink(at('out.parquet')));
    expect(await readAll(fileSource(at('out.parquet')))).toEqual([Object.values(row)]);
    await askDuckdb(
      ':memory:',
      `COPY (SELECT 1 AS id, 'a' AS "\ufeffid", {'\ufeffx': 2} AS s) TO '${at('marked.parquet')}'`,
    );
    await carry(fileSource(at('marked.parquet')), fileSink(at('copied.parquet')));
    expect(await askDuckdb(':memory:', `SELECT * FROM '${at('copied.parquet')}'`)).toEqual([
      { id: 1, '\ufeffid': 'a', s: { '\ufeffx': 2 } },
    ]);
  });

  it('has what it cannot hold of a JSONL reported, and its columns in their order', async () => {
    const line =
      '{"b":{"z":"a@example.com","7":"x:y"},"1":"cut \\ud83d","\\u0030":"\\"\\ud83d\\ude00"}\n';
    const twice = '{"1":"","l":[{"n":[1,{}],"m":":","n":2}]}\n';
    await writeFile(at('in.jsonl'), line + twice);
    const reported = async (name: string): Promise<unknown[]> => {
      const fields: unknown[] = [];
      await carry(fileSource(at('in.jsonl')), fileSink(at(name)), (given) => {
        if (typeof given !== 'string' && given.isWarning) fields.push(given.fields);
      });
      return fields;
    };
    const ofInput = { input: at('in.jsonl'), line: 2 };
    expect(await reported('out.parquet')).toEqual([ofInput, { column: '1' }]);
    expect(await reported('out.csv')).toEqual([ofInput, { column: '1' }]);
    expect(await readFile(at('out.csv'), 'utf8')).toMatch(/^b\.z,b\.7,1,0,l\n/);
    expect(await reported('out.jsonl')).toEqual([ofInput]);
    expect(await readFile(at('out.jsonl'), 'utf8')).toBe(line + twice);
    expect(await reported('out.xlsx')).toEqual([ofInput]);
    const [first] = await askDuckdb(':memory:', `SELECT * FROM '${at('out.parquet')}'`);
    const expected = { 'b.z': 'a@example.com', 'b.7': 'x:y', 1: 'cut \ufffd', 0: '"\ud83d\ude00' };
    expect(first).toEqual({ ...expected, l: null });
  });

  it('keeps all moments of a day, and numbers of any size, when they come as rows', async () => {
    const rows = [
      { email: 'a@example.com', n: 1, big: 2n ** 63n, when: new Date('2024-02-29T10:00:00Z') },
      { email: 'b@example.com', n: 0.5, big: -1n, when: null },
    ];
    expect(await carry(rowsSource(rows), fileSink(at('out.parquet')))).toEqual([]);
    expect(await types(at('out.parquet'))).toEqual([
      'email VARCHAR',
      'n DOUBLE',
      'big DECIMAL(20,0)',
      'when TIMESTAMP WITH TIME ZONE',
    ]);
  });

  it('has text where values have nothing in common, and that is reported', async () => {
    const rows = [
      { email: 'a@example.com', mixed: 1 },
      { email: 'b@example.com', mixed: 'one' },
    ];
    expect(await carry(rowsSource(rows), fileSink(at('out.parquet')))).toEqual([
      ['mixed', undefined],
    ]);
    const [first] = await askDuckdb(':memory:', `SELECT mixed FROM '${at('out.parquet')}'`);
    expect(first).toEqual({ mixed: '1' });
  });
});

function damaged(bytes: Uint8Array, where: string): Uint8Array {
  const copy = Uint8Array.from(bytes);
  if (where === 'footer') return copy.fill(0, 8, copy.length - 8);
  return copy.fill(0xff, 8, 200);
}

describe('a Parquet input', () => {
  it('gives times, durations, decimals and JSON as they are written', async () => {
    await makeParquet(at('in.parquet'), manyKinds);
    await carry(fileSource(at('in.parquet')), fileSink(at('out.csv')));
    expect((await readFile(at('out.csv'), 'utf8')).split('\n')[1]).toBe(
      'a@example.com,1,2,1.50,2024-02-29,12:34:56.789012,2024-02-29T10:00:00,2024-02-29T10:00:00.000Z,P1M2DT3H4M5S,/w==,"{""k"": 1.50}",0.5',
    );
    await carry(fileSource(at('in.parquet')), fileSink(at('out.jsonl')));
    const line = await readFile(at('out.jsonl'), 'utf8');
    expect(line).toContain('"j":{"k": 1.50}');
    expect(line).toContain('"d":"1.50"');
  });

  it.each(['lz4_raw', 'zstd', 'gzip', 'brotli', 'snappy'])(
    'may have columns of nulls, compressed with %s',
    async (codec) => {
      const query = "SELECT 'a@example.com' AS email, NULL::VARCHAR AS none FROM range(3)";
      await makeParquet(at('in.parquet'), query, `, COMPRESSION ${codec}`);
      await carry(fileSource(at('in.parquet')), fileSink(at('out.csv')));
      expect(await readFile(at('out.csv'), 'utf8')).toBe(
        `email,none\n${'a@example.com,\n'.repeat(3)}`,
      );
    },
  );

  it('goes into a workbook with dates and numbers, and says what is text there', async () => {
    await makeParquet(at('in.parquet'), manyKinds);
    const reported = await carry(fileSource(at('in.parquet')), fileSink(at('out.xlsx')));
    expect(reported.map(([column]) => column)).toEqual(['tz', 'iv', 'j', 't', 'x']);
    await carry(fileSource(at('out.xlsx')), fileSink(at('again.parquet')));
    expect(await types(at('again.parquet'))).toEqual([
      'email VARCHAR',
      'i BIGINT',
      'u BIGINT',
      'd DOUBLE',
      'day DATE',
      't VARCHAR',
      'ts TIMESTAMP',
      'tz VARCHAR',
      'iv VARCHAR',
      'x VARCHAR',
      'j VARCHAR',
      'f DOUBLE',
    ]);
  });

  it('says the schema that was written in the footer', async () => {
    await makeParquet(at('in.parquet'), manyKinds);
    await carry(fileSource(at('in.parquet')), fileSink(at('out.parquet')));
    const schema = async (path: string) =>
      parquetMetadata(new Uint8Array(await readFile(path)).buffer).schema.slice(1);
    expect(await schema(at('out.parquet'))).toEqual(await schema(at('in.parquet')));
  });
});

describe('a file named as a workbook', () => {
  const root = (target: string): string =>
    `<Relationships><Relationship Id="a" Type="x/officeDocument" Target="${target}"/></Relationships>`;

  it.each([
    [
      'a Word document',
      { '_rels/.rels': root('word/document.xml'), 'word/document.xml': '<document/>' },
      /\bWord\b/,
    ],
    [
      'a presentation',
      { '_rels/.rels': root('ppt/presentation.xml'), 'ppt/presentation.xml': '<p/>' },
      /PowerPoint/,
    ],
    ['a Numbers document', { 'Index/Document.iwa': 'x' }, /Numbers/],
    ['an OpenDocument file', { mimetype: 'x', 'content.xml': '<c/>' }, /OpenDocument/],
    [
      'a workbook without sheets',
      { '_rels/.rels': root('xl/workbook.xml'), 'xl/workbook.xml': '<workbook/>' },
      /in\.xlsx/,
      'empty',
    ],
  ])('is reported to be what it is: %s', async (_, entries, named, fault = 'unsupported') => {
    await writeFile(at('in.xlsx'), await zipOf(Object.entries(entries)));
    await expect(fileSource(at('in.xlsx')).open({ wanted: () => [] })).rejects.toMatchObject({
      fault,
      message: expect.stringMatching(named) as string,
    });
  });
});

describe('what is no list', () => {
  it('is none of text in another encoding, nor of a null byte in it', async () => {
    const list = `${'id,email\n1,a@example.com\n'.repeat(3)}2,jos\u00e9@example.com\n3,a\0@example.com\n`;
    await writeFile(at('in.csv'), Buffer.from(list, 'latin1'));
    const reading = await fileSource(at('in.csv')).open({ wanted: () => [] });
    expect(reading.header).toEqual(['id', 'email']);
    for await (const chunk of reading.chunks) chunk.release?.();
  });
});

describe('Parquet files that are one list', () => {
  const alike = `'a@example.com' AS email, '2024-02-29'::DATE AS "day", 1.50::DECIMAL(10,2) AS money,
    '2024-02-29 10:20:30'::TIMESTAMP AS "at", '00000000-0000-0000-0000-0000000000ff'::UUID AS id`;

  it.each([
    ['the same', '', 'DATE', 'DECIMAL(10,2)'],
    ['more', ', 1 AS more', 'DATE', 'DECIMAL(10,2)'],
    [
      'other ones, which have something in common',
      ` REPLACE ('2024-02-29 10:00:00'::TIMESTAMP AS "day", 1.555::DECIMAL(9,3) AS money)`,
      'TIMESTAMP',
      'DECIMAL(11,3)',
    ],
  ])('keep their types where the second has %s', async (_, change, day, money) => {
    await makeParquet(at('1.parquet'), `SELECT ${alike}`);
    await makeParquet(at('2.parquet'), `SELECT *${change} FROM (SELECT ${alike})`);
    const both = combinedSource([fileSource(at('1.parquet')), fileSource(at('2.parquet'))]);
    expect(await carry(both, fileSink(at('out.parquet')))).toEqual([]);
    expect((await types(at('out.parquet'))).slice(0, 5)).toEqual([
      'email VARCHAR',
      `day ${day}`,
      `money ${money}`,
      'at TIMESTAMP',
      'id UUID',
    ]);
  });
});

describe('numbers of JSON lines', () => {
  const line =
    '{"email":"a@example.com","price":1.50,"id":9007199254740993,"huge":1e400,"list":[1.50,-0],"long":0.12345678901234567890,"nested":{"e":1E2}}';

  it('come out of every format as they are written, or with their value', async () => {
    await writeFile(at('in.jsonl'), `${line}\n`);
    await carry(fileSource(at('in.jsonl')), fileSink(at('out.csv')));
    expect((await readFile(at('out.csv'), 'utf8')).split('\n')[1]).toBe(
      'a@example.com,1.50,9007199254740993,1e400,"[1.50,-0]",0.12345678901234567890,1E2',
    );
    await carry(fileSource(at('out.csv')), fileSink(at('back.jsonl')));
    expect(JSON.parse(await readFile(at('back.jsonl'), 'utf8'))).toMatchObject({
      price: '1.50',
      id: '9007199254740993',
      huge: '1e400',
    });
    await carry(fileSource(at('in.jsonl')), fileSink(at('out.parquet')));
    const [row] = await askDuckdb(
      ':memory:',
      `SELECT price, typeof(price) AS type, id::VARCHAR AS id, huge, list::VARCHAR AS list, long FROM '${at('out.parquet')}'`,
    );
    expect(row).toEqual({
      price: 1.5,
      type: 'DOUBLE',
      id: '9007199254740993',
      huge: '1e400',
      list: '[1.50,-0]',
      long: '0.12345678901234567890',
    });
    await carry(fileSource(at('in.jsonl')), fileSink(at('out.xlsx')));
    await carry(fileSource(at('out.xlsx')), fileSink(at('sheet.csv')));
    expect((await readFile(at('sheet.csv'), 'utf8')).split('\n')[1]).toMatch(
      /^a@example.com,1.50?,9007199254740993,1e400,/,
    );
  });

  // As C prints a double, and one that none can hold.
  const long = ['48.135125299999999', '12345678.1234567891', '9.007199254740993', '1E2'];

  it('keep digits that are on both sides of the point', async () => {
    const lines = long.map(
      (digits) => `{"email":"a@example.com","n":${digits},"list":[${digits}]}\n`,
    );
    await writeFile(at('in.jsonl'), lines.join(''));
    await carry(fileSource(at('in.jsonl')), fileSink(at('out.csv')));
    expect(await readFile(at('out.csv'), 'utf8')).toBe(
      ['email,n,list', ...long.map((digits) => `a@example.com,${digits},[${digits}]`), ''].join(
        '\n',
      ),
    );
  });

  it.each([
    ['48.135125299999999', 48.1351253],
    ['1E2', 100],
    ['12345678.1234567891', '12345678.1234567891'],
  ])('are a number in other outputs where one has the value: %s', async (digits, value) => {
    await writeFile(at('in.jsonl'), `{"email":"a@example.com","n":${digits}}\n`);
    await carry(fileSource(at('in.jsonl')), fileSink(at('out.parquet')));
    expect(await askDuckdb(':memory:', `SELECT n FROM '${at('out.parquet')}'`)).toEqual([
      { n: value },
    ]);
    await carry(fileSource(at('in.jsonl')), fileSink(at('out.xlsx')));
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(at('out.xlsx'));
    expect(book.worksheets[0]?.getCell(2, 2).value).toBe(value);
  });

  it('come as they are written where rows of several lists are written again', async () => {
    await writeFile(at('1.jsonl'), '{"email":"a@example.com","price":1.50,"huge":1e400}\n');
    await writeFile(at('2.jsonl'), '{"mail":"b","email":"b@example.com","price":2.0}\n');
    const all = ['1.jsonl', '2.jsonl'].map((name) => fileSource(at(name), { columns: 'all' }));
    await carry(combinedSource(all), fileSink(at('out.csv')));
    const [, ...lines] = (await readFile(at('out.csv'), 'utf8')).trim().split('\n');
    expect(lines).toEqual(['a@example.com,1.50,1e400,', 'b@example.com,2.0,,b']);
  });

  it('are numbers for a program, where they have a value', async () => {
    await writeFile(at('in.jsonl'), `${line}\n`);
    const rows: Row[] = [];
    const sink = rowsSink((some) => {
      rows.push(...some);
    });
    await carry(fileSource(at('in.jsonl')), sink);
    expect(rows[0]).toMatchObject({
      price: 1.5,
      id: 9007199254740993n,
      huge: '1e400',
      list: [1.5, -0],
      'nested.e': 100,
    });
  });
});

describe('a column that becomes text', () => {
  it('is reported once where two outputs share the rows', async () => {
    const rows = [{ email: 'a@example.com', when: new Date('2024-02-29T10:00:00Z') }];
    const [output, rejects] = [fileSink(at('out.xlsx')), fileSink(at('rejects.xlsx'))];
    const sink = splitSink({ output, rejects, keep: {} });
    expect(await carry(rowsSource(rows), sink)).toEqual([['when', 'timestamp with zone']]);
  });

  it('is reported once, before anything is sent', async () => {
    const service = await createService();
    const client = new Client(service);
    const received: unknown[] = [];
    const onMessage = (message: unknown): void => void received.push(message);
    subscribe('sluice:run:column', onMessage);
    onTestFinished(async () => {
      unsubscribe('sluice:run:column', onMessage);
      await client.close();
      await service.close();
    });
    const stages: string[] = [];
    const when = new Date('2024-02-29T10:00:00Z');
    await run({
      source: rowsSource([
        { email: 'good1@sluice.test', when },
        { email: 'good2@sluice.test', when },
      ]),
      sink: fileSink(at('out.xlsx')),
      client,
      stateDir: at('state'),
      email: ['email'],
      country: 'US',
      pollIntervalMs: 5,
      onProgress: ({ stage }) => stages.push(stage),
    });
    const reports = { column: 'when', kind: 'timestamp with zone', output: 'XLSX' };
    expect(received).toEqual([expect.objectContaining(reports)]);
    expect(stages.filter((stage) => stage === 'text_column')).toHaveLength(1);
    expect(stages.indexOf('text_column')).toBeLessThan(stages.indexOf('batch'));
  });
});
