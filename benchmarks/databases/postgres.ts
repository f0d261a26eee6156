import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { from, to } from 'pg-copy-streams';
import { contactColumns, contactsFile, usualContacts } from '../data/contacts.js';
import type { Question, Scale, Task } from '../harness/question.js';
import { runCommand } from '../harness/run-command.js';
import { withScratch } from '../harness/scratch.js';
import { sluiceCommand } from '../harness/sluice-command.js';
import { verifyFile } from '../harness/verify-command.js';
import { withConnection, withPostgres } from '../harness/with-postgres.js';
import { withService } from '../harness/with-service.js';
import { expectedOutputHash } from '../reference/expected-output.js';
import { localEmailColumn } from '../reference/local-service-results.js';

const input = async (scale: Scale): Promise<string> => contactsFile(usualContacts(scale.rows));

/** The same list from a table into a new one, against COPY, and against the file. */
export const postgres: Question = {
  asks: 'How long does a run from and to PostgreSQL take, and with how much memory?',
  rounds: 3,
  async prepare(scale) {
    await input(scale);
  },
  tasks: {
    reference: {
      checkedAs: 'verified',
      isReference: true,
      run: async (scale) => ({
        check: await expectedOutputHash(await input(scale), [localEmailColumn]),
        values: {},
      }),
    },
    'COPY out and in': copyAlone(),
    'table to table': {
      checkedAs: 'verified',
      run: async (scale) => withContacts(scale, verifyTable),
    },
    'file to file': {
      checkedAs: 'file',
      async run(scale) {
        const run = await verifyFile(await input(scale), ['--email', 'email']);
        const { check, seconds, cpuSeconds, peakBytes } = run;
        return { check, values: { seconds, cpuSeconds, peakBytes } };
      },
    },
  },
  figures: (median) => [
    {
      what: 'the whole `sluice verify` from a PostgreSQL table into a new one, emails',
      against: 'COPY out of the one and into the other',
      value: median('table to table', 'seconds') / median('COPY out and in', 'seconds'),
      unit: 'times as long',
    },
    {
      what: 'the same',
      against: 'the same list from file to file',
      value: median('table to table', 'seconds') / median('file to file', 'seconds'),
      unit: 'times as long',
    },
    {
      what: 'its processor time',
      against: 'the same list from file to file',
      value: median('table to table', 'cpuSeconds') / median('file to file', 'cpuSeconds'),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.25, aim: 1.1 },
    },
    {
      what: 'its peak memory',
      against: 'the same list from file to file',
      value: median('table to table', 'peakBytes') / median('file to file', 'peakBytes'),
      unit: 'times',
      target: { bound: 'at most', value: 1.1 },
    },
  ],
};

function copyAlone(): Task {
  return {
    checkedAs: 'copy',
    run: async (scale) =>
      withContacts(scale, async (url) =>
        withConnection(url, async (reader) =>
          withConnection(url, async (writer) => {
            await writer.query('CREATE TABLE copied (LIKE contacts)');
            const startedMs = performance.now();
            await pipeline(
              reader.query(to('COPY (SELECT * FROM contacts) TO STDOUT')),
              writer.query(from('COPY copied FROM STDIN')),
            );
            const seconds = (performance.now() - startedMs) / 1000;
            return { check: await hashOf(url, 'SELECT * FROM copied'), values: { seconds } };
          }),
        ),
      ),
  };
}

/** The list in a table of a new server. */
async function withContacts<T>(scale: Scale, work: (url: string) => Promise<T>): Promise<T> {
  const path = await input(scale);
  return withPostgres(async (url) => {
    await withConnection(url, async (client) => {
      const [id, ...texts] = contactColumns;
      const columns = [`${id} bigint`, ...texts.map((name) => `${name} text`)];
      await client.query(`CREATE TABLE contacts (${columns.join(', ')})`);
      await pipeline(
        createReadStream(path),
        client.query(from('COPY contacts FROM STDIN (FORMAT csv, HEADER)')),
      );
    });
    return work(url);
  });
}

async function verifyTable(url: string): ReturnType<Task['run']> {
  return withScratch(async (folder) =>
    withService(['--data', join(folder, 'service')], async (environment) => {
      const { seconds, cpuSeconds, peakBytes } = await runCommand(
        sluiceCommand,
        ['verify', 'env:DB', '--query', 'SELECT * FROM contacts', '-o', 'env:DB'].concat(
          ['--into', 'verified', '--email', 'email', '--country', 'US'],
          ['--state', join(folder, 'state')],
        ),
        { folder, environment: { ...environment, DB: url } },
      );
      return {
        check: await hashOf(url, verifiedAsCsv),
        values: { seconds, cpuSeconds, peakBytes },
      };
    }),
  );
}

/** The columns as the file has them: nothing for null and for an empty text, words for booleans. */
const verifiedAsCsv = `SELECT ${[
  ...contactColumns,
  ...localEmailColumn.added.map((name) => `nullif(${name}::text, '') AS ${name}`),
].join(', ')} FROM verified ORDER BY id`;

/** The SHA-256 of rows as the file of contacts would have them. */
async function hashOf(url: string, query: string): Promise<string> {
  return withConnection(url, async (client) => {
    const hash = createHash('sha256');
    const form = 'FORMAT csv, HEADER, FORCE_QUOTE (company)';
    const rows = client.query(to(`COPY (${query}) TO STDOUT (${form})`));
    for await (const bytes of rows as AsyncIterable<Buffer>) hash.update(bytes);
    return hash.digest('hex');
  });
}
