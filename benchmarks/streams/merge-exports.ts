import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { mergeExports } from '../../src/engine/streams/merge-exports.js';
import { emailOf } from '../data/people.js';
import { countRows } from '../harness/count-rows.js';
import type { Question, Scale } from '../harness/question.js';
import { timed } from '../harness/seconds.js';
import { syntheticExport } from '../harness/synthetic-export.js';
import { syntheticRecord } from '../reference/synthetic-results.js';

const rowsOf = ({ rows }: Scale): number => rows / 10;

const contacts = (scale: Scale): readonly { readonly email: string }[] =>
  Array.from({ length: rowsOf(scale) }, (_, n) => ({ email: emailOf(n) }));

/** One export that has the records of many batches. */
export const merge: Question = {
  asks: 'How long does it take to put one saved export onto rows?',
  prepare: async () => Promise.resolve(),
  tasks: {
    reference: {
      checkedAs: 'rows',
      isReference: true,
      async run(scale) {
        const hash = createHash('sha256');
        for (const { email } of contacts(scale)) {
          hash.update(`${email} ${String(syntheticRecord(email)['quality'])}\n`);
        }
        return { check: hash.digest('hex'), values: {} };
      },
    },
    sluice: {
      checkedAs: 'rows',
      async run(scale) {
        const rows = contacts(scale);
        const exported = [...syntheticExport(rows.map(({ email }) => email).join('\n'))];
        const hash = createHash('sha256');
        const { seconds } = await timed(async () => {
          const merged = mergeExports(rows, [async () => Readable.from(exported)], {
            email: ['email'],
          });
          for await (const row of merged) hash.update(`${row.email} ${row.email_quality}\n`);
        });
        return { check: hash.digest('hex'), values: { seconds } };
      },
    },
  },
  figures: (median, scale) => [
    {
      what: `\`mergeExports()\`: one export and ${countRows(rowsOf(scale))} rows`,
      against: '',
      value: median('sluice', 'seconds'),
      unit: 'seconds',
      target: { bound: 'at most', value: 2, aim: 1 },
    },
  ],
};
