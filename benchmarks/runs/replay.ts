import { contactsFile, usualContacts } from '../data/contacts.js';
import type { Question, Scale } from '../harness/question.js';
import { withScratch } from '../harness/scratch.js';
import { timed } from '../harness/seconds.js';
import { syntheticExport } from '../harness/synthetic-export.js';
import { batchText, planRun } from './planned-run.js';

const input = async (scale: Scale): Promise<string> => contactsFile(usualContacts(scale.rows));

/** What a process does with the results that the one before it left in the state directory. */
export const replay: Question = {
  asks: 'How fast are results taken up again after a crash?',
  async prepare(scale) {
    await input(scale);
  },
  tasks: {
    sluice: {
      checkedAs: 'outcomes',
      run: async (scale) =>
        withScratch(async (folder) => {
          const before = await planRun(await input(scale), folder);
          const { state } = before;
          for (const claim of await state.claim(before.batches)) {
            const { batch } = claim;
            const text = await batchText(before, batch.id);
            const matched = await before.plan.join.match(batch, async () =>
              asyncly(syntheticExport(text)),
            );
            const results = before.plan.join.byLine(batch, matched);
            await claim.keepResults(results, before.plan.outcomes);
          }
          const addresses = before.plan.book.size;
          const { seconds } = await timed(async () => {
            for (const batch of before.batches) {
              const kept = await before.state.readResults(batch, before.plan.outcomes);
              const results = before.plan.join.byNumber(batch, kept);
              await before.plan.join.settle(batch, { results });
            }
          });
          await state.close();
          let verified = 0;
          for (let number = 0; number < addresses; number += 1) {
            const outcome = before.plan.outcomes.get(before.plan.book.outcome(number));
            if (outcome.verification === 'verified') verified += 1;
          }
          if (verified !== addresses) throw new Error(`${verified} of ${addresses} have a result`);
          return { check: String(addresses), values: { seconds, records: addresses } };
        }),
    },
  },
  figures: (median) => [
    {
      what: 'replay of results after a crash',
      against: '',
      value: median('sluice', 'records') / median('sluice', 'seconds'),
      unit: 'records a second',
      target: { bound: 'at least', value: 5_000_000 },
    },
  ],
};

async function* asyncly(blocks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* blocks;
}
