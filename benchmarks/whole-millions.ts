import { contactsFile, type ContactsSize } from './data/contacts.js';
import { countRows } from './harness/count-rows.js';
import type { Question, Scale } from './harness/question.js';
import { verifyFile } from './harness/verify-command.js';
import { expectedOutputHash } from './reference/expected-output.js';
import { localEmailColumn } from './reference/local-service-results.js';

const size = ({ manyRows }: Scale): ContactsSize => ({ rows: manyRows, unique: manyRows });

/** A list of ten million rows, all different. */
export const wholeMillions: Question = {
  asks: 'What does a list of ten million unique addresses take as a whole?',
  rounds: 1,
  async prepare(scale) {
    await contactsFile(size(scale));
  },
  tasks: {
    reference: {
      checkedAs: 'output',
      isReference: true,
      async run(scale) {
        const hash = await expectedOutputHash(await contactsFile(size(scale)), [localEmailColumn]);
        return { check: `${scale.manyRows} ${hash}`, values: {} };
      },
    },
    sluice: {
      checkedAs: 'output',
      async run(scale) {
        const input = await contactsFile(size(scale));
        const run = await verifyFile(input, ['--email', 'email']);
        const { check, seconds, peakBytes, diskBytes } = run;
        return { check, values: { seconds, peakBytes, diskBytes } };
      },
    },
  },
  figures: (median, { manyRows }) => [
    {
      what: `the whole \`sluice verify\` of ${countRows(manyRows)} unique addresses: time`,
      against: '',
      value: median('sluice', 'seconds'),
      unit: 'seconds',
    },
    {
      what: 'its peak memory',
      against: '',
      value: median('sluice', 'peakBytes') / 1024 / 1024,
      unit: 'MiB',
    },
    {
      what: 'the most its state directory took on disk',
      against: '',
      value: median('sluice', 'diskBytes') / 1_000_000,
      unit: 'MB',
    },
  ],
};
