import type { SharedSteps } from './shared-steps.js';
import { batchLabel, type Batch } from '../../batches/batch.js';
import { ClaimRevokedError, type BatchProgress } from '../../batches/claim.js';
import { StateError } from '../../../platform/errors/errors.js';
import type { RateMember } from '../../../client/rate/shared-rate.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import type { LineResults } from '../../results/match-export.js';
import type { OutcomeTable } from '../../results/outcome-table.js';
import type { Clock } from '../../../platform/waiting/clock.js';
import { orAborted, InTurn, Notifier } from '../../../platform/waiting/promises.js';
import { decodeResults } from '../result-store.js';
import { Heartbeat, Leases, type Lease, LeasedRate } from './leases.js';
import { LeasedClaims, reopenedRecordOf } from './leased-claims.js';
import { JournalReplay, replayJournal, type RunState, spentBefore } from '../run-state.js';
import type { PlanEntry, RunEntry, StoppedEntry } from '../journal-entries.js';
import type {
  BegunRun,
  OtherProcesses,
  OutputClaim,
  Replacement,
  RunClaim,
  RunNote,
  SharedRunStore,
  SourceCopy,
} from '../run-store.js';
import {
  adviceOnDamage,
  damagedInStore,
  stopForLosses,
  noRows,
  type RowFigures,
} from './shared-status.js';
import { copyStep, gone, outputStep, type Claimed, type Updates } from './store-protocol.js';

interface LeasedStoreOptions {
  /** The process's own. While it is suspended, there are no heartbeats. */
  readonly clock: Clock;
  /** How long a claim lasts without a heartbeat. */
  readonly leaseMs: number;
  /** Largest copy of the source in bytes. @default any */
  readonly copyLimitBytes?: number | undefined;
  readonly rows?: RowFigures | undefined;
}

/** One process's view of a shared run, in any kind of store. */
export class LeasedRunStore implements SharedRunStore, OtherProcesses {
  readonly #steps: SharedSteps;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #heartbeat: Heartbeat;
  /** When this process last looked for batches to claim, whether it found any or not. */
  #lookedAt: number;
  readonly #held: Leases;
  readonly #claims: LeasedClaims;
  readonly #closing = new AbortController();
  readonly #notifier = new Notifier();
  readonly others = this;
  readonly mayWork = true;
  readonly copy: SourceCopy;
  readonly #rows: RowFigures | undefined;
  /** A repeated call comes before the next of its kind. */
  readonly #writing = new InTurn();
  readonly #claiming = new InTurn();
  #pace: LeasedRate | undefined;
  #calls = 0;
  #journal: JournalReplay;
  /** Labels of the batches that changed since the last call. */
  #updated = new Set<string>();
  /** Number of the latest entry that is known. */
  #seq = 0;
  #isRestarted = false;
  #mayTakeOver = true;
  #heldForMs = 0;
  /** Why this process may no longer work on the run. */
  #endedBy: unknown;
  #onStopped: (() => void) | undefined;

