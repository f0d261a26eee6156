import { batchLabel, type Batch } from '../batches/batch.js';
import { mayHaveLaunched } from '../batches/batch-state.js';
import { noteTime, noTimes, type BatchTimes } from '../batches/batch-log.js';
import { damaged } from './directory/journal.js';
import {
  journalEntry,
  type BalanceEntry,
  type BatchEntry,
  type BudgetEntry,
  type FinishedEntry,
  type JournalEntry,
  type KeptEntry,
  type PartEntry,
  type PlanEntry,
  type RunEntry,
  type StoppedEntry,
} from './journal-entries.js';

/** What a journal records of a run. */
export interface RunState {
  readonly run: RunEntry | undefined;
  /** The input that can be read once, whole on disk. */
  readonly kept: KeptEntry | undefined;
  readonly plan: PlanEntry | undefined;
  readonly balance: BalanceEntry | undefined;
  /** Why no process launches anything more; `undefined` while launches are allowed. */
  readonly stopped: StoppedEntry | undefined;
  /** What processes that share the run may spend; `undefined` while none of them set it. */
  readonly budget: BudgetEntry | undefined;
  /** Whether a person has agreed to the launch of what is prepared. */
  readonly isApproved: boolean;
  /** What is known of batches and of parts of them, by their labels. */
  readonly batches: ReadonlyMap<string, BatchEntry | PartEntry>;
  /** When they got where they are, by their labels. */
  readonly times: ReadonlyMap<string, BatchTimes>;
  /** The output is. */
  readonly finished: FinishedEntry | undefined;
  /** The end was reported to the caller. */
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

export const emptyRunState: RunState = {
  run: undefined,
  kept: undefined,
  plan: undefined,
  balance: undefined,
  stopped: undefined,
  budget: undefined,
  isApproved: false,
  batches: new Map(),
  times: new Map(),
  finished: undefined,
  hasEnded: false,
  isCarried: false,
  earlier: [],
  generation: 0,
};

/** What is known of the run that takes the place of another. */
function stateOfNextRun(state: RunState, retries = false): RunState {
  const { run, plan, batches, kept, generation } = state;
  // What an output was written of is needed no more.
  const isOver = state.finished !== undefined && !retries;
  const earlier = isOver ? [] : [...state.earlier];
  if (run && plan && batches.size > 0 && !isOver) {
    earlier.push({ generation, run, plan, batches });
  }
  return { ...emptyRunState, kept, earlier, generation: generation + 1 };
}

/**
 * Takes in a journal's entries.
 *
 * @param path the journal's, for messages
 */
export function replayJournal(entries: readonly unknown[], path: string): RunState {
  const journal = new JournalReplay(path);
  journal.apply(entries);
  return journal.state;
}

/** A fold of journal entries as they come: each costs the same, however many came before. */
export class JournalReplay {
  readonly #path: string;
  #batches = new Map<string, BatchEntry | PartEntry>();
  #times = new Map<string, BatchTimes>();
  #state: RunState = { ...emptyRunState, batches: this.#batches, times: this.#times };

  /** @param path for messages */
  constructor(path: string) {
    this.#path = path;
  }

  /** Its maps take in what comes later, until another run begins. */
  get state(): RunState {
    return this.#state;
  }

  /** @returns the labels of the batches, and of the parts of them, that have changed */
  apply(entries: readonly unknown[]): readonly string[] {
    const labels: string[] = [];
    for (const [index, value] of entries.entries()) {
      const parsed = journalEntry.safeParse(value);
      if (!parsed.success || (!this.#state.run && parsed.data.entry !== 'run')) {
        throw damaged(
          this.#path,
          `or of another version of Sluice: its entry ${index + 1} cannot be read`,
          parsed.error,
        );
      }
      const entry = parsed.data;
      if (entry.entry === 'batch' || entry.entry === 'part') labels.push(this.#applyBatch(entry));
      else this.#apply(entry);
    }
    return labels;
  }

  #apply(entry: Exclude<JournalEntry, BatchEntry | PartEntry>): void {
    const state = this.#state;
    switch (entry.entry) {
      case 'run':
        this.#batches = new Map();
        this.#times = new Map();
        this.#state = {
          ...stateOfNextRun(state, entry.retries),
          run: entry,
          batches: this.#batches,
          times: this.#times,
        };
        return;
      case 'account':
        if (state.run) this.#set({ run: { ...state.run, account: entry.account } });
        return;
      case 'place':
        if (state.run) this.#set({ run: { ...state.run, place: entry.place } });
        return;
      case 'kept':
        this.#set({ kept: entry });
        return;
      case 'plan':
        this.#set({ plan: entry });
        return;
      case 'carry':
        this.#set({ isCarried: true });
        return;
      case 'balance':
        // The first was read before anything was launched.
        this.#set({ balance: state.balance ?? entry });
        return;
      case 'stopped':
        this.#set({ stopped: entry });
        return;
      case 'resumed':
        this.#set({ stopped: undefined });
        return;
      case 'budget':
        this.#set({ budget: entry });
        return;
      case 'approved':
        this.#set({ isApproved: true });
        return;
      case 'finished':
        this.#set({ finished: entry });
        return;
      case 'ended':
        this.#set({ hasEnded: true });
    }
  }

  #applyBatch(entry: BatchEntry | PartEntry): string {
    const label = labelOf(entry);
    this.#batches.set(label, entry);
    this.#times.set(label, noteTime(this.#times.get(label) ?? noTimes, entry.state, entry.at));
    // A batch that is sent again makes the run unfinished.
    if (this.#state.finished) this.#set({ finished: undefined, hasEnded: false });
    return label;
  }

  #set(more: Partial<RunState>): void {
    this.#state = { ...this.#state, ...more };
  }
}

function labelOf(entry: BatchEntry | PartEntry): string {
  if (entry.entry === 'batch') return batchLabel({ id: entry.batch, addresses: 0 });
  const { batch: id, start, addresses } = entry;
  return batchLabel({ id, addresses, part: { start, of: 0 } });
}

/** Whether a run may have launched something. */
export function hasPaid({ batches }: Pick<RunState, 'batches'>): boolean {
  return [...batches.values()].some(({ state }) => mayHaveLaunched(state));
}

/** Whether anything was sent, by this run or by those in whose place it began. */
export function hasSent({ batches, earlier }: RunState): boolean {
  return batches.size > 0 || earlier.length > 0;
}

export function entryOf(
  { batches }: Pick<RunState, 'batches'>,
  batch: Batch,
): BatchEntry | PartEntry | undefined {
  return batches.get(batchLabel(batch));
}

/** Number of addresses of a batch, or of a part of one, that the journal names. */
export function addressesOf(
  { plan }: Pick<RunState, 'plan'>,
  entry: BatchEntry | PartEntry,
): number {
  if (entry.entry === 'part') return entry.addresses;
  return plan?.batches[entry.batch]?.addresses ?? 0;
}

/** Of the batches whose results are not on disk yet: how many they are, and their addresses. */
export function resultsToFetch(
  state: RunState,
  batches: readonly Batch[],
): { readonly batches: number; readonly addresses: number } {
  const kept = [...state.batches.values()].filter((entry) => entry.state.stage === 'exported');
  const all = batches.reduce((sum, { addresses }) => sum + addresses, 0);
  return {
    batches: Math.max(0, batches.length - kept.length),
    addresses: kept.reduce((left, entry) => left - addressesOf(state, entry), all),
  };
}
