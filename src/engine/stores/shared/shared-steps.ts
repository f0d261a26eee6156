import { hostname } from 'node:os';
import type { RateUpdate } from '../../../client/rate/shared-rate.js';
import { systemClock } from '../../../platform/waiting/clock.js';
import type { VerificationType } from '../../../contract/enums.js';
import { type Batch, batchLabel } from '../../batches/batch.js';
import type { Reservation } from '../../batches/claim.js';
import {
  type PlanEntry,
  type RunEntry,
  type StoppedEntry,
  stoppedEntry,
} from '../journal-entries.js';
import type { Replacement, RunNote } from '../run-store.js';
import type { WorkerFigures } from './shared-status.js';
import {
  type BatchRecord,
  type Beat,
  type Claimed,
  copyStep,
  gone,
  outputStep,
  type Updates,
  type ReopenedBatch,
  type Token,
  RunCalls,
  asciiJson,
  type UpdatePage,
  removed,
  type StoreCalls,
} from './store-protocol.js';
import { CopySteps, ResultSteps } from './byte-steps.js';
import { PaceSteps } from './leases.js';

interface SharedStepsOptions {
  /** The run and its store in messages. */
  readonly name: string;
  readonly run: string;
  readonly leaseMs: number;
  /** Size of the stored blocks of results. @default 1048576 */
  readonly blockBytes?: number;
}

/** A leaving process does not wait for long: claims expire by themselves. */
const releasePatienceMs = 5000;
const announcePatienceMs = 1000;

/**
 * One process's steps in a shared run, as calls of the store's functions. Each is atomic, and gives the same
 * answer when repeated after a lost one.
 *
 * All reject with a StateError when the store was restored, so that the process's knowledge may be wrong;
 * with a DeadlineError when the store was unreachable for too long.
 */
export class SharedSteps {
  readonly #options: SharedStepsOptions;
  readonly #leaseMs: number;
  readonly #calls: StoreCalls;
  /** Heartbeats have a connection of their own. */
  readonly #beats: StoreCalls;
  readonly #run: RunCalls;
  readonly #host = hostname();
  readonly copy: CopySteps;
  readonly results: ResultSteps;
  readonly pace: PaceSteps;
  #announced: Promise<void> | undefined;
  #beating: Promise<unknown> | undefined;

  /** @param connect opens another connection to the store */
  constructor(options: SharedStepsOptions, connect: () => StoreCalls) {
    this.#options = options;
    this.#leaseMs = Math.round(options.leaseMs);
    this.#calls = connect();
    this.#beats = connect();
    this.#run = new RunCalls(options, this.#calls);
    this.copy = new CopySteps(this.#run, this.#calls);
    this.results = new ResultSteps(this.#run, this.#calls, options.blockBytes);
    this.pace = new PaceSteps(this.#run);
  }

  /** Of all runs of any store and name: the name, and how many of it came before. */
  get identity(): string {
    return `${this.#run.run} ${this.#run.dropped}`;
  }

  get name(): string {
    return this.#options.name;
  }

  /**
   * Listens for entries as soon as they are recorded, and for announcements, where the store can notify; the
   * next heartbeat brings them in any case.
   *
   * @param listener called with what stops all, where announced
   */
  listen(listener: (stopped: StoppedEntry | undefined) => void): void {
    this.#beats.listen?.((payload = '') => {
      const [life = ''] = payload.split(' ', 1);
      if (life === this.#run.life) listener(stopOf(payload.slice(life.length)));
    });
  }

  /** Notifies listeners of what stops all, before it is recorded. Never fails. */
  announce(stopped: StoppedEntry): void {
    const payload = `${this.#run.life} ${asciiJson(stopped)}`;
    if (payload.length > longestPayload) return;
    this.#announced = this.#beats.notify?.(payload).catch(() => undefined);
  }

  async open(): Promise<Updates> {
    await this.#calls.prepare();
    return this.#run.join();
  }

  async begin(run: RunEntry, plan: PlanEntry, call: number): Promise<Updates> {
    const after = this.#run.seen;
    const begun = await this.#run.step<{ updates: UpdatePage }>('begin', {
      call,
      entry: asciiJson(run),
      plan: asciiJson(plan),
    });
    if (begun === gone) throw removed(this.name);
    return this.#run.rest(begun.updates, after);
  }

