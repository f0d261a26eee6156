import type { VerificationService } from '../../../client/client.js';
import type { StateError } from '../../../platform/errors/errors.js';
import { notice } from '../../../platform/text/notices.js';
import { ClaimRevokedError } from '../../batches/claim.js';
import { dropPlan, isAtWork } from '../../history/planned-elsewhere.js';
import { RunReplacedError } from '../../stores/shared/store-protocol.js';
import { noticed } from '../reporting/run-progress.js';
import { paidSinceError } from './launched-elsewhere.js';
import type { OpenedRun } from './run-location.js';
import { noTimes } from '../../batches/batch-log.js';
import { elected, isAtEnd, isLaunchInDoubt, isPrepared } from '../../batches/batch-state.js';
import { type Batch, batchLabel, parseBatchName } from '../../batches/batch.js';
import { replaced } from '../../batches/transitions.js';
import { deleteListed } from '../../batches/uploads/delete-uploads.js';
import { defaults } from '../../driver/driver-options.js';
import type { History } from '../../history/history.js';
import type { RunClaim, SharedRunStore } from '../../stores/run-store.js';
import type { JournalEntry, RunEntry } from '../../stores/journal-entries.js';
import { entryOf, type RunState } from '../../stores/run-state.js';
import type { ResolvedRun } from '../options/run-options.js';
import { recordedBatches } from '../planning/batch-files.js';
import { keepBatches } from './earlier-results.js';

const pauseMs = 1000;
/** One at work may be about to end. */
const leewayMs = 10_000;

/**
 * Puts another run in the place of a shared one, without what others have paid for since that stopped. What it has
 * paid counts for the other's budget. What it has not launched is given up first: its uploads are deleted, under
 * claims of their batches, and what it has fetched goes to the history. What it has launched is on the service. After
 * a kill the run goes on as it is: each launch in doubt is recorded as given up before its upload is deleted.
 */
export class SharedReplacement {
  readonly #run: ResolvedRun;
  /** The run and its store, for messages. */
  readonly #name: string;
  readonly #store: SharedRunStore;
  /** Of batches that have not ended; another try has them already. */
  readonly #claims: RunClaim[] = [];
  #left = '';

  constructor(run: ResolvedRun, name: string, store: SharedRunStore) {
    this.#run = run;
    this.#name = name;
    this.#store = store;
  }

