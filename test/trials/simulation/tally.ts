import type { Simulated } from './stories/simulate.js';

/** What many simulations came to. */
export interface Tally {
  simulations: number;
  lives: number;
  /** Those with fewer than two faults that happened. */
  idle: number;
  readonly failed: { readonly number: number; readonly why: string }[];
  readonly reached: Record<string, number>;
}

export function emptyTally(): Tally {
  return { simulations: 0, lives: 0, idle: 0, failed: [], reached: {} };
}

/** @param number what the simulation is replayed by */
export function count(tally: Tally, number: number, simulated: Simulated): void {
  const { failure, faults, lives, reached } = simulated;
  tally.simulations += 1;
  tally.lives += lives;
  if (faults < 2) tally.idle += 1;
  if (failure !== undefined) tally.failed.push({ number, why: failure.split('\n')[0] ?? '' });
  for (const [cell, times] of reached) tally.reached[cell] = (tally.reached[cell] ?? 0) + times;
}

export function sum(tallies: readonly Tally[]): Tally {
  const total = emptyTally();
  for (const tally of tallies) {
    total.simulations += tally.simulations;
    total.lives += tally.lives;
    total.idle += tally.idle;
    total.failed.push(...tally.failed);
    for (const [cell, times] of Object.entries(tally.reached)) {
      total.reached[cell] = (total.reached[cell] ?? 0) + times;
    }
  }
  total.failed.sort((a, b) => a.number - b.number);
  return total;
}

const mostPrinted = 50;

/** Says what failed. */
export function printFailed({ failed }: Tally, what: string): void {
  if (failed.length === 0) return;
  process.stdout.write(`${failed.length} FAILED\n`);
  for (const { number, why } of failed.slice(0, mostPrinted)) {
    process.stdout.write(`${what} ${number}: ${why}\n`);
  }
}
