import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { duckdbSink, duckdbSource } from '../../../../src/lists/sql/duckdb/index.js';
import { JsonText } from '../../../../src/lists/rows/values/kinds.js';
import type { Cells, Database } from '../suite/database.js';
import { withFolder } from '../../../service/with-service.js';
import { askDuckdb } from './ask-duckdb.js';

export const duckdb: Database = {
  name: 'DuckDB',
  async open() {
    const folder = await withFolder();
    const path = join(folder, 'crm.duckdb');
    return {
      url: `duckdb:${path}`,
      table: 'people',
      ask: async (...statements) => (await askDuckdb(path, ...statements)) as Cells[],
      source: (query, url = path) => duckdbSource({ url, query }),
      sink: (options = {}) => duckdbSink({ url: `duckdb:${path}`, into: 'people', ...options }),
      traces: () => readdir(folder),
    };
  },
  numbers: (rows) => `range(1, ${rows + 1}) AS n(i)`,
  values: {
    query: () =>
      `SELECT 1::INTEGER, 9007199254740993::BIGINT, 170141183460469231731687303715884105727::HUGEINT,
        1.50::DECIMAL(10,2), 0.1::FLOAT, 'nan'::DOUBLE, '-inf'::DOUBLE, true, false, NULL::VARCHAR, '',
        'a' || chr(9) || 'b' || chr(10) || '\\N "🎈', '{"k": [1]}'::JSON, '\\x00\\xFF'::BLOB,
        '2026-11-21 10:00:00+02'::TIMESTAMPTZ, '2026-11-21 10:00:00.5'::TIMESTAMP, '2001-02-03'::DATE,
        [1, 2], {'a': 1, 'b': ['x']}, MAP {'k': 1}, ['1.5', 'nan', '-inf', NULL]::DOUBLE[], ['NaN "x'], 'x'::ENUM('x', 'y'), INTERVAL 3 DAY,
        1 AS id, 2 AS id;`,
    rows: [
      [
        1,
        9007199254740993n,
        170141183460469231731687303715884105727n,
        '1.50',
        0.1,
        NaN,
        -Infinity,
        true,
        false,
        null,
        '',
        'a\tb\n\\N "🎈',
        new JsonText('{"k": [1]}'),
        Buffer.from([0, 255]),
        '2026-11-21 08:00:00+00',
        '2026-11-21 10:00:00.5',
        '2001-02-03',
        new JsonText('[1,2]'),
        new JsonText('{"a":1,"b":["x"]}'),
        new JsonText('{"k":1}'),
        new JsonText('[1.5,"NaN","-Infinity",null]'),
        new JsonText('["NaN \\"x"]'),
        'x',
        'P3D',
        1,
        2,
      ],
    ],
  },
  refusedQueries: [
    ['a table that is not there', 'SELECT * FROM t', /Table with name t does not exist/],
    ['a column that is not there', 'SELECT x FROM people', /column "x" not found/],
    ['a statement that is none', 'SELEKT 1', /syntax error/],
    ['a statement that changes something', 'CREATE TABLE made (a INT)', /syntax error/],
    ['a further statement', 'SELECT 1; DROP TABLE people', /syntax error/],
  ],
  ownRows: [
    [
      'a macro',
      (table) => `SELECT id, email FROM ${table}_f()`,
      (table) => `CREATE MACRO ${table}_f() AS TABLE SELECT * FROM ${table}`,
    ],
  ],
  failingQuery:
    "SELECT CASE WHEN i = 60000 THEN 'private cell'::INTEGER ELSE i END FROM range(100000) t(i)",
  newTable: {
    query: () =>
      "SELECT i::INTEGER AS id, concat(if(i = 3, 'bad', 'good'), i, '@sluice.test') AS email, i = 1 AS first, 1.50::DECIMAL(10,2) AS d, [i::INTEGER] AS l, {'a': i::INTEGER} AS s, MAP {'k': i::INTEGER} AS m, '\\xAA'::BLOB AS b, 'x'::ENUM('x', 'y') AS e, '{\"j\": 1}'::JSON AS j, '2026-11-21 10:00:00+00'::TIMESTAMPTZ AS ts FROM range(1, 4) t(i)",
    email: 'email',
    key: 'id',
    into: () => `"odd"" name"`,
    looks: () => [
      [
        "SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_index) AS types FROM duckdb_columns() WHERE table_name = 'odd\" name' AND column_index <= 16",
        [
          {
            types:
              "id INTEGER, email VARCHAR, first BOOLEAN, d DECIMAL(10,2), l INTEGER[], s STRUCT(a INTEGER), m MAP(VARCHAR, INTEGER), b BLOB, e ENUM('x', 'y'), j JSON, ts TIMESTAMP WITH TIME ZONE, email_verification VARCHAR, email_reason VARCHAR, email_valid BOOLEAN, email_wrong BOOLEAN, email_unknown BOOLEAN",
          },
        ],
      ],
      [
        `SELECT id, email_valid AS v, first, d::VARCHAR AS d, l::VARCHAR AS l, s.a AS a, m['k'] AS m, hex(b) AS b, e::VARCHAR AS e, j->>'j' AS j, ts = '2026-11-21 10:00:00+00' AS ts FROM "odd"" name" LIMIT 3`,
        [1, 2, 3].map((id) => ({
          id,
          v: id < 3,
          first: id === 1,
          d: '1.50',
          l: `[${id}]`,
          a: id,
          m: id,
          b: 'AA',
          e: 'x',
          j: '1',
          ts: true,
        })),
      ],
    ],
  },
  hasSchemas: true,
  hasOrigins: true,
  takes: ['long text'],
  // A file of DuckDB has one process.
  isShared: false,
  ending: 'duckdb',
};
