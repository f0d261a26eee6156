import { join } from 'node:path';
import { judgeEmail } from '../src/service/verification/judge-email.js';
import { cachedFile, hashOfFile } from './data/cached-file.js';
import { contactsFile, usualContacts } from './data/contacts.js';
import { emailOf } from './data/people.js';
import { askDuckdb } from './harness/duckdb.js';
import type { Question, Scale, Task } from './harness/question.js';
import { runCommand } from './harness/run-command.js';
import { withScratch } from './harness/scratch.js';
import { verifyFile } from './harness/verify-command.js';
import { expectedOutputHash, type ExpectedColumn } from './reference/expected-output.js';
import { localEmailColumn, localPhoneColumn } from './reference/local-service-results.js';

const input = async (scale: Scale): Promise<string> => contactsFile(usualContacts(scale.rows));

/** The records of the list's emails as the local service gives them, one a line, which suits DuckDB best. */
const exported = async (scale: Scale): Promise<string> => {
  const { unique } = usualContacts(scale.rows);
  return cachedFile(`export-of-${unique}.jsonl`, function* () {
    for (let n = 0; n < unique; n += 1) {
      const email = emailOf(n);
      yield `${JSON.stringify({ email, ...judgeEmail(email) })}\n`;
    }
  });
};

/** The whole command over HTTP, from its start to its end, with its default durability. */
export const endToEnd: Question = {
  asks: 'How long does `sluice verify` take?',
  async prepare(scale) {
    await input(scale);
    await exported(scale);
  },
  tasks: {
    'reference, emails': reference('emails', [localEmailColumn]),
    'reference, both': reference('both', [localEmailColumn, localPhoneColumn]),
    emails: verifying('emails', ['--email', 'email']),
    DuckDB: peer('joined', '../join-with-duckdb-command.js', async (scale, folder) => ({
      args: [await input(scale), await exported(scale), join(folder, 'addresses.txt')],
      check: async (output) => askDuckdb(`SELECT count(*) FROM read_csv('${output}')`),
    })),
    'csv-parse and csv-stringify': peer('copy', '../copy-csv-command.js', async (scale) => ({
      args: [await input(scale)],
      check: hashOfFile,
    })),
    both: verifying('both', [
      '--email',
      'email',
      '--phone',
      'mobile',
      '--country-column',
      'country',
    ]),
  },
  figures: (median) => [
    {
      what: 'the whole `sluice verify`, emails: processor time',
      against: 'DuckDB: distinct, and the join of a list and its records',
      value: median('emails', 'cpuSeconds') / median('DuckDB', 'cpuSeconds'),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.2, aim: 1 },
    },
    {
      what: 'its time from start to end',
      against: 'the processor time of command or service, whichever is larger',
      value:
        median('emails', 'seconds') /
        Math.max(median('emails', 'cpuSeconds'), median('emails', 'serviceCpuSeconds')),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.2, aim: 1.1 },
    },
    {
      what: 'emails, and phones of three countries: processor time',
      against: 'csv-parse to objects into csv-stringify',
      value: median('csv-parse and csv-stringify', 'cpuSeconds') / median('both', 'cpuSeconds'),
      unit: 'times as fast',
      target: { bound: 'at least', value: 1.4, aim: 1.8 },
    },
  ],
};

function reference(checkedAs: string, columns: readonly ExpectedColumn[]): Task {
  return {
    checkedAs,
    isReference: true,
    run: async (scale) => ({
      check: `${scale.rows} ${await expectedOutputHash(await input(scale), columns)}`,
      values: {},
    }),
  };
}

function verifying(checkedAs: string, columns: readonly string[]): Task {
  return {
    checkedAs,
    async run(scale) {
      const { check, diskBytes: _, ...values } = await verifyFile(await input(scale), columns);
      return { check, values };
    },
  };
}

/** A program that is given the path of its output last. */
function peer(
  checkedAs: string,
  module: string,
  given: (
    scale: Scale,
    folder: string,
  ) => Promise<{ args: readonly string[]; check: (output: string) => Promise<string> }>,
): Task {
  return {
    checkedAs,
    run: async (scale) =>
      withScratch(async (folder) => {
        const output = join(folder, 'output.csv');
        const { args, check } = await given(scale, folder);
        const { ...values } = await runCommand(module, [...args, output], { folder });
        return { check: await check(output), values };
      }),
  };
}
