import { batchLabel } from '../batches/batch-label.js';
import type { Batch } from '../batches/batch.js';
import type { BatchProgress } from '../batches/batch-progress.js';
import { isAtEnd, isPrepared, mayHaveLaunched } from '../batches/known-batch.js';
import { StateError } from '../errors/family.js';
import { isSluiceError } from '../errors/sluice-error.js';
import type { BatchResults, LineResults } from '../results/batch-results.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { Clock } from '../system/clock.js';
import { orAborted } from '../system/or-aborted.js';
import { noTimes } from './batch-times.js';
import { decodeResults, encodeResults } from './encode-results.js';
import { HeldClaims, type HeldClaim } from './held-claims.js';
import { InTurn } from '../system/in-turn.js';
import { entryOf, knownRun, nothingKnown, type KnownRun } from './known-run.js';
import { batchEntryOf, type PlanEntry, type RunEntry } from './run-entries.js';
import type { BegunRun, JoinClaim, RunClaim, RunNote, SharedRunStore } from './run-store.js';
import { gone, lastStep, type BatchRecord, type News, type SharedSteps } from './shared-steps.js';
import { Told } from './told.js';

const longestBeatMs = 1000;

/** One process's hold of a run that many work on at once, whatever keeps it. */
export class LeasedRunStore implements SharedRunStore {
  readonly #steps: SharedSteps;
  readonly #clock: Clock;
  readonly #beatMs: number;
  readonly #held: HeldClaims;
  readonly #closing = new AbortController();
  readonly #told = new Told();
  /** A call that is repeated comes before the next of its kind. */
  readonly #writing = new InTurn();
  readonly #claiming = new InTurn();
  #calls = 0;
  #known = nothingKnown;
  /** Number of the latest entry that is known. */
  #seq = 0;
  /** Why this process has no more say in the run. */
  #endedBy: unknown;

  private constructor(
    steps: SharedSteps,
    { clock, leaseMs }: { readonly clock: Clock; readonly leaseMs: number },
  ) {
    this.#steps = steps;
    this.#clock = clock;
    this.#beatMs = Math.min(longestBeatMs, leaseMs / 3);
    this.#held = new HeldClaims(leaseMs);
  }

  /**
   * @param options.clock the process's own. While it rests, the process gives no sign of life
   * @param options.leaseMs how long the store keeps a claim without a sign of life
   * @throws StateError, DeadlineError, ConfigurationError
   */
  static async open(
    steps: SharedSteps,
    options: { readonly clock: Clock; readonly leaseMs: number },
  ): Promise<LeasedRunStore> {
    const store = new LeasedRunStore(steps, options);
    try {
      store.#adopt(await steps.open());
    } catch (error) {
      await steps.close();
      throw error;
    }
    void store.#beatOn();
    return store;
  }

  get known(): KnownRun {
    return this.#known;
  }

  async record(note: RunNote): Promise<void> {
    const call = this.#nextCall();
    await this.#writing.next(async () => this.#do(async () => this.#steps.append(note, call)));
  }

  async begin(run: RunEntry, plan: PlanEntry): Promise<BegunRun> {
    const call = this.#nextCall();
    this.#adopt(await this.#do(async () => this.#steps.begin(run, plan, call)));
    const { run: begun = run, plan: planned = plan } = this.#known;
    return { run: begun, plan: planned };
  }

  async claim(wanted: readonly Batch[]): Promise<readonly RunClaim[]> {
    return this.#claiming.next(async () => this.#claim(wanted));
  }

