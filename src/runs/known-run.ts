import { batchLabel } from '../batches/batch-label.js';
import type { Batch } from '../batches/batch.js';
import { mayHaveLaunched } from '../batches/known-batch.js';
import { noteTime, noTimes, type BatchTimes } from './batch-times.js';
import { damaged } from './journal-lines.js';
import {
  journalEntry,
  type BalanceEntry,
  type BatchEntry,
  type FinishedEntry,
  type KeptEntry,
  type PartEntry,
  type PlanEntry,
  type RunEntry,
  type StoppedEntry,
} from './run-entries.js';

/** What a journal tells of a run. */
export interface KnownRun {
  readonly run: RunEntry | undefined;
  /** The input that can be read once, whole on disk. */
  readonly kept: KeptEntry | undefined;
  readonly plan: PlanEntry | undefined;
  readonly balance: BalanceEntry | undefined;
  /** Why no process launches anything more; `undefined` while launches are allowed. */
  readonly stopped: StoppedEntry | undefined;
  /** What is known of batches and of parts of them, by their labels. */
  readonly batches: ReadonlyMap<string, BatchEntry | PartEntry>;
  /** When they got where they are, by their labels. */
  readonly times: ReadonlyMap<string, BatchTimes>;
  /** The output stands. */
  readonly finished: FinishedEntry | undefined;
  /** The caller was told of the end. */
  readonly hasEnded: boolean;
  /** A person wants it carried over to whatever list comes next. */
  readonly isCarried: boolean;
  /** The runs in whose place it began, the first of them first: what they paid for is not paid again. */
  readonly earlier: readonly EarlierRun[];
  /** How many runs the journal has begun. */
  readonly generation: number;
}

/** A run that another has taken the place of, after it has sent something. */
export interface EarlierRun {
  readonly generation: number;
  readonly run: RunEntry;
  readonly plan: PlanEntry;
  readonly batches: ReadonlyMap<string, BatchEntry | PartEntry>;
}

export const nothingKnown: KnownRun = {
  run: undefined,
  kept: undefined,
  plan: undefined,
  balance: undefined,
  stopped: undefined,
  batches: new Map(),
  times: new Map(),
  finished: undefined,
  hasEnded: false,
  isCarried: false,
  earlier: [],
  generation: 0,
};

/** What is known of the run that takes the place of another. */
function nextRun(known: KnownRun, retries = false): KnownRun {
  const { run, plan, batches, kept, generation } = known;
  // What an output was written of is needed no more.
  const isOver = known.finished !== undefined && !retries;
  const earlier = isOver ? [] : [...known.earlier];
  if (run && plan && batches.size > 0 && !isOver) {
    earlier.push({ generation, run, plan, batches });
  }
  return { ...nothingKnown, kept, earlier, generation: generation + 1 };
}

/**
 * Takes in a journal's entries.
 *
 * @param path the journal's, for messages
 * @param before what those before them told. @default nothing
 * @throws StateError `state_damaged`
 */
export function knownRun(
  entries: readonly unknown[],
  path: string,
  before: KnownRun = nothingKnown,
): KnownRun {
  let batches = new Map(before.batches);
  let times = new Map(before.times);
  let known: KnownRun = { ...before, batches, times };
  for (const [index, value] of entries.entries()) {
    const parsed = journalEntry.safeParse(value);
    if (!parsed.success || (!known.run && parsed.data.entry !== 'run')) {
      throw damaged(
        path,
        `or of another version of Sluice: its entry ${index + 1} makes no sense to this one`,
        parsed.error,
      );
    }
    const entry = parsed.data;
    switch (entry.entry) {
      case 'run':
        batches = new Map();
        times = new Map();
        known = { ...nextRun(known, entry.retries), run: entry, batches, times };
        break;
      case 'account':
        if (known.run) known = { ...known, run: { ...known.run, account: entry.account } };
        break;
      case 'place':
        if (known.run) known = { ...known, run: { ...known.run, place: entry.place } };
        break;
      case 'kept':
        known = { ...known, kept: entry };
        break;
      case 'plan':
        known = { ...known, plan: entry };
        break;
      case 'carry':
        known = { ...known, isCarried: true };
        break;
      case 'balance':
        // The first was read before anything was launched.
        known = { ...known, balance: known.balance ?? entry };
        break;
      case 'stopped':
        known = { ...known, stopped: entry };
        break;
      case 'resumed':
        known = { ...known, stopped: undefined };
        break;
      case 'batch':
      case 'part':
        batches.set(labelOf(entry), entry);
        times.set(
          labelOf(entry),
          noteTime(times.get(labelOf(entry)) ?? noTimes, entry.known, entry.at),
        );
        // A batch that is sent again makes the run unfinished.
        known = { ...known, finished: undefined, hasEnded: false };
        break;
      case 'finished':
        known = { ...known, finished: entry };
        break;
      case 'ended':
        known = { ...known, hasEnded: true };
    }
  }
  return known;
}

function labelOf(entry: BatchEntry | PartEntry): string {
  if (entry.entry === 'batch') return batchLabel({ id: entry.batch, addresses: 0 });
  const { batch: id, start, addresses } = entry;
  return batchLabel({ id, addresses, part: { start, of: 0 } });
}

/** Whether a run may have launched something. */
export function hasPaid({ batches }: Pick<KnownRun, 'batches'>): boolean {
  return [...batches.values()].some(({ known }) => mayHaveLaunched(known));
}

/** Whether anything was sent, by this run or by those in whose place it began. */
export function hasSent({ batches, earlier }: KnownRun): boolean {
  return batches.size > 0 || earlier.length > 0;
}

/** What the journal knows of a batch, or of a part of one. */
export function entryOf(
  { batches }: Pick<KnownRun, 'batches'>,
  batch: Batch,
): BatchEntry | PartEntry | undefined {
  return batches.get(batchLabel(batch));
}

/** Number of addresses of a batch, or of a part of one, that the journal tells of. */
export function addressesOf(
  { plan }: Pick<KnownRun, 'plan'>,
  entry: BatchEntry | PartEntry,
): number {
  if (entry.entry === 'part') return entry.addresses;
  return plan?.batches[entry.batch]?.addresses ?? 0;
}

/** Addresses of the batches whose results are not on disk yet. */
export function addressesToFetch(known: KnownRun, batches: readonly Batch[]): number {
  const all = batches.reduce((sum, { addresses }) => sum + addresses, 0);
  return [...known.batches.values()]
    .filter((entry) => entry.known.stage === 'exported')
    .reduce((left, entry) => left - addressesOf(known, entry), all);
}
