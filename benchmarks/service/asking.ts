import type { Question, Scale } from '../harness/question.js';
import { askAll } from './ask-all.js';

const exchangers = 50;
const perExchanger = 2;
const delayMs = 100;

function addressesOf({ rows }: Scale): number {
  return rows / 50;
}

/** Exchangers on loopback, each of whose replies takes 100 ms. */
export const asking: Question = {
  asks: 'How near to what their delays allow are exchangers asked?',
  rounds: 3,
  prepare: async () => Promise.resolve(),
  tasks: {
    asked: {
      checkedAs: 'asked',
      async run(scale) {
        const addresses = addressesOf(scale);
        const seconds = await askAll({ addresses, exchangers, perExchanger, delayMs });
        // One reply at a time on every connection.
        const allowed = (exchangers * perExchanger * 1000) / delayMs;
        const share = addresses / seconds / allowed;
        return { check: `${addresses}`, values: { share } };
      },
    },
  },
  figures: (median) => [
    {
      what: `addresses a second from ${exchangers} exchangers, each reply ${delayMs} ms`,
      against: 'one reply at a time on two connections with each',
      value: median('asked', 'share'),
      unit: 'times as many',
    },
  ],
};
