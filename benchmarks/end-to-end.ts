import { join } from 'node:path';
import { hashOfFile } from './data/cached-file.js';
import { contactsFile, usualContacts } from './data/contacts.js';
import type { Question, Scale, Task } from './harness/question.js';
import { runCommand } from './harness/run-command.js';
import { withScratch } from './harness/scratch.js';
import { verifyFile } from './harness/verify-command.js';
import { expectedOutputHash, type ExpectedColumn } from './reference/expected-output.js';
import { localEmailColumn, localPhoneColumn } from './reference/local-service-results.js';

const input = async (scale: Scale): Promise<string> => contactsFile(usualContacts(scale.rows));

/** The whole command over HTTP, from its start to its end, with its default durability. */
export const endToEnd: Question = {
  asks: 'How long does `sluice verify` take?',
  async prepare(scale) {
    await input(scale);
  },
  tasks: {
    'reference, emails': reference('emails', [localEmailColumn]),
    'reference, both': reference('both', [localEmailColumn, localPhoneColumn]),
    emails: verifying('emails', ['--email', 'email']),
    'csv-parse and csv-stringify': {
      checkedAs: 'copy',
      run: async (scale) =>
        withScratch(async (folder) => {
          const output = join(folder, 'output.csv');
          const { seconds } = await runCommand(
            '../copy-csv-command.js',
            [await input(scale), output],
            { folder },
          );
          return { check: await hashOfFile(output), values: { seconds } };
        }),
    },
    both: verifying('both', ['--email', 'email', '--phone', 'mobile']),
  },
  figures: (median) => {
    const peer = median('csv-parse and csv-stringify', 'seconds');
    const against = 'csv-parse to objects into csv-stringify';
    return [
      {
        what: 'the whole `sluice verify`, emails',
        against,
        value: peer / median('emails', 'seconds'),
        unit: 'times as fast',
        target: { bound: 'at least', value: 2.5, aim: 4 },
      },
      {
        what: 'the same with emails and phones',
        against,
        value: peer / median('both', 'seconds'),
        unit: 'times as fast',
        target: { bound: 'at least', value: 1.6, aim: 3 },
      },
    ];
  },
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
      const { check, seconds, peakBytes } = await verifyFile(await input(scale), columns);
      return { check, values: { seconds, peakBytes } };
    },
  };
}
