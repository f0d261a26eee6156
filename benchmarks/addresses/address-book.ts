import { AddressBook } from '../../src/engine/plan/address-book.js';
import { emailOf } from '../data/people.js';
import { countRows } from '../harness/count-rows.js';
import type { Measured, Question, Scale, Task } from '../harness/question.js';

const smallBatch = 1000;
const usualBatch = 50_000;

/** Unique addresses, each with a number and an outcome, and no address kept. */
export const addressBook: Question = {
  asks: 'How much memory do results and the removal of duplicates take?',
  async prepare() {
    // Addresses are made as they are added.
  },
  tasks: {
    sluice: task(() => {
      const book = new AddressBook({ seed: new Uint8Array(32).fill(7) });
      return {
        add(address, outcome) {
          const size = book.size;
          const number = book.table.add(0, address);
          if (number !== size) return;
          book.assign(0);
          book.resolve(number, 0, outcome);
        },
        find: (address) => book.outcome(book.table.add(0, address)),
        size: () => book.size,
      };
    }),
    Map: task(() => {
      const map = new Map<string, number>();
      return {
        add(address, outcome) {
          if (!map.has(address)) map.set(address, outcome);
        },
        find: (address) => map.get(address) ?? -1,
        size: () => map.size,
      };
    }),
    'small batches': { checkedAs: 'settled', run: async (scale) => settle(scale, smallBatch) },
    'usual batches': { checkedAs: 'settled', run: async (scale) => settle(scale, usualBatch) },
  },
  figures: (median, { manyRows }) => [
    {
      what: `results and dedupe of ${countRows(manyRows)} unique addresses: memory`,
      against: 'a Map of strings',
      value: median('sluice', 'bytesEach') / median('Map', 'bytesEach'),
      unit: 'of its memory',
      target: { bound: 'at most', value: 0.25 },
    },
    {
      what: 'the same, absolute',
      against: '',
      value: median('sluice', 'bytesEach'),
      unit: 'bytes an address',
      target: { bound: 'at most', value: 30 },
    },
    {
      what: 'adding and finding them',
      against: 'a Map of strings',
      value: median('Map', 'seconds') / median('sluice', 'seconds'),
      unit: 'times as fast',
    },
    {
      what: `${countRows(manyRows)} addresses in batches of ${smallBatch} assigned, found by batch, and settled: processor time`,
      against: `in batches of ${usualBatch}`,
      value: median('small batches', 'seconds') / median('usual batches', 'seconds'),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.1, aim: 1.05 },
    },
  ],
};

interface Collection {
  add(address: string, outcome: number): void;
  find(address: string): number;
  size(): number;
}

function task(create: () => Collection): Task {
  return { checkedAs: 'outcomes', run: async (scale) => measure(create(), scale) };
}

function measure(collection: Collection, scale: Scale): Measured {
  const addresses = scale.manyRows;
  const before = bytesInUse();
  const startedMs = performance.now();
  for (let n = 0; n < addresses; n += 1) collection.add(emailOf(n), n % 64);
  const bytesEach = (bytesInUse() - before) / addresses;
  let sum = 0;
  for (let n = 0; n < addresses; n += 1) sum += collection.find(emailOf(n)) * (1 + (n % 3));
  const seconds = (performance.now() - startedMs) / 1000;
  return { check: `${collection.size()} ${sum}`, values: { bytesEach, seconds } };
}

/** The numbers of each batch have to be found without a search through all others. */
function settle({ manyRows }: Scale, batchSize: number): Measured {
  const book = new AddressBook({ seed: new Uint8Array(32).fill(7) });
  const before = process.cpuUsage();
  for (let n = 0; n < manyRows; n += 1) book.assign(Math.floor(n / batchSize));
  for (let batch = 0; batch * batchSize < manyRows; batch += 1) {
    const numbers = book.allWaiting(batch, Math.min(batchSize, manyRows - batch * batchSize));
    for (const number of numbers) book.resolve(number, batch, number % 64);
    book.settle(batch, 0);
  }
  const { user, system } = process.cpuUsage(before);
  let sum = 0;
  for (let n = 0; n < manyRows; n += 1) sum += book.outcome(n) * (1 + (n % 3));
  return { check: String(sum), values: { seconds: (user + system) / 1_000_000 } };
}

/** What is still in use once everything else was collected. */
function bytesInUse(): number {
  // The memory of typed arrays is swept beside the program: what the first frees, the second has counted.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
