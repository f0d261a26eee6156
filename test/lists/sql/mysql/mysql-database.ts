import { setTimeout } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { inject, onTestFinished } from 'vitest';
import { mysqlSink, mysqlSource } from '../../../../src/lists/sql/mysql/index.js';
import type { Cells, Database } from '../suite/database.js';
import { newName, urlOf } from '../harness/new-name.js';
import { askMysql } from './ask-mysql.js';

const url = (): string => inject('mysqlUrl');
const numbers = (rows: number): string => `(SELECT seq AS i FROM seq_1_to_${rows}) AS n`;
const denied = (command: string): RegExp => new RegExp(`${command} command denied`);

export const mariadb: Database = {
  name: 'MariaDB',
  async open() {
    const table = newName();
    return {
      url: url(),
      table,
      ask: async (...statements) => (await askMysql(...statements)) as Cells[],
      source: (query, from = url()) => mysqlSource({ url: from, query }),
      sink: (options = {}) => mysqlSink({ url: url(), into: table, ...options }),
      traces: () => askMysql(`SHOW TABLES LIKE '${table.replaceAll('_', '\\_')}'`),
    };
  },
  numbers,
  values: {
    statements: (table) => [
      `CREATE TABLE ${table} (b BIGINT, d DECIMAL(10,2), f DOUBLE, yes BOOLEAN, bit BIT(1), t TEXT, bytes BLOB, day DATE, at DATETIME, ts TIMESTAMP NULL, vb VARBINARY(4))`,
      `INSERT INTO ${table} VALUES (9007199254740993, 1.50, 1.5, true, b'1', 'a\\tb\\n\\\\N "🎈', x'00ff', '2001-02-03', '2026-11-21 10:00:00', NULL, 'ab'), (NULL, NULL, NULL, 2, b'0', '', NULL, NULL, NULL, NULL, NULL)`,
    ],
    query: (table) => `SELECT * FROM ${table};`,
    rows: [
      [
        9007199254740993n,
        '1.50',
        1.5,
        true,
        true,
        'a\tb\n\\N "🎈',
        Buffer.from([0, 255]),
        '2001-02-03',
        '2026-11-21 10:00:00',
        null,
        Buffer.from('ab'),
      ],
      [null, null, null, 2, false, '', null, null, null, null, null],
    ],
  },
  refusedQueries: [
    ['a table that is not there', 'SELECT * FROM nowhere', /nowhere' doesn't exist/],
    [
      'a column that is not there',
      'SELECT nothing FROM information_schema.tables',
      /Unknown column/,
    ],
    ['a statement that is none', 'SELEKT 1', /syntax/],
    ['a statement that changes something', 'CREATE TABLE made (a INT)', /READ ONLY|gives no rows/],
  ],
  newTable: {
    // Columns may be called what ours are.
    query: () =>
      `SELECT i AS sluice_row, concat(if(i = 3, 'bad', 'good'), i, '@sluice.test') AS email, i = 1 AS first, 1.50 AS d, i + 1 AS c0 FROM ${numbers(3)}`,
    email: 'email',
    key: 'sluice_row',
    into: (table) => `${table} \`here\``,
    looks: (table) => [
      [
        `SELECT sluice_row AS id, email_valid, email_wrong, first, d, c0 FROM \`${table} \`\`here\`\`\` ORDER BY sluice_row`,
        [1, 2, 3].map((id) => ({
          id,
          email_valid: Number(id < 3),
          email_wrong: Number(id === 3),
          first: Number(id === 1),
          d: '1.50',
          c0: id + 1,
        })),
      ],
    ],
  },
  hasSchemas: false,
  hasOrigins: true,
  longestName: 64,
  takes: [],
  isShared: true,
  server: {
    url,
    scheme: 'mysql',
    refusedCode: 'ER_ACCESS_DENIED_ERROR',
    async openSession() {
      const session = await mysql.createConnection({ uri: url() });
      await session.query('START TRANSACTION');
      return {
        query: (text) => session.query(text),
        async isWaitedFor() {
          // The server looks again only when nobody has asked for a tenth of a second.
          await setTimeout(150);
          const waiting =
            'SELECT 1 FROM information_schema.INNODB_LOCK_WAITS JOIN information_schema.INNODB_TRX ON trx_id = blocking_trx_id WHERE trx_mysql_thread_id = CONNECTION_ID()';
          const [rows] = await session.query(waiting);
          return Array.isArray(rows) && rows.length > 0;
        },
        end: () => session.end(),
      };
    },
    rights: {
      async makeUser(grants) {
        const [user, schema] = [newName(), newName()];
        await askMysql(
          `CREATE USER '${user}'@'127.0.0.1' IDENTIFIED BY 'geheim'`,
          `CREATE DATABASE ${schema}`,
          `CREATE TABLE ${schema}.people (id INT PRIMARY KEY, email TEXT)`,
          `INSERT INTO ${schema}.people VALUES (1, 'good1@sluice.test')`,
          `GRANT ${['SELECT', 'CREATE TEMPORARY TABLES', ...grants].filter((grant) => /^[A-Z ]+$/.test(grant)).join(', ')} ON ${schema}.* TO '${user}'@'127.0.0.1'`,
          ...grants
            .filter((grant) => grant.endsWith(' people'))
            .map(
              (grant) => `GRANT ${grant.replace(' ', ` ON ${schema}.`)} TO '${user}'@'127.0.0.1'`,
            ),
          ...(grants.includes('older markers')
            ? [
                `CREATE TABLE ${schema}.sluice_runs (target VARCHAR(64) PRIMARY KEY, run VARCHAR(64), digest VARCHAR(64), applied BIGINT, row_count BIGINT, written_at TIMESTAMP)`,
              ]
            : []),
        );
        if (grants.includes('read_only')) {
          // As that of a replica; the tests' own user may write all the same.
          onTestFinished(async () => void (await askMysql('SET GLOBAL read_only = 0')));
          await askMysql('SET GLOBAL read_only = 1');
        }
        return {
          url: Object.assign(new URL(urlOf(user, url())), { pathname: schema }).href,
          schema,
        };
      },
      cases: [
        [
          'may not add columns',
          ['INSERT', 'UPDATE', 'CREATE', 'DELETE'],
          'people',
          denied('ALTER'),
        ],
        [
          'may not make tables beside it',
          ['INSERT', 'UPDATE', 'ALTER', 'DELETE'],
          'people',
          denied('CREATE'),
        ],
        [
          'may not mark the run in a table beside it',
          ['INSERT', 'UPDATE', 'ALTER', 'CREATE'],
          'people',
          denied('DELETE'),
        ],
        [
          'may not add a column to the table of markers that an earlier version has made',
          ['INSERT', 'UPDATE', 'CREATE', 'DELETE', 'ALTER people', 'older markers'],
          'people',
          denied('ALTER'),
        ],
        [
          'may make the table itself, and none beside it',
          ['INSERT', 'UPDATE', 'ALTER', 'DELETE', 'CREATE people'],
          'people',
          denied('CREATE'),
        ],
        ['may not update', ['INSERT', 'CREATE', 'ALTER', 'DELETE'], 'people', denied('UPDATE')],
        ['may not insert', ['UPDATE', 'CREATE', 'ALTER', 'DELETE'], 'people', denied('INSERT')],
        ['may not make a new one', ['INSERT', 'UPDATE', 'DROP'], 'other', denied('CREATE')],
        [
          'may only read, as the server is a replica',
          ['INSERT', 'UPDATE', 'ALTER', 'CREATE', 'DELETE', 'read_only'],
          'people',
          /./,
        ],
      ],
    },
  },
};
