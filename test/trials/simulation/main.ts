import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeOutage, planCopies, simulateCopy } from './stories/copied-state.js';
import { cells } from './faults/fault.js';
import { inWorkers, parseShare, sendBack } from './in-workers.js';
import { useLightSignals } from './light-signals.js';
import { simulateNights } from './stories/nights.js';
import { describePair, planPairs, samplePairs, simulatePair } from './stories/pairs.js';
import { simulateSharedHistory } from './stories/shared-history.js';
import { simulateShared } from './stories/shared-workers.js';
import { simulate, type Simulated } from './stories/simulate.js';
import { count, emptyTally, printFailed, sum, type Tally } from './tally.js';

/** From so many seeds on, a cell that none has reached is an error of the simulation. */
const seedsForAllCells = 10_000;
const mostStories = 5;

const program = fileURLToPath(import.meta.url);
const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    pairs: { type: 'string' },
    pair: { type: 'string' },
    copies: { type: 'string' },
    shared: { type: 'string' },
    'shared-seed': { type: 'string' },
    histories: { type: 'string' },
    'histories-seed': { type: 'string' },
    nights: { type: 'string' },
    'nights-seed': { type: 'string' },
    sample: { type: 'string', default: '1' },
    'until-failure': { type: 'boolean', default: false },
    worker: { type: 'string' },
  },
});
useLightSignals();
const share = parseShare(values.worker);
// Whoever wants the stacks asks for the story.
if (share) Error.stackTraceLimit = 0;

if (values.seed !== undefined) {
  const seed = Number(values.seed);
  await tellStory(`seed ${seed}`, async (trace) => simulate(seed, trace));
} else if (values.pair !== undefined) {
  const pair = (await planPairs())[Number(values.pair)];
  if (pair) await tellStory(describePair(pair), async (trace) => simulatePair(pair, trace));
} else if (values['shared-seed'] !== undefined) {
  const seed = Number(values['shared-seed']);
  await tellStory(`seed ${seed} of a shared run`, async (trace) => simulateShared(seed, trace));
} else if (values['histories-seed'] !== undefined) {
  const seed = Number(values['histories-seed']);
  await tellStory(`seed ${seed} of histories`, async (trace) => simulateSharedHistory(seed, trace));
} else if (values.histories !== undefined) {
  await simulateHistories(Number(values.histories), Number(values.first));
} else if (values['nights-seed'] !== undefined) {
  const seed = Number(values['nights-seed']);
  await tellStory(`seed ${seed} of nights`, async (trace) => simulateNights(seed, trace));
} else if (values.nights !== undefined) {
  await simulateManyNights(Number(values.nights), Number(values.first));
} else if (values.shared !== undefined) {
  await simulateSharedRuns(Number(values.shared), Number(values.first));
} else if (values.pairs !== undefined) {
  await simulatePairs(values.pairs);
} else if (values.copies !== undefined) {
  await simulateCopies(Number(values.copies));
} else {
  await simulateSeeds(Number(values.seeds ?? seedsForAllCells), Number(values.first));
}

async function tellStory(
  name: string,
  play: (trace: string[]) => Promise<Pick<Simulated, 'failure' | 'lives'>>,
): Promise<void> {
  const trace: string[] = [];
  const { failure, lives } = await play(trace);
  process.stdout.write(`${name}\n${trace.join('\n')}\n`);
  process.stdout.write(`${failure ?? `all held, in ${lives} processes`}\n`);
  if (failure !== undefined) process.exitCode = 1;
}

/** Simulates the seeds from `first` on; the workers share them. */
async function simulateSeeds(seeds: number, first: number): Promise<void> {
  if (share) {
    const tally = emptyTally();
    for (let seed = first + share.first; seed < first + seeds; seed += share.step) {
      count(tally, seed, await simulate(seed));
      if (values['until-failure'] && tally.failed.length > 0) break;
    }
    sendBack(tally);
    return;
  }
  const began = performance.now();
  const until = values['until-failure'] ? ['--until-failure'] : [];
  const args = ['--seeds', String(seeds), '--first', String(first), ...until];
  const isEnough = ({ failed }: Tally): boolean => values['until-failure'] && failed.length > 0;
  const total = sum(await inWorkers<Tally>(program, args, isEnough));
  for (const cell of cells) {
    process.stdout.write(`${String(total.reached[cell] ?? 0).padStart(9)}  ${cell}\n`);
  }
  const empty = cells.filter((cell) => total.reached[cell] === undefined);
  for (const { number } of total.failed.slice(0, mostStories)) {
    await tellStory(`seed ${number}`, async (trace) => simulate(number, trace));
  }
  process.stdout.write(
    `${total.simulations} seeds, ${total.lives} processes, ${secondsSince(began)} s; ` +
      `${total.idle} seeds with fewer than two faults; ${empty.length} of ${cells.length} cells empty\n`,
  );
  if (empty.length > 0) process.stdout.write(`empty: ${empty.join(', ')}\n`);
  printFailed(total, 'seed');
  const mustReachAll = seeds >= seedsForAllCells;
  if (total.failed.length > 0 || total.idle > 0) process.exitCode = 1;
  if (mustReachAll && empty.length > 0) process.exitCode = 1;
}