  async join(): Promise<JoinClaim | undefined> {
    return this.#claiming.next(async () => {
      const sentAt = this.#clock.now();
      if (this.#held.has(lastStep)) return undefined;
      const { token, news } = await this.#do(async () => this.#steps.join(this.#seq));
      this.#adopt(news);
      return token && this.#joinClaimOf(this.#held.add(token, sentAt, this.#clock.now()));
    });
  }

  async #claim(wanted: readonly Batch[]): Promise<readonly RunClaim[]> {
    const sentAt = this.#clock.now();
    const free = wanted.filter((batch) => !this.#held.has(batchLabel(batch)));
    if (free.length === 0) return [];
    const { token, news } = await this.#do(async () => this.#steps.claim(free, this.#seq));
    this.#adopt(news);
    const batch = free.find((each) => batchLabel(each) === token?.label);
    if (!token || !batch) return [];
    return [this.#claimOf(batch, this.#held.add(token, sentAt, this.#clock.now()))];
  }

  #claimOf(batch: Batch, held: HeldClaim): RunClaim {
    const { token, lost } = held;
    const say = this.#sayUnder(held);
    return {
      batch,
      entry: entryOf(this.#known, batch),
      times: this.#known.times.get(token.label) ?? noTimes,
      lost: lost.signal,
      record: async (progress, at = new Date(this.#clock.wallNow()).toISOString()) => {
        const record = this.#recordOf(progress, at, this.#nextCall());
        await say(async () => this.#steps.record(token, record));
      },
      confirm: async () => say(async () => this.#steps.confirm(token)),
      reserve: async (most) => {
        lost.signal.throwIfAborted();
        const reserve = async () => this.#steps.reserve(token, most);
        const reservation = await this.#do(reserve, lost.signal);
        return reservation ?? this.#held.refused(held);
      },
      keepResults: async (results, outcomes) => {
        const bytes = encodeResults(results, outcomes);
        await say(async () => this.#steps.keepResults(token, bytes));
      },
    };
  }

  #joinClaimOf(held: HeldClaim): JoinClaim {
    const { token, lost } = held;
    const say = this.#sayUnder(held);
    return {
      lost: lost.signal,
      confirm: async () => say(async () => this.#steps.confirm(token)),
      finish: async (summary) => {
        const entry = { entry: 'finished', summary } as const;
        const call = this.#nextCall();
        const facts = { hasEnded: true, mayBePaid: false, isProven: false };
        await say(async () => this.#steps.record(token, { entry, call, ...facts }));
      },
    };
  }

  #recordOf(progress: BatchProgress, at: string, call: number): BatchRecord {
    const { known } = progress;
    return {
      entry: batchEntryOf(progress, at),
      call,
      hasEnded: isAtEnd(known) || known.stage === 'split',
      mayBePaid: mayHaveLaunched(known),
      isProven: isPrepared(known) || (known.stage === 'parsing' && known.prepared),
    };
  }

  async news(signal: AbortSignal): Promise<void> {
    // Whoever asks again finds out why by its next step, and must not ask without a pause.
    if (this.#endedBy !== undefined) await this.#clock.sleep(this.#beatMs, signal);
    else await this.#told.wait(signal);
  }

  async readResults(batch: Batch, outcomes: OutcomeTable): Promise<LineResults | BatchResults> {
    const label = batchLabel(batch);
    const bytes = await this.#do(async () => this.#steps.results(label));
    const results = bytes && decodeResults(bytes, outcomes);
    if (results) return results;
    throw new StateError(
      `the results of batch ${label} in ${this.#steps.name} are ${bytes ? 'damaged' : 'missing'}; put back a backup of it, or begin a run of another name: that pays again for what was sent`,
      { code: 'state_damaged' },
    );
  }

  async startOver(): Promise<void> {
    this.#held.loseAll();
    const news = await this.#do(async () => this.#steps.startOver());
    this.#known = nothingKnown;
    this.#seq = 0;
    this.#adopt(news);
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#held.loseAll();
    await this.#steps.close();
  }

  async clear(): Promise<void> {
    await this.#do(async () => this.#steps.clear());
  }

  async remove(): Promise<void> {
    await this.#do(async () => this.#steps.drop());
    await this.close();
  }

  /** Says one thing after the other under a claim: a repeated call comes before the next. */
  #sayUnder(held: HeldClaim): (step: () => Promise<boolean>) => Promise<void> {
    const { signal } = held.lost;
    const calls = new InTurn();
    return async (step) =>
      calls.next(async () => {
        signal.throwIfAborted();
        if (!(await this.#do(step, signal))) this.#held.refused(held);
      });
  }

  /** Waits for a step, but not longer than the claim that it is done under holds. */
  async #do<Answer>(step: () => Promise<Answer>, lost?: AbortSignal): Promise<Answer> {
    // Whatever it was, it is an error that a step has thrown.
    // oxlint-disable-next-line typescript/only-throw-error
    if (this.#endedBy !== undefined) throw this.#endedBy;
    try {
      return await orAborted(step(), lost);
    } catch (error) {
      // A store that was restored, removed or given up: the process has no more say, in no batch.
      if (isSluiceError(error)) this.#end(error);
      throw error;
    }
  }

  #nextCall(): number {
    this.#calls += 1;
    return this.#calls;
  }

  /** An answer may come when a later one is there already. */
  #adopt(news: News | typeof gone): void {
    if (news === gone) {
      this.#forget();
      return;
    }
    const later = news.filter(({ seq }) => seq > this.#seq);
    const last = later.at(-1);
    if (!last) return;
    const entries = later.map(({ entry }) => entry);
    this.#known = knownRun(entries, this.#steps.name, this.#known);
    this.#seq = last.seq;
    this.#told.tell();
  }

  #forget(): void {
    this.#held.loseAll();
    if (this.#known === nothingKnown) return;
    this.#known = nothingKnown;
    this.#told.tell();
  }

  async #beatOn(): Promise<void> {
    const { signal } = this.#closing;
    let beating: Promise<void> | undefined;
    while (this.#endedBy === undefined) {
      await this.#clock.sleep(this.#beatMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      // One that has no answer must not keep it from seeing that the time is over.
      this.#held.loseOverdue(this.#clock.now());
      beating ??= this.#beat().finally(() => {
        beating = undefined;
      });
    }
  }

  async #beat(): Promise<void> {
    const sentAt = this.#clock.now();
    const { tokens } = this.#held;
    try {
      const { lost, mayClaim, news } = await this.#steps.beat(tokens, this.#seq);
      this.#held.renew(tokens, lost, sentAt);
      this.#adopt(news);
      if (mayClaim) this.#told.tell();
    } catch (error) {
      this.#end(error);
    }
  }

  /** Nothing more is driven here. */
  #end(error: unknown): void {
    this.#endedBy ??= error;
    this.#held.loseAll();
    this.#told.tell();
  }
}
