import { cellOf, collide, networkFaults, operations, stages, type Fault } from '../faults/fault.js';
import { Random } from '../random.js';
import { makeRows } from '../rows.js';
import { simulate, type Simulated } from './simulate.js';
import type { Story } from './story.js';

/** Decides the rows and the order of events of the run that all pairs disturb. */
const seedOfRun = 11;

/** Requests that a fault may bring about where the undisturbed run has none: looks and deletions. */
const sparedRequests = 2;

type NetworkOrEnd = Exclude<Fault, { readonly of: 'file' }>;

/** Two things that go wrong in one run. */
export type Pair = readonly [NetworkOrEnd, NetworkOrEnd];

/** A run of two batches, and what goes wrong with it. */
function twoBatches(faults: readonly Fault[]): (random: Random) => Story {
  return (random) => ({
    rows: makeRows(random, 2, 2),
    faults,
    credit: Infinity,
    clockSkewMs: 0,
    options: { concurrency: 2, deleteBatches: true },
  });
}

/**
 * All pairs of faults: each kind at each request that the undisturbed run makes and at the one behind
 * the last, which a fault brings about, and the end of the process in each stage.
 */
export async function planPairs(): Promise<readonly Pair[]> {
  const { requests } = await simulate(seedOfRun, undefined, twoBatches([]));
  const faults: NetworkOrEnd[] = stages.map((stage) => ({ of: 'crash', nth: 0, stage }));
  for (const operation of operations) {
    const made = requests.get(operation) ?? 0;
    for (let nth = 0; nth < Math.max(made + 1, sparedRequests); nth += 1) {
      for (const what of networkFaults(operation)) {
        faults.push({ of: 'network', stage: operation, what, nth, times: 1 });
      }
    }
  }
  return faults.flatMap((one, at) =>
    faults
      .slice(at + 1)
      .filter((other) => !collide(one, other))
      .map((other): Pair => [one, other]),
  );
}

/** Plays the run with both faults. */
export async function simulatePair(pair: Pair, trace?: string[]): Promise<Simulated> {
  return simulate(seedOfRun, trace, twoBatches(pair));
}

/** How messages call a pair. */
export function describePair(pair: Pair): string {
  return pair
    .map((fault) => `${cellOf(fault, fault.stage ?? '')} ${fault.nth + 1}`)
    .join(', then ');
}

/** So many pairs, drawn by a seed; all of them unless there are more. */
export function samplePairs(pairs: readonly Pair[], size: number, seed: number): readonly Pair[] {
  if (size >= pairs.length) return pairs;
  const random = new Random(seed);
  return Array.from({ length: size }, () => random.pick(pairs));
}
