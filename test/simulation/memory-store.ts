import { randomUUID } from 'node:crypto';
import { batchLabel } from '../../src/batches/batch-label.js';
import { ClaimLostError } from '../../src/batches/batch-claim.js';
import type { Batch } from '../../src/batches/batch.js';
import type { BatchResults, LineResults } from '../../src/results/batch-results.js';
import type { OutcomeTable } from '../../src/results/outcome-table.js';
import { noTimes } from '../../src/runs/batch-times.js';
import { decodeResults, encodeResults } from '../../src/runs/encode-results.js';
import { entryOf, type KnownRun } from '../../src/runs/known-run.js';
import type { PlanEntry, RunEntry } from '../../src/runs/run-entries.js';
import type {
  BegunRun,
  JoinClaim,
  RunClaim,
  RunNote,
  SharedRunStore,
} from '../../src/runs/run-store.js';
import type { Clock } from '../../src/system/clock.js';
import type { SharedRun, Token } from './shared-run.js';

interface Held {
  readonly token: Token;
  readonly lost: AbortController;
}

const beatMs = 1000;

/** One process's hold of a store in memory, which many share: the twin of one in a database. */
export class MemoryStore implements SharedRunStore {
  readonly #shared: SharedRun;
  readonly #clock: Clock;
  /** Every step goes this way, and may take time, or never come back. */
  readonly #ask: <Answer>(step: () => Answer) => Promise<Answer>;
  readonly #owner = randomUUID();
  readonly #held = new Map<string, Held>();
  readonly #closing = new AbortController();
  readonly #waiting = new Set<() => void>();
  /** Whether there was news that nobody has asked for yet. */
  #hasNews = false;
  /** By this process's own clock. */
  #beatenAt: number;
  #changes = -1;
  #known: KnownRun;

  private constructor(
    shared: SharedRun,
    clock: Clock,
    ask: <Answer>(step: () => Answer) => Promise<Answer>,
  ) {
    this.#shared = shared;
    this.#clock = clock;
    this.#ask = ask;
    this.#beatenAt = clock.now();
    this.#known = shared.known();
  }

  /** @param clock the process's own. While it rests, the process gives no sign of life */
  static async open(
    shared: SharedRun,
    clock: Clock,
    ask: <Answer>(step: () => Answer) => Promise<Answer> = async (step) => step(),
  ): Promise<MemoryStore> {
    const store = new MemoryStore(shared, clock, ask);
    await ask(() => undefined);
    void store.#beatOn();
    return store;
  }

  get known(): KnownRun {
    return this.#known;
  }

  async record(note: RunNote): Promise<void> {
    await this.#ask(() => this.#shared.append(note));
  }

