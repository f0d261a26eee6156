import { hostname } from 'node:os';
import { crc32 } from 'node:zlib';
import type { RateUpdate } from '../../../client/rate/shared-rate.js';
import { systemClock } from '../../../platform/waiting/clock.js';
import { type Batch, batchLabel } from '../../batches/batch.js';
import type { Reservation } from '../../batches/claim.js';
import {
  type PlanEntry,
  type RunEntry,
  type StoppedEntry,
  stoppedEntry,
} from '../journal-entries.js';
import type { RunNote } from '../run-store.js';
import type { WorkerFigures } from '../shared/shared-status.js';
import {
  type BatchRecord,
  type Beat,
  type Claimed,
  copyStep,
  type CopySteps,
  gone,
  outputStep,
  type Updates,
  type PaceSteps,
  type SharedSteps,
  type Token,
} from '../shared/store-protocol.js';
import {
  RunCalls,
  asciiJson,
  type UpdatePage,
  removed,
  SchemaCalls,
  type StoreCalls,
} from './store-calls.js';
import type { StoreConnectionOptions } from './store-connection.js';

/** The steps of a source copy, as calls of a schema's functions. */
function createCopySteps(run: RunCalls, calls: StoreCalls): CopySteps {
  return {
    keep: async (token, part, bytes) =>
      run.holds(token, 'keep_copy', { part, checksum: crc32(bytes), bytes }),
    end: async (token, { parts, of }) => run.holds(token, 'end_copy', { parts, of }),
    whole: async () => calls.copied(run.run, run.life),
    async part(part) {
      const found = await calls.copyPart(run.run, part);
      return found && found.checksum === crc32(found.bytes) ? found.bytes : undefined;
    },
  };
}

/** The steps of an account's shared rate, as calls of a schema's functions. */
function createPaceSteps(calls: RunCalls): PaceSteps {
  const { run, owner } = calls;
  let account = '';
  return {
    async join(own) {
      account = await own.account(calls.salt);
      return calls.call('join_pace', { run, owner, account, interval_ms: own.intervalMs });
    },
    async takeSlot() {
      const { waitMs } = await calls.call<{ waitMs: number }>('take_slot', { account });
      return waitMs;
    },
    async pause(ms) {
      await calls.call('pause', { account, ms });
    },
  };
}

interface PostgresStepsOptions {
  /** The run and its store in messages. */
  readonly name: string;
  readonly run: string;
  readonly leaseMs: number;
  /**
   * Size of the stored blocks of results.
   * @default 1048576
   */
  readonly blockBytes?: number;
}

/** A leaving process does not wait for long: claims expire by themselves. */
const releasePatienceMs = 5000;
const announcePatienceMs = 1000;

export class PostgresSteps implements SharedSteps {
  readonly #options: PostgresStepsOptions;
  readonly #leaseMs: number;
  readonly #calls: StoreCalls;
  /** Heartbeats have a connection of their own. */
  readonly #beats: StoreCalls;
  readonly #run: RunCalls;
  readonly #host = hostname();
  readonly copy: CopySteps;
  readonly pace: PaceSteps;
  #announced: Promise<void> | undefined;

