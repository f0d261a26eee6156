import { ClaimRevokedError } from '../batches/claim.js';
import { mayHaveLaunched } from '../batches/batch-state.js';
import type { Client } from '../../client/client.js';
import { stopsForNow } from '../driver/batch-errors.js';
import type { CreditBalance } from '../../contract/bodies.js';
import { StateError } from '../../platform/errors/errors.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import { readBalance, readBalanceAfter, withBalance } from './credits.js';
import { reportBalance, openInTurn } from './resume/new-run.js';
import { type DriveRunEnd, RunDriver } from './execution/run-driver.js';
import type { DriveRunOptions } from './execution/run-batches.js';
import type { History } from '../history/history.js';
import { type EarlierRun, hasPaid, hasSent, type RunState } from '../stores/run-state.js';
import type { OfflinePlan, OpenedRun, RunLocation } from './resume/run-location.js';
import { outputIdOf } from '../stores/journal-entries.js';
import { stopForAll } from '../stores/shared/shared-status.js';
import type { ResolvedRun } from './options/run-options.js';
import type { PlannedInput } from './planning/plan-input.js';
import { RunOutput } from './output/run-output.js';
import type { OutputClaim, RunStore } from '../stores/run-store.js';
import { creditsBefore } from './reporting/read-status.js';
import { rowsLeftAlone, summarize } from '../summary/build-summary.js';
import { isRetriable, type Summary } from '../summary/summary.js';
import { Reconciliation } from './resume/reconcile.js';
import { notice } from '../../platform/text/notices.js';
import { noticed } from './reporting/run-progress.js';

/** One process's work on a run: all of it, or its share. */
export class RunLifecycle {
  readonly #options: ResolvedRun;
  readonly #place: RunLocation;
  readonly #store: RunStore;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #startedMs = performance.now();
  /** The claim of the output, and what is written under it. */
  #outputClaim: { readonly claim: OutputClaim; readonly output: RunOutput } | undefined;
  /** Resolves when the output of a revoked claim is cleaned up. */
  #dropped: Promise<void> = Promise.resolve();
  /** Another process may have sent something for a plan that this one has found. */
  #hadPlan = false;
  /** What the service's list shows of the run, once it is asked for. */
  #reconciliation: Reconciliation | undefined;
  /** Whether something may be sent from here on, by this process or another. */
  #isBegun = false;
  #end: DriveRunEnd | undefined;
  #summary: Summary | undefined;

  constructor(place: RunLocation) {
    this.#signal = AbortSignal.any([place.run.signal, this.#stop.signal]);
    this.#options = { ...place.run, signal: this.#signal };
    this.#place = place;
    this.#store = place.store;
  }

