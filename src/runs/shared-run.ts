import { ClaimLostError } from '../batches/batch-claim.js';
import type { Client } from '../client/client.js';
import { ConfigurationError, StateError } from '../errors/family.js';
import type { CreditBalance } from '../contract/bodies.js';
import { readBalance, readBalanceAfter } from './balance.js';
import { driveRun } from './drive-run.js';
import type { DriveRunEnd } from './drive-run-options.js';
import { outputIdOf } from './run-entries.js';
import type { OpenedRun } from './run-opening.js';
import type { ResolvedRun } from './run-options.js';
import { RunOutput } from './run-output.js';
import { stopOfOthers } from './run-stop.js';
import type { OwnScratch } from './run-scratch.js';
import type { JoinClaim, SharedRunStore, SharedStore } from './run-store.js';
import { openShared, type SharedOpeningOptions } from './shared-opening.js';
import { summarize } from './summarize.js';
import type { Summary } from './summary.js';
import { TakeUp } from './take-up.js';

export interface SharedRunOptions {
  readonly run: Omit<ResolvedRun, 'stateDir'>;
  readonly store: SharedStore;
  readonly scratch: OwnScratch;
  readonly checked: SharedOpeningOptions['checked'] & { readonly concurrency: number };
}

/** What a run with a store cannot do, by the option's name. */
const notWithStore = [
  'fresh',
  'moved',
  'onChange',
  'retryFailed',
  'partial',
  'history',
  'detach',
  'onPrepared',
  'waitLockMs',
  'beforeRemoval',
  'lastAct',
] as const satisfies readonly (keyof ResolvedRun)[];

/** @throws ConfigurationError naming what does not go with a store */
export function refuseWithStore(
  run: Pick<ResolvedRun, (typeof notWithStore)[number] | 'client'>,
): void {
  const given = notWithStore.filter((name) => run[name] !== undefined && run[name] !== false);
  if (given.length > 0) {
    throw new ConfigurationError(`not with a store: ${given.join(', ')}`);
  }
  if (typeof run.client === 'function') {
    throw new ConfigurationError(
      'client: with a store it is a Client, of a service that all processes reach',
    );
  }
}

/**
 * Works on a run together with whoever else does: all end with the same summary.
 *
 * @throws StateError `state_mismatch` where it is another run than the one of this name, or was abandoned;
 *   what stops it
 */
export async function runShared(options: SharedRunOptions): Promise<Summary> {
  const { run, store, checked } = options;
  const { clock } = run;
  const { signal } = checked;
  const state = await store.open({ signal, ...(clock && { clock }) });
  try {
    const summary = state.known.finished?.summary ?? (await new SharedRun(options, state).toEnd());
    await run.onSummary?.(summary);
    return summary;
  } finally {
    await state.close();
  }
}

/** What one process does for a run. */
class SharedRun {
  readonly #options: SharedRunOptions;
  readonly #state: SharedRunStore;
  readonly #client: Client;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #startedMs = performance.now();
  /** The claim on the last step, and the output that is written under it. */
  #joining: { readonly claim: JoinClaim; readonly output: RunOutput } | undefined;

  constructor(options: SharedRunOptions, state: SharedRunStore) {
    this.#options = options;
    this.#state = state;
    this.#client = options.run.client as Client;
    this.#signal = AbortSignal.any([options.checked.signal, this.#stop.signal]);
  }

  async toEnd(): Promise<Summary> {
    const { run, checked, store } = this.#options;
    await this.#takeUpStopped();
    const opened = await openShared({
      ...this.#options,
      name: store.name,
      client: this.#client,
      state: this.#state,
      checked: { ...checked, signal: this.#signal },
    });
    const { entry, passOne } = opened;
    run.onProgress?.({
      stage: 'read',
      rows: passOne.entry.rows,
      addresses: passOne.plan.book.size,
      toSend: passOne.batches.reduce((sum, { addresses }) => sum + addresses, 0),
      batches: passOne.batches.length,
    });
    const takeUp = await TakeUp.begin(this.#client, entry, this.#state, {
      ...run,
      signal: this.#signal,
    });
    const before = await readBalance(this.#client, this.#state, this.#signal);
    try {
      await this.#join(opened);
      const end = await driveRun({
        ...checked,
        run,
        client: this.#client,
        takeUp,
        plan: passOne.plan,
        batches: passOne.batches,
        state: this.#state,
        signal: this.#signal,
        onSettled: () => this.#joining?.output.tell(),
        wantsAll: () => this.#joining !== undefined,
        stop: (error) => this.#stop.abort(error),
      });
      return await this.#finish(opened, end, before);
    } finally {
      await this.#joining?.output.stop();
    }
  }

  /** What has stopped the run before this process worked on it may be otherwise by now. */
  async #takeUpStopped(): Promise<void> {
    const { stopped } = this.#state.known;
    if (!stopped) return;
    if (stopped.code === 'abandoned') throw stopOfOthers(stopped);
    await this.#state.record({ entry: 'resumed' });
  }

  /** Claims the last step, where nobody has it: rows may be written as results come. */
  async #join({ entry, passOne }: OpenedRun): Promise<boolean> {
    if (this.#joining) return true;
    const claim = await this.#state.join();
    if (!claim) return false;
    const output = await RunOutput.begin({
      ...this.#options,
      runId: outputIdOf(entry),
      passOne,
      signal: this.#signal,
      confirm: async () => claim.confirm(),
    });
    const joining = { claim, output };
    this.#joining = joining;
    claim.lost?.addEventListener('abort', () => {
      if (this.#joining !== joining) return;
      this.#joining = undefined;
      void output.stop();
    });
    return true;
  }

  /** Every batch is at its end, or this process has nothing more to do for it. */
  async #finish(
    opened: OpenedRun,
    end: DriveRunEnd,
    before: CreditBalance | undefined,
  ): Promise<Summary> {
    for (;;) {
      const { finished, run } = this.#state.known;
      if (finished) return finished.summary;
      if (!run) {
        throw new StateError(`${this.#options.store.name} was abandoned`, {
          code: 'state_mismatch',
        });
      }
      if (!end.isWhole) throw end.stoppedBy;
      try {
        if (await this.#join(opened)) return await this.#write(opened, end, before);
      } catch (error) {
        if (!(error instanceof ClaimLostError) && !this.#hasLost) throw error;
      }
      await this.#state.news(this.#signal);
    }
  }

  /** Whether another process may write the output by now: what this one's writing says counts for nothing. */
  get #hasLost(): boolean {
    return this.#joining === undefined;
  }

  async #write(
    { entry, passOne }: OpenedRun,
    end: DriveRunEnd,
    before: CreditBalance | undefined,
  ): Promise<Summary> {
    const { run } = this.#options;
    const joining = this.#joining;
    if (!joining) throw new ClaimLostError('the output');
    await end.settleAll();
    const { tally, sink, isSuspect } = await joining.output.finish();
    run.onProgress?.({ stage: 'written', rows: passOne.entry.rows });
    await end.tidy(async () => joining.claim.confirm());
    const summary = summarize({
      input: run.source.name,
      sink,
      service: entry.service,
      rows: passOne.entry.rows,
      limit: run.limit,
      isSuspect,
      seconds: (performance.now() - this.#startedMs) / 1000,
      plan: passOne.plan,
      tally,
      batches: end.batches,
      balances: await readBalanceAfter(this.#client, before, end.batches, this.#signal),
    });
    await joining.claim.finish(summary);
    await this.#state.clear();
    return summary;
  }
}