  async begin(run: RunEntry, plan: PlanEntry): Promise<BegunRun> {
    const { known, changes } = await this.#ask(() => {
      this.#shared.begin(run, plan);
      return { known: this.#shared.known(), changes: this.#shared.changes };
    });
    this.#adopt(known, changes);
    return { run: known.run ?? run, plan: known.plan ?? plan };
  }

  async claim(wanted: readonly Batch[]): Promise<readonly RunClaim[]> {
    const sentAt = this.#clock.now();
    const { claimed, changes } = await this.#ask(() => ({
      claimed: this.#shared.claim(wanted, this.#owner),
      changes: this.#shared.changes,
    }));
    if (!claimed) return [];
    const { batch, token, known } = claimed;
    this.#adopt(known, changes);
    const held = this.#hold(token, sentAt);
    const claim: RunClaim = {
      batch,
      entry: entryOf(known, batch),
      times: known.times.get(token.label) ?? noTimes,
      lost: held.lost.signal,
      record: async (progress, at = new Date(this.#clock.wallNow()).toISOString()) =>
        this.#say(held, () => this.#shared.record(token, progress, at)),
      confirm: async () => this.#say(held, () => this.#shared.confirm(token)),
      reserve: async (most) => {
        const reservation = await this.#ask(() => this.#shared.reserve(token, most));
        if (reservation) return reservation;
        return this.#lose(held);
      },
      keepResults: async (results, outcomes) => {
        const bytes = encodeResults(results, outcomes);
        await this.#say(held, () => this.#shared.keepResults(token, bytes));
      },
    };
    return [claim];
  }

  async join(): Promise<JoinClaim | undefined> {
    const sentAt = this.#clock.now();
    const token = await this.#ask(() => this.#shared.join(this.#owner));
    if (!token) return undefined;
    const held = this.#hold(token, sentAt);
    return {
      lost: held.lost.signal,
      confirm: async () => this.#say(held, () => this.#shared.confirm(token)),
      finish: async (summary) => this.#say(held, () => this.#shared.finish(token, summary)),
    };
  }

  async news(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasNews) {
      this.#hasNews = false;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(hear);
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors
        reject(signal.reason);
      };
      const hear = (): void => {
        signal.removeEventListener('abort', stop);
        this.#waiting.delete(hear);
        resolve();
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(hear);
    });
  }

  async readResults(batch: Batch, outcomes: OutcomeTable): Promise<LineResults | BatchResults> {
    const bytes = await this.#ask(() => this.#shared.results(batch));
    const results = bytes && decodeResults(bytes, outcomes);
    if (!results) throw new Error(`no results of batch ${batchLabel(batch)} are kept`);
    return results;
  }

  async startOver(): Promise<void> {
    await this.#ask(() => this.#shared.drop());
    this.#known = this.#shared.known();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ask(() => this.#shared.letGo(this.#owner));
  }

  async clear(): Promise<void> {
    await this.#ask(() => this.#shared.clear());
  }

  async remove(): Promise<void> {
    await this.#ask(() => this.#shared.drop());
  }

  /** From so long without an answer on, others may have what this process holds. */
  get #patienceMs(): number {
    return (this.#shared.leaseMs * 2) / 3;
  }

  #hold(token: Token, sentAt: number): Held {
    const held = { token, lost: new AbortController() };
    this.#held.get(token.label)?.lost.abort(new ClaimLostError(token.label));
    this.#held.set(token.label, held);
    // The answer may have come when the lease was over.
    if (this.#clock.now() - sentAt >= this.#patienceMs) this.#letGo(held);
    return held;
  }

  async #say(held: Held, step: () => boolean): Promise<void> {
    held.lost.signal.throwIfAborted();
    if (!(await this.#ask(step))) this.#lose(held);
  }

  #lose(held: Held): never {
    this.#letGo(held);
    throw held.lost.signal.reason;
  }

  #letGo(held: Held): void {
    const { label } = held.token;
    if (this.#held.get(label) === held) this.#held.delete(label);
    held.lost.abort(new ClaimLostError(label));
  }

  /** An answer may come when a later one is there already. */
  #adopt(known: KnownRun, changes: number): void {
    if (changes <= this.#changes) return;
    this.#known = known;
    this.#changes = changes;
  }

  async #beatOn(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#clock.sleep(beatMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      if (this.#clock.now() - this.#beatenAt >= this.#patienceMs) {
        for (const held of this.#held.values()) this.#letGo(held);
      }
      await this.#beat().catch(() => undefined);
    }
  }

  async #beat(): Promise<void> {
    const sentAt = this.#clock.now();
    const tokens = Array.from(this.#held.values(), ({ token }) => token);
    const { lost, mayClaim, changes } = await this.#ask(() => ({
      ...this.#shared.beat(tokens),
      changes: this.#shared.changes,
    }));
    for (const { label, epoch } of lost) {
      const held = this.#held.get(label);
      if (held?.token.epoch === epoch) this.#letGo(held);
    }
    this.#beatenAt = sentAt;
    if (changes === this.#changes && !mayClaim) return;
    if (changes !== this.#changes) {
      const news = await this.#ask(() => ({
        known: this.#shared.known(),
        changes: this.#shared.changes,
      }));
      this.#adopt(news.known, news.changes);
    }
    this.#hasNews = this.#waiting.size === 0;
    for (const hear of this.#waiting) hear();
  }
}