  /** @param connect opens another connection to the store */
  constructor(options: PostgresStepsOptions, connect: () => StoreCalls) {
    this.#options = options;
    this.#leaseMs = Math.round(options.leaseMs);
    this.#calls = connect();
    this.#beats = connect();
    this.#run = new RunCalls(options, this.#calls);
    this.copy = createCopySteps(this.#run, this.#calls);
    this.pace = createPaceSteps(this.#run);
  }

  /** The steps of a process with a store in PostgreSQL. */
  static connected(
    options: PostgresStepsOptions & StoreConnectionOptions & { readonly schema: string },
  ): PostgresSteps {
    return new PostgresSteps(options, () => new SchemaCalls(options));
  }

  get name(): string {
    return this.#options.name;
  }

  listen(listener: (stopped: StoppedEntry | undefined) => void): void {
    this.#beats.listen?.((payload = '') => {
      const [life = ''] = payload.split(' ', 1);
      if (life === this.#run.life) listener(stopOf(payload.slice(life.length)));
    });
  }

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

  async reopen(
    batches: Parameters<SharedSteps['reopen']>[0],
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

  async claim(wanted: readonly Batch[], after: number): Promise<Claimed> {
    const asked = wanted.map((batch) => ({
      label: batchLabel(batch),
      type: batch.group.type,
      addresses: batch.addresses,
    }));
    return this.#claimOf(asked, after);
  }

  async claimOutput(after: number): Promise<Claimed> {
    return this.#claimOf([{ label: outputStep, type: '', addresses: 0 }], after);
  }

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
      updates: UpdatePage;
    }>('claim', {
      seen: after,
      lease_ms: this.#leaseMs,
      batches: asked.map(({ label }) => label),
      types: asked.map(({ type }) => type),
      addresses: asked.map(({ addresses }) => addresses),
    });
    if (answer === gone) return { token: undefined, isProven: false, updates: gone };
    const { batch, epoch, breaking, proven, server, updates } = answer;
    return {
      token: typeof batch === 'string' ? { label: batch, epoch } : undefined,
      breaking,
      isProven: proven,
      isRestarted: server !== undefined && server !== this.#run.server,
      updates: await this.#run.rest(updates, after),
    };
  }

  async record(token: Token, record: BatchRecord): Promise<boolean> {
    return this.#run.writes(token, 'record', {
      call: record.call,
      entry: asciiJson(record.entry),
      ended: record.hasEnded,
      ...record.held,
      proven: record.isProven,
    });
  }

  async confirm(token: Token): Promise<boolean> {
    return this.#run.holds(token, 'confirm', { lease_ms: this.#leaseMs });
  }

  async reserve(token: Token): Promise<Reservation | undefined> {
    const answer = await this.#run.under<Reservation>(token, 'reserve', {});
    return answer === gone || 'lost' in answer ? undefined : answer;
  }

  async keepResults(token: Token, bytes: Uint8Array, nextCall: () => number): Promise<boolean> {
    for (const block of this.#blocksOf(bytes)) {
      if (!(await this.#run.writes(token, 'keep_results', { call: nextCall(), ...block })))
        return false;
    }
    return true;
  }

  async results(label: string): Promise<Uint8Array | undefined> {
    return this.#kept('results', label);
  }

  async keepRecalled(bytes: Uint8Array): Promise<void> {
    for (const { part, bytes: block } of this.#blocksOf(bytes)) {
      const values = { part, bytes: block };
      if ((await this.#run.step('keep_recalled', values)) === gone) throw removed(this.name);
    }
  }

  async recalled(): Promise<Uint8Array | undefined> {
    return this.#kept('recalled');
  }

  async #kept(table: 'results' | 'recalled', label?: string): Promise<Uint8Array | undefined> {
    const blocks = await this.#calls.kept(table, this.#options.run, label);
    return blocks.length === 0 ? undefined : Buffer.concat(blocks);
  }

  *#blocksOf(bytes: Uint8Array) {
    const { blockBytes = 2 ** 20 } = this.#options;
    for (let part = 0; part * blockBytes < bytes.length; part += 1) {
      const end = (part + 1) * blockBytes;
      const block = Buffer.from(bytes.subarray(part * blockBytes, end));
      yield { part, is_last: end >= bytes.length, bytes: block };
    }
  }

  async beat(tokens: readonly Token[], after: number, figures: WorkerFigures): Promise<Beat> {
    const answer = await this.#run.step<{
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

  async clear(): Promise<void> {
    await this.#run.call('clear', { run: this.#run.run, life: this.#run.life });
  }

  async drop(): Promise<void> {
    await this.#run.call('drop_run', { run: this.#run.run, life: this.#run.life });
  }

  async close(): Promise<void> {
    const { run } = this.#options;
    const closed = new AbortController();
    const patience = systemClock.sleep(announcePatienceMs, closed.signal);
    // What is cut off may still be delivered, and would stop those that resume the run meanwhile.
    await Promise.race([this.#announced, patience]);
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
