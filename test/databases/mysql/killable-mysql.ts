import mysql from 'mysql2/promise';
import { inject } from 'vitest';
import { listRows, type Killable } from '../killable.js';
import { askMysql } from './ask-mysql.js';

export async function killableMysql(): Promise<Killable> {
  const url = inject('mysqlUrl');
  // With its added columns: a statement that adds them would wait for whoever holds a row up.
  const flags = ['valid', 'wrong', 'unknown', 'is_syntax_error', 'is_free', 'is_role']
    .concat('is_disposable', 'is_catch_all')
    .map((name) => `email_${name} BOOLEAN`);
  const texts = ['verification', 'reason', 'quality', 'result'].map((name) => `email_${name} TEXT`);
  await askMysql(
    `CREATE TABLE kill_out (id INT PRIMARY KEY, email TEXT, filling TEXT, note VARCHAR(20) NOT NULL DEFAULT 'kept', ${[...texts, ...flags].join(', ')})`,
    `INSERT INTO kill_out (id) VALUES (${listRows})`,
  );
  return {
    url,
    query: `SELECT seq AS id, concat('good', seq, '@sluice.test') AS email, repeat('x', 500) AS filling FROM seq_1_to_${listRows}`,
    table: 'kill_out',
    async count() {
      const [counts] = await askMysql(
        "SELECT count(*) AS 'rows', coalesce(sum(email_verification = 'verified' AND note = 'kept'), 0) AS verified FROM kill_out",
      );
      const { rows, verified: done } = counts as Record<string, string | number>;
      return { rows: Number(rows), verified: Number(done) };
    },
    async holdUp() {
      const holder = await mysql.createConnection({ uri: url });
      await holder.query('START TRANSACTION');
      await holder.query(`SELECT * FROM kill_out WHERE id = ${listRows} FOR UPDATE`);
      return {
        async hasWaiting() {
          const waiting = await askMysql(
            "SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'UPDATE %kill_out%'",
          );
          return waiting.length > 0;
        },
        release: () => holder.end(),
      };
    },
  };
}