  /**
   * @param replaced.addresses those of the run that others have paid for
   * @param plan plans the other
   * @throws RunReplacedError once it is done; StateError `state_mismatch` where other processes are at work
   */
  async replace(
    {
      client,
      begun,
      batches,
      history,
      addresses,
    }: {
      readonly client: VerificationService;
      readonly begun: RunEntry;
      readonly batches: readonly Batch[];
      readonly history: History;
      readonly addresses: number;
    },
    plan: () => Promise<OpenedRun>,
  ): Promise<never> {
    const [run, name, store] = [this.#run, this.#name, this.#store];
    const refusal = (): StateError =>
      paidSinceError(
        addresses,
        'history',
        `run the same command again when the other processes of ${name} have ended, which leaves`,
        'Nothing was launched; uploads that were not launched may have been deleted',
      );
    try {
      // Each process that was killed here has lost its batches.
      if (store.state.stopped?.code === 'processes_lost') await store.record({ entry: 'resumed' });
      if (!(await this.giveUp(client, begun, batches, history))) throw refusal();
      // It would wait for the batches that this process has, which would wait for its end.
      const presence = { files: run.files, path: history.path, id: begun.id };
      if (await isAtWork(presence, run)) throw refusal();
      const { entry, plannedInput } = await plan();
      const earlier = this.entries();
      const budget = budgetAfter(store.state, run.maxCredits);
      if (earlier) {
        run.onProgress?.(noticed(notice('paid_since', { addresses })));
        reportBudget(run, name, { before: store.state.budget, most: budget?.most ?? null });
      }
      const beginning = { run: entry, plan: plannedInput.entry, budget };
      if (earlier && (await store.replace({ earlier, ...beginning }))) {
        throw new RunReplacedError(name);
      }
      await dropPlan(history, run.files, entry.id);
    } catch (error) {
      if (!(error instanceof ClaimRevokedError)) throw error;
    }
    throw refusal();
  }

  /** @returns whether nothing more of it can be launched: no other process is at work */
  async giveUp(
    client: VerificationService,
    { id }: RunEntry,
    batches: readonly Batch[],
    history: History,
  ): Promise<boolean> {
    const recorded = await this.#recorded(batches);
    if (!(await this.#claimAll(recorded))) return false;
    for (const batch of recorded) {
      const entry = entryOf(this.#store.state, batch);
      const times = this.#store.state.times.get(batchLabel(batch)) ?? noTimes;
      if (!entry) continue;
      const charge = entry.charge ?? undefined;
      await keepBatches(this.#store, [{ batch, state: entry.state, charge, times }], history);
    }
    const inDoubt = this.#claims.filter(({ batch }) => this.#isInDoubt(batch));
    for (const claim of inDoubt) await this.#record(claim, true);
    const { signal, clock, batchDeadlineMs: deadlineMs = defaults.batchDeadlineMs } = this.#run;
    const listed = new Map<string, string>();
    const { left, launched } = await deleteListed(
      client,
      ({ name, status }) =>
        parseBatchName(name, id) !== undefined && listed.set(name, status).size > 0,
      { signal, clock, deadlineMs },
    );
    for (const claim of inDoubt) {
      const { name = '' } = entryOf(this.#store.state, claim.batch) ?? {};
      // One that is broken stays so: it has failed.
      const isBroken = listed.get(name) === 'internal_error';
      if (left.includes(name) && !isBroken) return false;
      if (listed.has(name) && !isBroken && !launched.includes(name)) {
        await this.#record(claim, false);
      }
    }
    this.#left = statesOf(this.#store.state);
    return true;
  }

  /** Its entries for the journal of the run that takes its place; nothing where another process has gone on with it. */
  entries(): readonly JournalEntry[] | undefined {
    const { state } = this.#store;
    if (statesOf(state) !== this.#left) return undefined;
    const { run, plan, batches } = state;
    const runs = [...state.earlier, ...(run && plan ? [{ run, plan, batches }] : [])];
    return runs.flatMap((each) => [each.run, each.plan, ...each.batches.values()]);
  }

  async #recorded(batches: readonly Batch[]): Promise<readonly Batch[]> {
    const found: Batch[] = [];
    for await (const { batch, entry } of recordedBatches(batches, this.#store.state)) {
      if (entry) found.push(batch);
    }
    return found;
  }

  async #claimAll(batches: readonly Batch[]): Promise<boolean> {
    const isOpen = (batch: Batch): boolean => {
      const entry = entryOf(this.#store.state, batch);
      const label = batchLabel(batch);
      const isClaimed = this.#claims.some((claim) => batchLabel(claim.batch) === label);
      return entry !== undefined && !isAtEnd(entry.state) && !isClaimed;
    };
    // Until the service has taken a batch, one process has one at a time.
    const isProven = (): boolean =>
      [...this.#store.state.batches.values()].some(({ state }) =>
        state.stage === 'parsing' ? state.prepared : isPrepared(state),
      );
    const { clock, signal } = this.#run;
    let untilMs: number | undefined;
    for (;;) {
      const open = batches.filter(isOpen);
      if (open.length === 0) return true;
      const claims = await this.#store.claim(open);
      this.#claims.push(...claims);
      if (claims.length > 0) continue;
      if (this.#claims.length > 0 && !isProven()) return true;
      // A process that was killed has its batches for the rest of its lease, which one at work renews.
      untilMs ??= clock.now() + this.#store.heldForMs + leewayMs;
      if (clock.now() > untilMs) return false;
      await clock.sleep(pauseMs, signal);
    }
  }

  #isInDoubt(batch: Batch): boolean {
    const entry = entryOf(this.#store.state, batch);
    return entry !== undefined && isLaunchInDoubt(entry.state);
  }

  /** @param mayArrive whether its launch may still have been carried out */
  async #record(claim: RunClaim, mayArrive: boolean): Promise<void> {
    const { batch } = claim;
    const entry = entryOf(this.#store.state, batch);
    if (!entry || !isLaunchInDoubt(entry.state) || !('prepares' in entry.state)) return;
    const { charge, ...known } = entry;
    await claim.record({
      ...known,
      batch,
      charge: charge ?? undefined,
      state: mayArrive
        ? { ...elected(entry.state), stage: 'launching', answeredError: false, isGivenUp: true }
        : replaced(entry.state),
    });
  }
}

function statesOf({ batches }: RunState): string {
  return JSON.stringify([...batches].map(([label, { state }]) => [label, state]));
}

/** What another process would have to know of a run's budget. */
function budgetAfter(
  { budget, stopped }: RunState,
  maxCredits: number | undefined,
): RunState['budget'] {
  const isLifted = stopped?.code === 'budget_exhausted';
  return maxCredits === undefined && !isLifted
    ? budget
    : { entry: 'budget', most: maxCredits ?? null };
}

export function reportBudget(
  { onProgress }: ResolvedRun,
  run: string,
  { before, most }: { readonly before: RunState['budget']; readonly most: number | null },
): void {
  if (!before || before.most === most) return;
  onProgress?.(noticed(notice('max_credits_changed', { run, most, before: before.most })));
}
