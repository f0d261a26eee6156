import { StateError } from '../errors/family.js';
import {
  journalEntry,
  type BalanceEntry,
  type BatchEntry,
  type FinishedEntry,
  type KeptEntry,
  type PlanEntry,
  type RunEntry,
} from './run-entries.js';

/** What a journal tells of a run. */
export interface KnownRun {
  readonly run: RunEntry | undefined;
  /** The input that can be read once, whole on disk. */
  readonly kept: KeptEntry | undefined;
  readonly plan: PlanEntry | undefined;
  readonly balance: BalanceEntry | undefined;
  readonly batches: ReadonlyMap<number, BatchEntry>;
  /** The output stands. */
  readonly finished: FinishedEntry | undefined;
  /** The caller was told of the end. */
  readonly hasEnded: boolean;
}

export const nothingKnown: KnownRun = {
  run: undefined,
  kept: undefined,
  plan: undefined,
  balance: undefined,
  batches: new Map(),
  finished: undefined,
  hasEnded: false,
};

/**
 * Takes in a journal's entries.
 *
 * @param path the journal's, for messages
 * @throws StateError `state_damaged`
 */
export function knownRun(entries: readonly unknown[], path: string): KnownRun {
  const batches = new Map<number, BatchEntry>();
  let known: KnownRun = { ...nothingKnown, batches };
  for (const value of entries) {
    const parsed = journalEntry.safeParse(value);
    if (!parsed.success) {
      throw new StateError(
        `the journal ${path} holds an entry that this version of Sluice does not know; start over with --fresh`,
        { code: 'state_damaged', cause: parsed.error },
      );
    }
    const entry = parsed.data;
    switch (entry.entry) {
      case 'run':
        known = { ...known, run: entry };
        break;
      case 'account':
        if (known.run) known = { ...known, run: { ...known.run, account: entry.account } };
        break;
      case 'kept':
        known = { ...known, kept: entry };
        break;
      case 'plan':
        known = { ...known, plan: entry };
        break;
      case 'balance':
        known = { ...known, balance: entry };
        break;
      case 'batch':
        batches.set(entry.batch, entry);
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
