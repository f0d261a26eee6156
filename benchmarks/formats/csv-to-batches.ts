import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { contactsFile, usualContacts } from '../data/contacts.js';
import type { Measured, Question, Scale } from '../harness/question.js';
import { withScratch } from '../harness/scratch.js';
import { timed } from '../harness/seconds.js';
import { batchText, planRun } from '../runs/planned-run.js';

const input = async (scale: Scale): Promise<string> => contactsFile(usualContacts(scale.rows));

/** Pass one alone: a CSV file becomes TXT batches of unique addresses on disk. */
export const csvToBatches: Question = {
  asks: 'How long does it take to bring the unique addresses of a CSV file into batches?',
  async prepare(scale) {
    await input(scale);
  },
  tasks: {
    sluice: {
      checkedAs: 'addresses',
      run: async (scale) =>
        withScratch(async (folder) => {
          const { seconds, result } = await timed(async () => planRun(await input(scale), folder));
          const texts: string[] = [];
          for (const { id } of result.batches) texts.push(await batchText(result, id));
          await result.state.close();
          return measuredOf(texts.join('').trimEnd().split('\n'), seconds);
        }),
    },
    'csv-parse into a Set': {
      checkedAs: 'addresses',
      run: async (scale) => {
        const addresses = new Set<string>();
        const { seconds } = await timed(async () => {
          const rows = createReadStream(await input(scale)).pipe(
            parse({ columns: true, bom: true }),
          );
          rows.on('data', ({ email }: { email: string }) => addresses.add(email.toLowerCase()));
          await finished(rows);
        });
        return measuredOf([...addresses], seconds);
      },
    },
  },
  figures: (median) => [
    {
      what: 'CSV file to TXT batches of unique addresses',
      against: 'csv-parse to objects into a Set',
      value: median('csv-parse into a Set', 'seconds') / median('sluice', 'seconds'),
      unit: 'times as fast',
      target: { bound: 'at least', value: 8, aim: 12 },
    },
  ],
};

function measuredOf(addresses: readonly string[], seconds: number): Measured {
  const hash = createHash('sha256').update(addresses.join('\n').toLowerCase()).digest('hex');
  return { check: `${addresses.length} ${hash}`, values: { seconds } };
}