  /** Whether nothing in the run's place is needed any more: it has ended, was refused, or has sent nothing. */
  get isRemovable(): boolean {
    const { state } = this.#store;
    if (this.#summary) return !isRetriable(this.#summary);
    if (this.#end) return hasNothingWorthContinuing(this.#end, state);
    if (this.#isBegun || hasSent(state)) return false;
    return this.#reconciliation ? this.#reconciliation.foundNothing : !this.#hadPlan;
  }

  async toEnd(): Promise<Summary> {
    const store = this.#store;
    const finished = await this.#place.finishedSummary();
    if (finished) return this.#finished(finished);
    // A run that had ended is dropped by now.
    this.#hadPlan = store.state.plan !== undefined;
    const client = await this.#place.connect();
    const opened = await this.#open(client);
    if ('summary' in opened) return this.#finished(opened.summary);
    if ('store' in opened) return this.#writeOffline(client, opened);
    const { entry, plannedInput } = opened;
    const isFirst = !hasSent(store.state);
    this.#options.onProgress?.({
      stage: 'read',
      rows: plannedInput.entry.rows,
      addresses: plannedInput.plan.book.size,
      toSend: plannedInput.batches.reduce((sum, { addresses }) => sum + addresses, 0),
      batches: plannedInput.batches.length,
    });
    await this.#reportPaidAgain(plannedInput);
    const reconciliation = await Reconciliation.of(client, entry, store, this.#options);
    this.#reconciliation = reconciliation;
    const begun = this.#begin(client, reconciliation, opened, isFirst);
    const { before, stoppedBy } = await begun.catch((error: unknown) => {
      if (this.#options.partial !== true || !stopsForNow(error)) throw error;
      return { before: undefined, stoppedBy: error };
    });
    this.#isBegun = true;
    try {
      await this.#claimOutput(opened);
      const end = await this.#drive(client, reconciliation, opened, stoppedBy);
      return await this.#finish(opened, { client, end }, async () =>
        this.#withHistory(async (history) => this.#write(opened, end, { client, before, history })),
      );
    } finally {
      await this.#dropped;
      await this.#outputClaim?.output.stop();
    }
  }

  /** Whoever repeats a finished call may expect it to resume. */
  async #reportPaidAgain({ plan, batches }: PlannedInput): Promise<void> {
    const { sink, onProgress } = this.#options;
    const { state } = this.#store;
    const addresses = batches.reduce((sum, batch) => sum + batch.addresses, 0);
    // A run that has paid is resumed, or a history or an earlier run has some of the list.
    const hasSome = hasPaid(state) || state.earlier.some(hasPaid) || addresses < plan.book.size;
    if (addresses === 0 || hasSome) return;
    if ((await sink.hasWritten?.().catch(() => false)) !== true) return;
    onProgress?.(noticed(notice('paid_again', { output: sink.name, addresses })));
  }

  /**
   * @returns another list, where a partial output is wanted and the service cannot be asked; the summary, where
   * another process has ended the run meanwhile
   */
  async #open(
    client: Client,
  ): Promise<
    OpenedRun | (OfflinePlan & { readonly stoppedBy: SluiceError }) | { readonly summary: Summary }
  > {
    try {
      return await this.#place.open(client);
    } catch (error) {
      const summary = error instanceof ClaimRevokedError ? this.#summaryOfOthers() : undefined;
      if (summary) return { summary };
      if (this.#options.partial !== true || !stopsForNow(error)) throw error;
      const offline = await this.#place.planOffline?.();
      if (!offline) throw error;
      return { ...offline, stoppedBy: error };
    }
  }

  /** The run resumes its own list, or carries over, once the service can be asked. */
  async #writeOffline(
    client: Client,
    opened: OfflinePlan & { readonly stoppedBy: SluiceError },
  ): Promise<Summary> {
    this.#isBegun = true;
    const { store, stoppedBy } = opened;
    try {
      const reconciliation = await Reconciliation.of(
        client,
        opened.entry,
        this.#store,
        this.#options,
      );
      await this.#claimOutput(opened);
      const driving = this.#driving(client, reconciliation, opened);
      const end = await new RunDriver({ ...driving, store }).toStop(stoppedBy);
      const { earlier } = store.state;
      return await this.#finish(opened, { client, end }, async () =>
        this.#withHistory(async (history) =>
          this.#write(opened, end, { client, before: undefined, history, earlier }),
        ),
      );
    } finally {
      await this.#outputClaim?.output.stop();
      await opened.remove();
    }
  }

  /** Reads the run's batches on the service, and the balance. @throws ConfigurationError when it must not continue */
  async #begin(
    client: Client,
    reconciliation: Reconciliation,
    { plannedInput }: OpenedRun,
    isFirst: boolean,
  ): Promise<{ readonly before: CreditBalance | undefined; readonly stoppedBy?: SluiceError }> {
    const store = this.#store;
    await reconciliation.readList();
    if (isFirst && reconciliation.foundNothing) await this.#place.checkBeforeSending(plannedInput);
    const isUnknown = store.state.balance === undefined;
    const before = await readBalance(client, store, this.#options, (why) =>
      this.#options.onProgress?.(noticed(notice('balance_unknown', { why }))),
    );
    if (isFirst && isUnknown) reportBalance(this.#options, plannedInput, before);
    return { before };
  }

  /** In a shared run the process that ends it has the history. */
  async #withHistory<Value>(
    work: (history: History | undefined) => Promise<Value>,
  ): Promise<Value> {
    const { history } = this.#options;
    const outputClaim = this.#outputClaim;
    const opened = await openInTurn(this.#options, () => this.#outputClaim === outputClaim);
    try {
      return await work(history ?? opened);
    } finally {
      await opened?.close();
    }
  }

  /** @param stoppedBy why it cannot be driven */
  async #drive(
    client: Client,
    reconciliation: Reconciliation,
    opened: OpenedRun,
    stoppedBy: SluiceError | undefined,
  ): Promise<DriveRunEnd> {
    const store = this.#store;
    const options = this.#driving(client, reconciliation, opened);
    if (stoppedBy) return new RunDriver(options).toStop(stoppedBy);
    // Processes of a shared run record their stops while they drive.
    const isAlone = !store.others.mayWork;
    if (isAlone && store.state.stopped) await store.record({ entry: 'resumed' });
    const end = await new RunDriver(options).toEnd();
    const stopped = isAlone && stopForAll(end.stoppedBy);
    if (stopped) await store.record(stopped);
    this.#end = end;
    return end;
  }

  #driving(client: Client, reconciliation: Reconciliation, opened: OpenedRun): DriveRunOptions {
    const { plannedInput } = opened;
    const store = this.#store;
    return {
      run: this.#options,
      client,
      reconciliation,
      plan: plannedInput.plan,
      batches: plannedInput.batches,
      store,
      onSettled: () => this.#outputClaim?.output.batchSettled(),
      wantsAll: () => this.#outputClaim !== undefined,
      claimOutput: async () => this.#claimOutput(opened),
      stop: (error) => this.#stop.abort(error),
    };
  }

  /** Claims the output if no process has it: rows may be written as results arrive. */
  async #claimOutput({ entry, plannedInput }: OpenedRun): Promise<boolean> {
    if (this.#outputClaim) return true;
    // A sink has one writing at a time.
    await this.#dropped;
    const claim = await this.#store.claimOutput();
    if (!claim) return false;
    const output = await RunOutput.begin({
      run: this.#options,
      runId: outputIdOf(entry),
      plannedInput,
      confirm: async () => claim.confirm(),
    });
    // The claim may have expired before its answer arrived.
    if (claim.revoked?.aborted) {
      await output.stop();
      return false;
    }
    const outputClaim = { claim, output };
    this.#outputClaim = outputClaim;
    claim.revoked?.addEventListener('abort', () => {
      if (this.#outputClaim !== outputClaim) return;
      this.#outputClaim = undefined;
      this.#dropped = output.stop();
    });
    return true;
  }

  /** Every batch is finished, or this process has nothing more to do. */
  async #finish(
    opened: OpenedRun,
    { client, end }: { readonly client: Client; readonly end: DriveRunEnd },
    write: () => Promise<Summary>,
  ): Promise<Summary> {
    for (;;) {
      const summary = this.#summaryOfOthers();
      if (summary) return this.#finished(summary);
      // The reason of an abort is the caller's.
      if (end.stoppedBy !== undefined && !end.isPartial) {
        throw await withBalance(this.#place.reasonOf(end), client, this.#options);
      }
      if (await this.#claimOutput(opened)) {
        try {
          return await write();
        } catch (error) {
          // Where another process may write the output by now, this one's error is ignored.
          if (!(error instanceof ClaimRevokedError) && this.#outputClaim) throw error;
        }
      }
      await this.#store.others.waitForUpdates(this.#signal);
    }
  }

  /** @throws StateError `state_mismatch` when another process has abandoned the run */
  #summaryOfOthers(): Summary | undefined {
    const { others, state } = this.#store;
    if (!others.haveEndedRun) return undefined;
    const { run, finished } = state;
    if (run) return finished?.summary;
    throw new StateError('the run was abandoned', { code: 'state_mismatch' });
  }

  async #write(
    { entry, plannedInput }: OpenedRun,
    end: DriveRunEnd,
    {
      client,
      before,
      history,
      earlier: runsBefore = this.#store.state.earlier,
    }: {
      readonly client: Client;
      readonly before: CreditBalance | undefined;
      readonly history: History | undefined;
      /** Runs whose results it uses. @default those that it replaced */
      readonly earlier?: readonly EarlierRun[];
    },
  ): Promise<Summary> {
    const { onProgress, source, limit } = this.#options;
    const outputClaim = this.#outputClaim;
    if (!outputClaim) throw new ClaimRevokedError('the output');
    await end.settleAll();
    if (end.isWhole && history) await this.#place.keepResults(history, end.batches);
    const { tally, sink, suspectBeyond } = await outputClaim.output.finish();
    onProgress?.({ stage: 'written', rows: plannedInput.entry.rows - rowsLeftAlone(sink) });
    if (end.isWhole) await end.deleteUnneeded(async () => outputClaim.claim.confirm());
    const earlier = creditsBefore(runsBefore);
    const written = {
      ...summarize({
        input: source.name,
        sink,
        service: entry.service,
        rows: plannedInput.entry.rows,
        asked: this.#options,
        suspectBeyond,
        seconds: (performance.now() - this.#startedMs) / 1000,
        plan: plannedInput.plan,
        tally,
        batches: end.batches,
        balances: await readBalanceAfter(client, before, end.batches, this.#options),
      }),
      ...(earlier && { credits_before: earlier }),
    };
    // A trial is not one of the list's nights.
    const compared =
      limit === undefined ? history?.compareRun(entry.id, source, written) : undefined;
    const summary = { ...written, ...(compared && { compared }) };
    if (!end.isWhole) return this.#report(summary);
    if (compared) await history?.keepRun(entry.id, source, summary);
    await outputClaim.claim.finish(summary);
    return this.#finished(summary);
  }

  async #report(summary: Summary): Promise<Summary> {
    await this.#options.onSummary?.(summary);
    return summary;
  }

  /** The state of a run with failed rows is kept for their retry; any other is removed. */
  async #finished(summary: Summary): Promise<Summary> {
    await this.#report(summary);
    await this.#place.end(isRetriable(summary));
    this.#summary = summary;
    return summary;
  }
}

/** A run refused in its form has nothing on the service that would be continued. */
function hasNothingWorthContinuing(
  { isRefused, batches }: DriveRunEnd,
  { earlier }: RunState,
): boolean {
  return isRefused && earlier.length === 0 && !batches.some(({ state }) => mayHaveLaunched(state));
}
