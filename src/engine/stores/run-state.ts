import { batchLabel, type Batch } from '../batches/batch.js';
import { isExportRetriable, mayHaveLaunched } from '../batches/batch-state.js';
import { noteTime, noTimes, type BatchTimes } from '../batches/batch-log.js';
import { heldCredits } from '../batches/claim.js';
import type { VerificationType } from '../../contract/enums.js';
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

/** Batches and parts in a journal, by label. */
export interface JournaledBatches {
  readonly batches: ReadonlyMap<string, BatchEntry | PartEntry>;
}

export interface RunState extends JournaledBatches {
  readonly run: RunEntry | undefined;
  /** The completed copy of an input that can be read once. */
  readonly kept: KeptEntry | undefined;
  readonly plan: PlanEntry | undefined;
  readonly balance: BalanceEntry | undefined;
  /** Why launches are stopped; `undefined` while they are allowed. */
  readonly stopped: StoppedEntry | undefined;
  /** The budget of a shared run; `undefined` while none is set. */
  readonly budget: BudgetEntry | undefined;
  /** Whether a person has agreed to the launch of the prepared batches. */
  readonly isApproved: boolean;
  /** Whether the service has answered an upload with another batch's uuid. */
  readonly isDistrusted: boolean;
  /** Times of the stages of batches and parts, by label. */
  readonly times: ReadonlyMap<string, BatchTimes>;
  /** The output is complete. */
  readonly finished: FinishedEntry | undefined;
  /** The end was reported to the caller. */
  readonly hasEnded: boolean;
  /** Whether a person wants it carried over to whatever list comes next. */
  readonly isCarried: boolean;
  /** The runs that it replaced, the first of them first: what they paid for is not paid again. */
  readonly earlier: readonly EarlierRun[];
  /** Number of runs in the journal. */
  readonly generation: number;
}

/** A run that was replaced after it had sent something. */
export interface EarlierRun extends JournaledBatches {
  readonly generation: number;
  readonly run: RunEntry;
  readonly plan: PlanEntry;
}

export const emptyRunState: RunState = {
  run: undefined,
  kept: undefined,
  plan: undefined,
  balance: undefined,
  stopped: undefined,
  budget: undefined,
  isApproved: false,
  isDistrusted: false,
  batches: new Map(),
  times: new Map(),
  finished: undefined,
  hasEnded: false,
  isCarried: false,
  earlier: [],
  generation: 0,
};

/** The state of a run that replaces another. */
function stateOfNextRun(state: RunState, retries = false): RunState {
  const { run, plan, batches, kept, generation, isDistrusted } = state;
  // The results of a complete output are no longer needed.
  const isOver = state.finished !== undefined && !retries;
  const earlier = isOver ? [] : [...state.earlier];
  if (run && plan && batches.size > 0 && !isOver) {
    earlier.push({ generation, run, plan, batches });
  }
  return { ...emptyRunState, kept, isDistrusted, earlier, generation: generation + 1 };
}

/**
 * Replays a journal's entries.
 *
 * @param path the journal's, for messages
 * @param toError the error for a damaged one, with its store's advice
 */
export function replayJournal(
  entries: readonly unknown[],
  path: string,
  toError = damaged,
): RunState {
  const journal = new JournalReplay(path, toError);
  journal.apply(entries);
  return journal.state;
}

/** Folds journal entries as they arrive: each costs the same, however many came before. */
export class JournalReplay {
  readonly #path: string;
  readonly #toError: typeof damaged;
  #batches = new Map<string, BatchEntry | PartEntry>();
  #times = new Map<string, BatchTimes>();
  #state: RunState = { ...emptyRunState, batches: this.#batches, times: this.#times };

  /** @param path for messages @param toError the error for a damaged journal, with its store's advice */
  constructor(path: string, toError = damaged) {
    this.#path = path;
    this.#toError = toError;
  }

  /** Its maps are updated in place until another run begins. */
  get state(): RunState {
    return this.#state;
  }

  apply(entries: readonly unknown[]): readonly string[] {
    const labels: string[] = [];
    for (const [index, value] of entries.entries()) {
      const parsed = journalEntry.safeParse(value);
      if (!parsed.success || (!this.#state.run && parsed.data.entry !== 'run')) {
        throw this.#toError(
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
      case 'distrusted':
        this.#set({ isDistrusted: true });
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
    if (entry.generation !== undefined) {
      const earlier = this.#state.earlier.map((run) =>
        run.generation === entry.generation
          ? { ...run, batches: new Map(run.batches).set(label, entry) }
          : run,
      );
      this.#set({ earlier });
      return label;
    }
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

export function hasPaid({ batches }: JournaledBatches): boolean {
  return [...batches.values()].some(({ state }) => mayHaveLaunched(state));
}

/** Credits of the runs whose budget a run has taken over with their list. */
export function spentBefore({ run, earlier }: RunState): Record<VerificationType, number> {
  const credits = { email: 0, phone: 0 };
  let keepsBudget = run?.keepsBudget;
  for (const before of earlier.toReversed()) {
    if (keepsBudget !== true) break;
    for (const entry of before.batches.values()) {
      const planned = before.plan.batches[entry.batch];
      if (!planned) continue;
      const addresses = entry.entry === 'part' ? entry.addresses : planned.addresses;
      const { spent, reserved } = heldCredits(addresses, entry);
      credits[planned.type as VerificationType] += spent + reserved;
    }
    keepsBudget = before.run.keepsBudget;
  }
  return credits;
}

/** Number of paid batches whose exports were not had: they can be requested again. */
export function owedExports({ batches }: JournaledBatches): number {
  return [...batches.values()].filter(({ state }) => isExportRetriable(state)).length;
}

/** Whether this run or one that it replaced has sent anything. */
export function hasSent({ batches, earlier }: RunState): boolean {
  return batches.size > 0 || earlier.length > 0;
}

export function entryOf(
  { batches }: JournaledBatches,
  batch: Batch,
): BatchEntry | PartEntry | undefined {
  return batches.get(batchLabel(batch));
}

export function addressesOf(
  { plan }: Pick<RunState, 'plan'>,
  entry: BatchEntry | PartEntry,
): number {
  if (entry.entry === 'part') return entry.addresses;
  return plan?.batches[entry.batch]?.addresses ?? 0;
}

/** Number of batches without stored results, and of their addresses. */
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