  /** Reopens a finished run, unless a batch was recorded after this entry number. */
  async reopen(
    batches: readonly ReopenedBatch[],
    after: number,
    call: number,
  ): Promise<Updates | typeof gone> {
    const answer = await this.#run.step<{ updates: UpdatePage }>('reopen', {
      seen: after,
      call,
      batches: batches.map(({ label }) => label),
      entries: batches.map(({ entry }) => asciiJson(entry)),
      spent: batches.map(({ held }) => held.spent),
      reserved: batches.map(({ held }) => held.reserved),
    });
    return answer === gone ? gone : this.#run.rest(answer.updates, after);
  }

  /** @param credits cost of the runs before it @returns whether it was replaced */
  async replace(
    { earlier, run, plan, budget }: Replacement,
    credits: Readonly<Record<VerificationType, number>>,
    after: number,
  ): Promise<boolean> {
    const answer = await this.#run.step<{ lost?: true }>('replace', {
      seen: after,
      entries: [...earlier, run, plan, ...(budget ? [budget] : [])].map(asciiJson),
      earlier: earlier.length,
      most: budget?.most ?? null,
      types: Object.keys(credits),
      spent: Object.values(credits),
    });
    if (answer === gone) throw removed(this.name);
    return answer.lost !== true;
  }

  /** Records a note. A budget applies to all later reservations. */
  async append(note: RunNote, after: number, call: number): Promise<Updates> {
    const answer = await this.#run.step<{ updates: UpdatePage }>('append', {
      seen: after,
      call,
      entry: asciiJson(note),
      resumes: note.entry === 'resumed',
      limits: note.entry === 'budget',
      most: note.entry === 'budget' ? note.most : null,
    });
    if (answer === gone) throw removed(this.name);
    return this.#run.rest(answer.updates, after);
  }

  /**
   * Claims the first batch that no process has, or that this process has without knowing. Until the service
   * has accepted one, only the first unfinished one may be claimed.
   *
   * @param wanted by priority, without its known claims
   * @param after the number of the latest known entry
   */
  async claim(wanted: readonly Batch[], after: number): Promise<Claimed> {
    const asked = wanted.map((batch) => ({
      label: batchLabel(batch),
      type: batch.group.type,
      addresses: batch.addresses,
    }));
    return this.#claimOf(asked, after);
  }

  /** Claims the output, if no process has it and it is not done. */
  async claimOutput(after: number): Promise<Claimed> {
    return this.#claimOf([{ label: outputStep, type: '', addresses: 0 }], after);
  }

  /** Claims the copying of the source, if no process has it, it is not done, and the run has not begun. */
  async claimCopy(after: number): Promise<Claimed> {
    const claimed = await this.#claimOf([{ label: copyStep, type: '', addresses: 0 }], after);
    if (claimed.updates === gone) throw removed(this.name);
    return claimed;
  }

  async #claimOf(
    asked: readonly { label: string; type: string; addresses: number }[],
    after: number,
  ): Promise<Claimed> {
    const answer = await this.#run.step<{
      batch?: string | null;
      epoch: number;
      breaking?: string;
      proven: boolean;
      server?: string;
      heldForMs?: number | null;
      updates: UpdatePage;
    }>('claim', {
      seen: after,
      lease_ms: this.#leaseMs,
      batches: asked.map(({ label }) => label),
      types: asked.map(({ type }) => type),
      addresses: asked.map(({ addresses }) => addresses),
    });
    if (answer === gone) return { token: undefined, isProven: false, updates: gone };
    const { batch, epoch, breaking, proven, server, heldForMs, updates } = answer;
    return {
      token: typeof batch === 'string' ? { label: batch, epoch } : undefined,
      breaking,
      heldForMs,
      isProven: proven,
      isRestarted: server !== undefined && server !== this.#run.server,
      updates: await this.#run.rest(updates, after),
    };
  }

  /** @returns whether the claim is still valid; if not, nothing was recorded */
  async record(token: Token, record: BatchRecord): Promise<boolean> {
    return this.#run.writes(token, 'record', {
      call: record.call,
      entry: asciiJson(record.entry),
      ended: record.hasEnded,
      ...record.held,
      proven: record.isProven,
    });
  }

  /** @returns whether the claim is still valid */
  async confirm(token: Token): Promise<boolean> {
    return this.#run.holds(token, 'confirm', { lease_ms: this.#leaseMs });
  }

  /** Reserves within the budget of the run. @returns nothing when the claim is no longer valid */
  async reserve(token: Token): Promise<Reservation | undefined> {
    const answer = await this.#run.under<Reservation>(token, 'reserve', {});
    return answer === gone || 'lost' in answer ? undefined : answer;
  }

  /** A heartbeat: extends the claims by another lease. @param figures shown by `sluice status` */
  async beat(tokens: readonly Token[], after: number, figures: WorkerFigures): Promise<Beat> {
    const answered = this.#run.step<{
      held: readonly string[];
      pace: RateUpdate | null;
      mayClaim: boolean;
      rowsWritten: number;
      updates: UpdatePage;
    }>(
      'beat',
      {
        seen: after,
        lease_ms: this.#leaseMs,
        batches: tokens.map(({ label }) => label),
        epochs: tokens.map(({ epoch }) => epoch),
        host: this.#host,
        pid: process.pid,
        figures: JSON.stringify(figures),
      },
      this.#beats,
    );
    this.#beating = answered.catch(() => undefined);
    const answer = await answered;
    if (answer === gone) return { revoked: tokens, mayClaim: false, rowsWritten: 0, updates: gone };
    const { held, pace, mayClaim, rowsWritten, updates } = answer;
    const kept = new Set(held);
    const revoked = tokens.filter(({ label }) => !kept.has(label));
    return {
      revoked,
      mayClaim,
      pace,
      rowsWritten,
      updates: await this.#run.rest(updates, after, this.#beats),
    };
  }

  /** Drops everything but the run's identity and end. */
  async clear(): Promise<void> {
    await this.#run.call('clear', { run: this.#run.run, life: this.#run.life });
  }

  async drop(): Promise<void> {
    await this.#run.call('drop_run', { run: this.#run.run, life: this.#run.life });
  }

  /** Releases all claims. Never fails: they expire by themselves. */
  async close(): Promise<void> {
    const { run } = this.#options;
    const closed = new AbortController();
    const patience = systemClock.sleep(announcePatienceMs, closed.signal);
    // What is cut off may still be delivered: it would stop those that resume the run meanwhile, or show a process
    // at work that has ended.
    await Promise.race([Promise.all([this.#announced, this.#beating]), patience]);
    closed.abort();
    await this.#beats.close();
    // A process that never joined has nothing to release.
    if (this.#run.life !== '') {
      const release = { run, owner: this.#run.owner };
      await this.#run
        .call('release', release, this.#calls, releasePatienceMs)
        .catch(() => undefined);
    }
    await this.#calls.close();
  }
}

/** Largest payload of a notification in PostgreSQL, in bytes. */
const longestPayload = 7999;

function stopOf(payload: string): StoppedEntry | undefined {
  try {
    return stoppedEntry.parse(JSON.parse(payload));
  } catch {
    return undefined;
  }
}