/** Simulates all pairs of faults, or a sample of so many. */
async function simulatePairs(wanted: string): Promise<void> {
  const pairs = await planPairs();
  const size = wanted === 'all' ? pairs.length : Number(wanted);
  const sample = samplePairs(pairs, size, Number(values.sample));
  if (share) {
    const tally = emptyTally();
    for (const pair of sample.filter((_, at) => at % share.step === share.first)) {
      count(tally, pairs.indexOf(pair), await simulatePair(pair));
    }
    sendBack(tally);
    return;
  }
  const began = performance.now();
  const args = ['--pairs', wanted, '--sample', values.sample];
  const total = sum(await inWorkers<Tally>(program, args));
  process.stdout.write(
    `${total.simulations} of ${pairs.length} pairs of faults on a run of two batches, ` +
      `${total.lives} processes, ${secondsSince(began)} s; both happened in ` +
      `${total.simulations - total.idle}: the others have a fault at a request that this run does not make\n`,
  );
  printFailed(total, 'pair');
  if (total.failed.length > 0) process.exitCode = 1;
}

/** Simulates the runs of so many seeds whose state is copied, at every moment and in every order. */
async function simulateCopies(seeds: number): Promise<void> {
  if (share) {
    const tally = emptyTally();
    for (let seed = 1 + share.first; seed <= seeds; seed += share.step) {
      for (const story of await planCopies(seed, seed % 3 === 0)) {
        tally.simulations += 1;
        await simulateCopy(story).catch((error: unknown) => {
          tally.failed.push({ number: seed, why: describeOutage(story, error) });
        });
      }
    }
    sendBack(tally);
    return;
  }
  const began = performance.now();
  const total = sum(await inWorkers<Tally>(program, ['--copies', String(seeds)]));
  process.stdout.write(
    `${total.simulations} copies of the state of ${seeds} runs, ${secondsSince(began)} s\n`,
  );
  printFailed(total, 'seed');
  if (total.failed.length > 0) process.exitCode = 1;
}

/** Simulates so many runs that processes share, from seed `first` on. */
async function simulateSharedRuns(seeds: number, first: number): Promise<void> {
  if (share) {
    const tally = emptyTally();
    for (let seed = first + share.first; seed < first + seeds; seed += share.step) {
      const end = await simulateShared(seed);
      const { failure, lives, disturbances, failovers, beginningsLost, handedOver, refused } = end;
      tally.simulations += 1;
      tally.lives += lives;
      const counts = {
        disturbances,
        failovers,
        'beginnings lost': beginningsLost,
        'batches handed over': handedOver,
        'processes with other rows refused': refused,
      };
      for (const [what, times] of Object.entries(counts)) {
        tally.reached[what] = (tally.reached[what] ?? 0) + times;
      }
      if (failure !== undefined) tally.failed.push({ number: seed, why: failure });
    }
    sendBack(tally);
    return;
  }
  const began = performance.now();
  const args = ['--shared', String(seeds), '--first', String(first)];
  const total = sum(await inWorkers<Tally>(program, args));
  const reported = Object.entries(total.reached).map(([what, times]) => `${times} ${what}`);
  process.stdout.write(
    `${total.simulations} runs that processes share, ${total.lives} processes, ${reported.join(', ')}, ${secondsSince(began)} s\n`,
  );
  printFailed(total, 'seed');
  if (total.failed.length > 0) process.exitCode = 1;
}

/** Simulates so many lists whose runs have one history, from seed `first` on. */
async function simulateHistories(seeds: number, first: number): Promise<void> {
  if (share) {
    const tally = emptyTally();
    for (let seed = first + share.first; seed < first + seeds; seed += share.step) {
      const { failure, lives, replaced } = await simulateSharedHistory(seed);
      tally.simulations += 1;
      tally.lives += lives;
      tally.reached['replaced'] = (tally.reached['replaced'] ?? 0) + replaced;
      if (failure !== undefined) tally.failed.push({ number: seed, why: failure });
    }
    sendBack(tally);
    return;
  }
  const began = performance.now();
  const args = ['--histories', String(seeds), '--first', String(first)];
  const total = sum(await inWorkers<Tally>(program, args));
  process.stdout.write(
    `${total.simulations} histories, ${total.lives} processes, ${total.reached['replaced'] ?? 0} times begun again as another had paid, ${secondsSince(began)} s\n`,
  );
  printFailed(total, 'seed');
  if (total.failed.length > 0) process.exitCode = 1;
}

/** Simulates the nights of so many lists, from seed `first` on. */
async function simulateManyNights(seeds: number, first: number): Promise<void> {
  if (share) {
    const tally = emptyTally();
    for (let seed = first + share.first; seed < first + seeds; seed += share.step) {
      count(tally, seed, await simulateNights(seed));
    }
    sendBack(tally);
    return;
  }
  const began = performance.now();
  const args = ['--nights', String(seeds), '--first', String(first)];
  const total = sum(await inWorkers<Tally>(program, args));
  process.stdout.write(
    `${total.simulations} lists over ${total.lives} nights, ${secondsSince(began)} s\n`,
  );
  printFailed(total, 'seed');
  if (total.failed.length > 0) process.exitCode = 1;
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}
