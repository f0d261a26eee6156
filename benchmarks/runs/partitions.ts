import { manyAddresses } from '../../src/engine/runs/planning/plan-input.js';
import { contactsFile } from '../data/contacts.js';
import { countRows } from '../harness/count-rows.js';
import { peakBytes } from '../harness/peak-bytes.js';
import type { Question, Scale, Task } from '../harness/question.js';
import { withScratch } from '../harness/scratch.js';
import { planRun } from './planned-run.js';

const input = async ({ manyRows: rows }: Scale): Promise<string> =>
  contactsFile({ rows, unique: rows });

/** Pass one of a list too large for one table, in both ways. */
export const partitions: Question = {
  asks: 'What does it take to number many addresses by partitions, and by one table?',
  rounds: 1,
  async prepare(scale) {
    await input(scale);
  },
  tasks: {
    'by partitions': planning(({ manyRows }) => Math.min(manyAddresses, manyRows / 10)),
    'by one table': planning(() => Infinity),
  },
  figures: (median, { manyRows }) => {
    const against = 'the same by one table';
    const ratio = (name: string): number =>
      median('by partitions', name) / median('by one table', name);
    return [
      {
        what: `planning of ${countRows(manyRows)} unique addresses by partitions: peak memory`,
        against,
        value: ratio('peakBytes'),
        unit: 'times',
        target: { bound: 'at most', value: 0.75 },
      },
      { what: 'its processor time', against, value: ratio('seconds'), unit: 'times' },
    ];
  },
};

function planning(partitionFrom: (scale: Scale) => number): Task {
  return {
    checkedAs: 'batches',
    run: async (scale) =>
      withScratch(async (folder) => {
        const before = process.cpuUsage();
        const { entry, state } = await planRun(await input(scale), folder, {
          partitionFrom: partitionFrom(scale),
        });
        const { user, system } = process.cpuUsage(before);
        await state.close();
        const check = JSON.stringify(entry);
        return { check, values: { seconds: (user + system) / 1_000_000, peakBytes: peakBytes() } };
      }),
  };
}
