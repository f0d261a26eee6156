import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import { planFaults, type Fault } from '../faults/fault.js';
import type { Random } from '../random.js';
import { changeRows, makeRows, type Rows } from '../rows.js';

/** What a simulation plays: an input, a service, and what goes wrong. */
export interface Story {
  readonly rows: Rows;
  readonly faults: readonly Fault[];
  /** Credits of the account at its beginning. */
  readonly credit: number;
  /** How far the service's clock is before the machine's. */
  readonly clockSkewMs: number;
  readonly options: Pick<RunOptions, 'concurrency' | 'deleteBatches'>;
  /** The lists of later nights: one that comes takes the place of the one before. @default none */
  readonly laterRows?: readonly Rows[];
}

const dayMs = 24 * 3_600_000;

/** Any story: at least three batches and at least two faults. */
export function drawStory(random: Random): Story {
  const rows = makeRows(random);
  const faults = planFaults(random);
  const credit = random.chance(0.2) ? random.between(0, 12) : Infinity;
  const concurrency = random.between(1, 4);
  const deleteBatches = random.chance(0.3);
  const clockSkewMs = random.pick([0, 0, dayMs, -dayMs]);
  return { rows, faults, credit, clockSkewMs, options: { concurrency, deleteBatches } };
}

/** Any story in which the list changes between its processes, which end more often. */
export function drawChangingStory(random: Random): Story {
  const story = drawStory(random);
  const laterRows: Rows[] = [];
  for (let more = random.between(1, 3); more > 0; more -= 1) {
    laterRows.push(changeRows(random, laterRows.at(-1) ?? story.rows));
  }
  const ends = Array.from({ length: random.between(1, 4) }, (): Fault => ({
    of: 'crash',
    nth: random.between(0, random.chance(0.5) ? 40 : 400),
    stage: random.chance(0.3) ? 'carried' : undefined,
  }));
  return { ...story, laterRows, faults: [...story.faults, ...ends] };
}
