import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cells } from './fault.js';
import { simulate, type Simulated } from './simulate.js';

/** From so many seeds on, a cell that none has reached is an error of the simulation. */
const seedsForAllCells = 10_000;
const mostStories = 5;

/** What many seeds came to. */
interface Tally {
  seeds: number;
  lives: number;
  /** Seeds with fewer than two faults that happened. */
  idle: number;
  readonly failed: { readonly seed: number; readonly why: string }[];
  readonly reached: Record<string, number>;
}

async function simulateAll(from: number, to: number, step: number): Promise<Tally> {
  const tally: Tally = { seeds: 0, lives: 0, idle: 0, failed: [], reached: {} };
  for (let seed = from; seed < to; seed += step) add(tally, await simulate(seed));
  return tally;
}

function add(tally: Tally, { seed, failure, faults, lives, reached }: Simulated): void {
  tally.seeds += 1;
  tally.lives += lives;
  if (faults < 2) tally.idle += 1;
  if (failure !== undefined) tally.failed.push({ seed, why: failure.split('\n')[0] ?? '' });
  for (const [cell, times] of reached) tally.reached[cell] = (tally.reached[cell] ?? 0) + times;
}

async function tellStory(seed: number): Promise<boolean> {
  const trace: string[] = [];
  const { failure, lives } = await simulate(seed, trace);
  process.stdout.write(`seed ${seed}\n${trace.join('\n')}\n`);
  process.stdout.write(failure ?? `all held, in ${lives} processes`);
  process.stdout.write('\n');
  return failure === undefined;
}

async function simulateInParallel(seeds: number, first: number): Promise<void> {
  const began = performance.now();
  const workers = Math.min(availableParallelism(), 8);
  const tallies = await Promise.all(
    Array.from({ length: workers }, async (_, worker) =>
      inProcess([first + worker, first + seeds, workers]),
    ),
  );
  const total: Tally = { seeds: 0, lives: 0, idle: 0, failed: [], reached: {} };
  for (const tally of tallies) {
    total.seeds += tally.seeds;
    total.lives += tally.lives;
    total.idle += tally.idle;
    total.failed.push(...tally.failed);
    for (const [cell, times] of Object.entries(tally.reached)) {
      total.reached[cell] = (total.reached[cell] ?? 0) + times;
    }
  }
  await report(total, (performance.now() - began) / 1000);
}

async function inProcess(range: readonly number[]): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--worker', range.join(',')]);
    child.once('message', (message) => resolve(message as Tally));
    child.once('exit', (code) => reject(new Error(`a worker ended with ${code}`)));
  });
}

async function report(total: Tally, seconds: number): Promise<void> {
  for (const cell of cells) {
    process.stdout.write(`${String(total.reached[cell] ?? 0).padStart(9)}  ${cell}\n`);
  }
  const empty = cells.filter((cell) => total.reached[cell] === undefined);
  total.failed.sort((a, b) => a.seed - b.seed);
  for (const { seed } of total.failed.slice(0, mostStories)) await tellStory(seed);
  process.stdout.write(
    `${total.seeds} seeds, ${total.lives} processes, ${seconds.toFixed(1)} s; ` +
      `${total.idle} seeds with fewer than two faults; ${empty.length} of ${cells.length} cells empty\n`,
  );
  if (empty.length > 0) process.stdout.write(`empty: ${empty.join(', ')}\n`);
  if (total.failed.length > 0) {
    process.stdout.write(`${total.failed.length} FAILED\n`);
    for (const { seed, why } of total.failed.slice(0, 50)) {
      process.stdout.write(`seed ${seed}: ${why}\n`);
    }
  }
  const mustReachAll = total.seeds >= seedsForAllCells;
  if (total.failed.length > 0 || (mustReachAll && empty.length > 0)) process.exitCode = 1;
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: String(seedsForAllCells) },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    worker: { type: 'string' },
  },
});
if (values.worker !== undefined) {
  // Whoever wants the stacks asks for the story.
  Error.stackTraceLimit = 0;
  const [from = 0, to = 0, step = 1] = values.worker.split(',').map(Number);
  const tally = await simulateAll(from, to, step);
  process.send?.(tally, () => process.disconnect());
} else if (values.seed !== undefined) {
  if (!(await tellStory(Number(values.seed)))) process.exitCode = 1;
} else {
  await simulateInParallel(Number(values.seeds), Number(values.first));
}
