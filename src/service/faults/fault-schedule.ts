import type { OperationName } from '../../contract/operations.js';
import type { ParsedFault, CheckedFaultPlan } from './fault.js';

/** A planned fault and its count. */
export interface FaultReport {
  readonly fault: ParsedFault;
  /** Requests of its operation so far. */
  readonly requests: number;
  /** How often it fired. */
  readonly fired: number;
}

interface Planned {
  readonly fault: ParsedFault;
  readonly random: () => number;
  requests: number;
  fired: number;
}

/** Distance between the seeds of a plan's faults: none follows another's numbers. */
const seedStep = 0x9e37_79b9;

/** Decides which request meets which fault, independent of their effects. */
export class FaultSchedule {
  readonly #planned: readonly Planned[];

  constructor({ seed, faults }: CheckedFaultPlan) {
    this.#planned = faults.map((fault, at) => ({
      fault,
      random: createSeededRandom(seed + at * seedStep),
      requests: 0,
      fired: 0,
    }));
  }

  /** Counts a request; of several due faults, the first in the plan fires. */
  next(operation: OperationName): ParsedFault | undefined {
    let firing: Planned | undefined;
    for (const planned of this.#planned) {
      if (planned.fault.operation !== '*' && planned.fault.operation !== operation) continue;
      planned.requests += 1;
      if (isDue(planned)) firing ??= planned;
    }
    if (firing) firing.fired += 1;
    return firing?.fault;
  }

  report(): readonly FaultReport[] {
    return this.#planned.map(({ fault, requests, fired }) => ({ fault, requests, fired }));
  }
}

function isDue({ fault, random, requests, fired }: Planned): boolean {
  const { from = 1, every = 1, times = Infinity, probability } = fault;
  const isChosen = fault.requests
    ? fault.requests.includes(requests)
    : requests >= from && (requests - from) % every === 0;
  if (!isChosen || fired >= times) return false;
  return probability === undefined || random() < probability;
}

/** Seeded numbers from 0 to below 1 (mulberry32). */
function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