  private constructor(steps: SharedSteps, options: LeasedStoreOptions) {
    const { clock, leaseMs, rows, copyLimitBytes = Infinity } = options;
    this.#steps = steps;
    this.#journal = new JournalReplay(steps.name, damagedInStore);
    this.#clock = clock;
    this.#rows = rows;
    this.#leaseMs = leaseMs;
    this.#lookedAt = clock.now();
    this.#held = new Leases(leaseMs);
    this.#heartbeat = new Heartbeat({
      clock,
      leaseMs,
      signal: this.#closing.signal,
      isWaiting: () => this.#held.tokens.every(({ label }) => label === outputStep),
      tick: () => {
        // An unanswered call must not hide that the lease is over.
        this.#held.revokeOverdue(clock.now());
        return this.#endedBy === undefined;
      },
      beat: async () => this.#beat().catch((error: unknown) => this.#giveUp(error)),
    });
    steps.listen((stopped) => {
      if (stopped && this.state.run) {
        this.#journal.apply([stopped]);
        this.#onStopped?.();
      }
      this.#heartbeat.beatNow();
    });
    this.#claims = new LeasedClaims({
      steps,
      clock,
      held: this.#held,
      ask: async (step, revoked) => this.#do(step, revoked),
      nextCall: () => this.#nextCall(),
      onRecorded: (entry) => {
        if (this.state.run) this.#journal.apply([entry]);
      },
      onEnded: () => this.#heartbeat.lookNow(),
    });
    this.copy = {
      limitBytes: copyLimitBytes,
      claim: async () => {
        const held = await this.#claimStep(copyStep, async () => steps.claimCopy(this.#seq));
        return held && this.#claims.ofCopy(held);
      },
      read: async () => {
        const copy = await this.#do(async () => steps.copy.whole());
        return copy && { of: copy.of, bytes: this.#copied(copy.parts) };
      },
    };
  }

  static async open(steps: SharedSteps, options: LeasedStoreOptions): Promise<LeasedRunStore> {
    const store = new LeasedRunStore(steps, options);
    try {
      store.#adopt(await steps.open());
    } catch (error) {
      await steps.close();
      throw error;
    }
    void store.#heartbeat.run();
    return store;
  }

  get identity(): string {
    return this.#steps.identity;
  }

  get refusesOldLaunches(): boolean {
    return !this.#isRestarted;
  }

  get haveEndedRun(): boolean {
    return this.state.finished !== undefined || this.state.run === undefined;
  }

  get mayTakeOver(): boolean {
    return this.#mayTakeOver;
  }

  get heldForMs(): number {
    return this.#heldForMs;
  }

  get state(): RunState {
    return this.#journal.state;
  }

  takeUpdates(): ReadonlySet<string> {
    const updated = this.#updated;
    this.#updated = new Set();
    return updated;
  }

  async record(note: RunNote): Promise<void> {
    const call = this.#nextCall();
    await this.#writing.next(async () =>
      this.#adopt(await this.#do(async () => this.#steps.append(note, this.#seq, call))),
    );
  }

  onStop(listener: () => void): void {
    this.#onStopped = listener;
  }

  announce(stopped: StoppedEntry): void {
    this.#steps.announce(stopped);
  }

  async begin(run: RunEntry, plan: PlanEntry): Promise<BegunRun> {
    const call = this.#nextCall();
    this.#adopt(await this.#do(async () => this.#steps.begin(run, plan, call)));
    const { run: begun = run, plan: planned = plan } = this.state;
    return { run: begun, plan: planned };
  }

  async replace(replacement: Replacement): Promise<boolean> {
    const { earlier, run } = replacement;
    const credits = spentBefore(replayJournal([...earlier, run], this.#steps.name, damagedInStore));
    const after = this.#seq;
    return this.#do(async () => this.#steps.replace(replacement, credits, after));
  }

  async reopen(batches: readonly BatchProgress[]): Promise<void> {
    const call = this.#nextCall();
    const at = new Date(this.#clock.wallNow()).toISOString();
    const records = batches.map((progress) => reopenedRecordOf(progress, at));
    const after = this.#seq;
    this.#adopt(await this.#do(async () => this.#steps.reopen(records, after, call)));
  }

  async joinPace(member: RateMember): Promise<LeasedRate> {
    this.#pace = await LeasedRate.join(member, this.#steps.pace, async (step) => this.#do(step));
    return this.#pace;
  }

  async claim(wanted: Iterable<Batch>): Promise<readonly RunClaim[]> {
    return this.#claiming.next(async () => this.#claim(wanted));
  }

  async claimOutput(): Promise<OutputClaim | undefined> {
    const held = await this.#claimStep(outputStep, async () => this.#steps.claimOutput(this.#seq));
    return held && this.#claims.ofOutput(held);
  }

  async #claimStep(label: string, claim: () => Promise<Claimed>): Promise<Lease | undefined> {
    return this.#claiming.next(async () => {
      const sentAt = this.#clock.now();
      if (this.#held.has(label)) return undefined;
      const { token, updates } = await this.#do(claim);
      this.#adopt(updates);
      return token && this.#held.add(token, sentAt, this.#clock.now());
    });
  }

  async #claim(wanted: Iterable<Batch>): Promise<readonly RunClaim[]> {
    this.#heldForMs = 0;
    const isFree = (batch: Batch): boolean => !this.#held.has(batchLabel(batch));
    for (const some of groupsOf(wanted, isFree)) {
      const sentAt = this.#clock.now();
      const { token, breaking, heldForMs, isProven, isRestarted, updates } = await this.#do(
        async () => this.#steps.claim(some, this.#seq),
      );
      if (isRestarted === true) this.#isRestarted = true;
      this.#heldForMs = Math.max(this.#heldForMs, heldForMs ?? 0);
      this.#adopt(updates);
      // Every process reads it with its next heartbeat, this one too.
      if (breaking !== undefined && !this.state.stopped) await this.record(stopForLosses(breaking));
      const batch = some.find((each) => batchLabel(each) === token?.label);
      if (token && batch) {
        const held = this.#held.add(token, sentAt, this.#clock.now());
        return [this.#claims.ofBatch(batch, held, this.state)];
      }
      if (breaking !== undefined || !isProven) break;
    }
    this.#mayTakeOver = false;
    return [];
  }

  async waitForUpdates(signal: AbortSignal): Promise<void> {
    // A process that waits finds the reason by its next step, and must not poll without a pause.
    if (this.#endedBy !== undefined) await this.#clock.sleep(this.#heartbeat.intervalMs, signal);
    else await this.#notifier.wait(signal);
  }

  async readResults(batch: Batch, outcomes: OutcomeTable): Promise<LineResults> {
    const label = batchLabel(batch);
    const bytes = await this.#do(async () => this.#steps.results.of(label));
    const results = bytes && decodeResults(bytes, outcomes);
    if (results) return results;
    await this.#refuseIfOver(label);
    throw new StateError(
      `the results of batch ${label} in ${this.#steps.name} are ${bytes ? 'damaged' : 'missing'}; ${adviceOnDamage}`,
      { code: 'state_damaged' },
    );
  }

  async *#copied(parts: number): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < parts; part += 1) {
      const bytes = await this.#do(async () => this.#steps.copy.part(part));
      if (bytes) yield bytes;
      else {
        throw new StateError(
          `the copy of the input in ${this.#steps.name} is damaged or was dropped; run again, under another name if that does not help`,
          { code: 'state_damaged' },
        );
      }
    }
  }

  async keepRecalled(bytes: Uint8Array): Promise<void> {
    await this.#do(async () => this.#steps.results.keepRecalled(bytes));
  }

  async readRecalled(): Promise<Uint8Array> {
    const bytes = await this.#do(async () => this.#steps.results.recalled());
    if (!bytes) await this.#refuseIfOver(outputStep);
    return bytes ?? new Uint8Array();
  }

  async refresh(): Promise<void> {
    await this.#do(async () => this.#beat());
  }

  /** A process may not know that another has ended and cleared the run, or that the store was restored. */
  async #refuseIfOver(label: string): Promise<void> {
    await this.refresh();
    if (this.haveEndedRun) throw new ClaimRevokedError(label);
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#held.revokeAll();
    await this.#steps.close();
  }

  async clear(): Promise<void> {
    await this.#do(async () => this.#steps.clear());
  }

  async remove(): Promise<void> {
    await this.#do(async () => this.#steps.drop());
    await this.close();
  }

  /** Waits for a step, but not longer than the claim is valid. */
  async #do<Answer>(step: () => Promise<Answer>, revoked?: AbortSignal): Promise<Answer> {
    // Whatever it was, it is an error that a step has thrown.
    // oxlint-disable-next-line typescript/only-throw-error
    if (this.#endedBy !== undefined) throw this.#endedBy;
    try {
      return await orAborted(step(), revoked);
    } catch (error) {
      // A store that was restored, removed or given up: the process has no claims any more.
      if (isSluiceError(error)) this.#giveUp(error);
      throw error;
    }
  }

  #nextCall(): number {
    this.#calls += 1;
    return this.#calls;
  }

  /** A later answer may have arrived before this one. */
  #adopt(updates: Updates | typeof gone): void {
    if (updates === gone) {
      this.#forget();
      return;
    }
    const later = updates.filter(({ seq }) => seq > this.#seq);
    const last = later.at(-1);
    if (!last) return;
    const entries = later.map(({ entry }) => entry);
    for (const label of this.#journal.apply(entries)) this.#updated.add(label);
    this.#seq = last.seq;
    this.#heartbeat.hurry();
    this.#notifier.notify();
    if (this.state.stopped) this.#onStopped?.();
  }

  #forget(): void {
    this.#held.revokeAll();
    if (!this.state.run) return;
    this.#journal = new JournalReplay(this.#steps.name, damagedInStore);
    this.#notifier.notify();
  }

  async #beat(): Promise<void> {
    const sentAt = this.#clock.now();
    const { tokens } = this.#held;
    const { batches: batchesDone, addresses: addressesDone } = this.#claims.done;
    const { revoked, mayClaim, pace, rowsWritten, updates } = await this.#steps.beat(
      tokens,
      this.#seq,
      {
        ...(this.#rows?.local ?? noRows),
        batchesDone,
        addressesDone,
      },
    );
    this.#held.renew(tokens, revoked, sentAt);
    if (pace) this.#pace?.applyRemote(pace);
    this.#rows?.applyRemote(rowsWritten);
    this.#adopt(updates);
    // A notification can be missed: a regular look finds what it was about.
    const isTime = sentAt - this.#lookedAt >= this.#leaseMs;
    if (isTime) this.#lookedAt = sentAt;
    if (!mayClaim && !isTime) return;
    this.#mayTakeOver = true;
    this.#notifier.notify();
  }

  /** Nothing more is driven here. */
  #giveUp(error: unknown): void {
    this.#endedBy ??= error;
    this.#held.revokeAll(this.#endedBy);
    this.#notifier.notify();
  }
}

/** Groups of doubling size: most of the first ones are free, unless others have them. */
function* groupsOf(
  batches: Iterable<Batch>,
  isWanted: (batch: Batch) => boolean,
): Generator<readonly Batch[]> {
  let size = 64;
  let group: Batch[] = [];
  for (const batch of batches) {
    if (!isWanted(batch)) continue;
    group.push(batch);
    if (group.length < size) continue;
    yield group;
    size *= 2;
    group = [];
  }
  if (group.length > 0) yield group;
}
