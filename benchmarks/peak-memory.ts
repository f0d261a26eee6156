import { contactsFile, type ContactsSize } from './data/contacts.js';
import { countRows } from './harness/count-rows.js';
import type { Question, Scale, Task } from './harness/question.js';
import { verifyFile } from './harness/verify-command.js';
import { expectedOutputHash } from './reference/expected-output.js';
import { localEmailColumn } from './reference/local-service-results.js';

const few = ({ rows }: Scale): ContactsSize => ({ rows, unique: rows });
const many = ({ rows, manyRows }: Scale): ContactsSize => ({ rows: manyRows, unique: rows });

/** The same unique addresses in a list of as many rows, and in one of ten times as many. */
export const peakMemory: Question = {
  asks: 'Does memory grow with the rows?',
  async prepare(scale) {
    await contactsFile(few(scale));
    await contactsFile(many(scale));
  },
  tasks: {
    'reference, few': reference('few', few),
    'reference, many': reference('many', many),
    few: verifying('few', few),
    many: verifying('many', many),
  },
  figures: (median, scale) => [
    {
      what: `peak memory of the command: ${countRows(scale.manyRows)} rows, ${countRows(scale.rows)} unique`,
      against: `${countRows(scale.rows)} rows, all unique`,
      value: median('many', 'peakBytes') / median('few', 'peakBytes'),
      unit: 'times',
      target: { bound: 'at most', value: 1.1 },
    },
    {
      what: 'the same, absolute',
      against: '',
      value: median('many', 'peakBytes') / 1024 / 1024,
      unit: 'MiB',
      target: { bound: 'at most', value: 256 },
    },
    {
      what: 'its time',
      against: '',
      value: median('many', 'seconds'),
      unit: 'seconds',
    },
  ],
};

function reference(checkedAs: string, size: (scale: Scale) => ContactsSize): Task {
  return {
    checkedAs,
    isReference: true,
    async run(scale) {
      const hash = await expectedOutputHash(await contactsFile(size(scale)), [localEmailColumn]);
      return { check: `${size(scale).rows} ${hash}`, values: {} };
    },
  };
}

function verifying(checkedAs: string, size: (scale: Scale) => ContactsSize): Task {
  return {
    checkedAs,
    async run(scale) {
      const input = await contactsFile(size(scale));
      const { check, seconds, peakBytes } = await verifyFile(input, ['--email', 'email']);
      return { check, values: { seconds, peakBytes } };
    },
  };
}
