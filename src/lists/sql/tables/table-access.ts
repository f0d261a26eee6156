import { OutputError } from '../../../platform/errors/errors.js';
import { lockedError } from '../../../platform/files/file-lock.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { systemClock } from '../../../platform/waiting/clock.js';
import { holdOutput } from '../../files/outputs/output-path.js';
import type { LockWait, OpenSinkOptions } from '../../rows/sink.js';
import {
  mostSilentMs,
  retryOnLock,
  useConnection,
  type Connection,
  type Waiting,
} from '../connection.js';
import {
  checkingRefuser,
  RefusedRows,
  writingRefuser,
  type DatabaseFailure,
  type Refuse,
} from '../database-failure.js';
import { placeOfFile } from '../database-url.js';
import type { Dialect, Purpose } from '../dialect.js';
import { type TableWriting, findWritten } from './apply-staged.js';
import type { TableLocation } from './plan-table.js';
import { parseTableName, qualifiedName, type TablePlan } from './table-plan.js';

export interface TableAddress {
  readonly url: string;
  readonly into: string;
  readonly maxRowsPerCommit?: number | undefined;
}

/** How long a server may take to see that a process was killed. */
const killedMs = 2000;
const claimPauseMs = 250;

/**
 * Mark the names that runs with a key claim, each another one: the first may stop before it has made the table.
 * No table's name has them in a file's name.
 */
const withKey = ['+key', '+key2', '+key3', '+key4'];

function atOnce(patience: LockWait | undefined): LockWait | undefined {
  return patience && { ...patience, waitLockMs: 0 };
}

type HowToWait = Pick<Waiting, 'onNotice' | 'signal' | 'patienceMs'>;

/** The way to one table: connects, looks at it, and stages rows for it. */
export class TableAccess {
  readonly into: string;
  /** The same with its database, for messages. */
  readonly name: string;
  readonly dialect: Dialect;
  readonly refuse: Refuse;
  readonly #address: TableAddress;
  readonly #parts: readonly string[];

  constructor(dialect: Dialect, address: TableAddress) {
    this.dialect = dialect;
    this.into = address.into;
    this.name = `${address.into} in ${dialect.nameOf(address.url, 'write')}`;
    this.refuse = writingRefuser(this.name, this.failureOf);
    this.#address = address;
    this.#parts = parseTableName(address.into, dialect.nameParts);
  }

  readonly failureOf = (error: unknown): DatabaseFailure =>
    error instanceof RefusedRows ? error : this.dialect.failureOf(error);

  use<Value>(
    purpose: Purpose,
    refuse: Refuse,
    work: (connection: Connection) => Promise<Value>,
    /** How to wait for others that keep it to themselves. @default as the driver does */
    waiting?: HowToWait,
  ): Promise<Value> {
    const connect = async (): Promise<Connection> =>
      this.dialect.connect(this.#address.url, purpose);
    const { name, failureOf } = this;
    return useConnection(
      waiting ? () => retryOnLock({ name, failureOf, ...waiting }, undefined, connect) : connect,
      refuse,
      work,
    );
  }

  async look(connection: Connection): Promise<TableLocation> {
    const { dialect } = this;
    const name = await dialect.locate(connection, this.#parts);
    const written = await findWritten(dialect, connection, name);
    return { dialect, store: connection.store, name, ...written };
  }

  /**
   * Keeps other runs from making the table; see `Sink.hold`. Those with a key only keep out one without: they
   * make it in turn, and the first of them, while it runs, is there for all.
   */
  async hold(hasKey: boolean, patience?: LockWait): Promise<() => Promise<void>> {
    const nothing = async (): Promise<void> => undefined;
    const check = checkingRefuser(this.name, this.failureOf);
    const exists = async (connection: Connection): Promise<boolean> => {
      const { table } = await this.look(connection);
      await connection.close();
      return table !== undefined;
    };
    if (!hasKey) return this.#holdBesideKeys(patience);
    if (await this.use('look', check, exists)) return nothing;
    let release = nothing;
    for (const part of withKey) {
      const claimed = await this.claim(atOnce(patience), part, 0).catch((error: unknown) => {
        if (isSluiceError(error, 'state_locked')) return undefined;
        throw error;
      });
      if (!claimed) continue;
      release = claimed;
      break;
    }
    try {
      await this.#waitForKeyless(patience);
    } catch (error) {
      await release();
      throw error;
    }
    return release;
  }

  /** Another with a key may look for one at the same moment, which keeps a file for so long. */
  async #waitForKeyless(patience: LockWait | undefined): Promise<void> {
    const { waitLockMs = 0, signal, clock = systemClock } = patience ?? {};
    const isFile = this.dialect.fileOf?.(this.#address.url) !== undefined;
    for (let left = isFile && waitLockMs === 0 ? 3 : 0; ; left -= 1) {
      try {
        return await this.#waitFor(patience, '');
      } catch (error) {
        if (left === 0 || !isSluiceError(error, 'state_locked')) throw error;
        await clock.sleep(claimPauseMs / 4, signal);
      }
    }
  }

  /** Waits for runs with a key without the claim that they end with, which would keep both waiting. */
  async #holdBesideKeys(patience: LockWait | undefined): Promise<() => Promise<void>> {
    for (;;) {
      const release = await this.claim(patience);
      try {
        for (const part of withKey) await this.#waitFor(atOnce(patience), part);
        return release;
      } catch (error) {
        await release();
        const canWait = (patience?.waitLockMs ?? 0) > 0 && isSluiceError(error, 'state_locked');
        if (!canWait) throw error;
      }
      for (const part of withKey) await this.#waitFor(patience, part);
    }
  }

  async #waitFor(patience: LockWait | undefined, part: string): Promise<void> {
    const letGo = await this.claim(patience, part);
    await letGo();
  }

  /** Lets nobody else make the table until the returned function is called. */
  async claim(
    patience?: LockWait,
    part = '',
    leastWaitMs = killedMs,
  ): Promise<() => Promise<void>> {
    const { dialect, name } = this;
    const file = dialect.fileOf?.(this.#address.url);
    if (file !== undefined) {
      const { store } = await placeOfFile(file, 'write');
      const parts = this.#parts.map((part) => encodeURIComponent(part.toLowerCase()));
      // The schema of those that name none.
      if (parts.length > 1 && parts[0] === 'main') parts.shift();
      return holdOutput(name, `${[store, ...parts].join('.')}${part}`, patience);
    }
    const { waitLockMs = 0, signal, clock = systemClock, onLost } = patience ?? {};
    const take = async (waitMs: number): Promise<Connection> => {
      const untilMs = clock.now() + waitMs;
      return this.use('look', checkingRefuser(name, this.failureOf), async (connection) => {
        const target = qualifiedName(await dialect.locate(connection, this.#parts));
        while ((await dialect.claim?.(connection, target + part)) === false) {
          if (clock.now() >= untilMs) {
            const canWait = patience !== undefined;
            throw lockedError({ name, does: 'is writing', canWait, option: 'sink' }, waitLockMs);
          }
          await clock.sleep(claimPauseMs, signal);
        }
        return connection;
      });
    };
    let connection = await take(Math.max(waitLockMs, leastWaitMs));
    const released = new AbortController();
    const keep = async (): Promise<void> => {
      for (;;) {
        await clock.sleep(mostSilentMs / 5, released.signal);
        await connection
          .query('SELECT 1')
          .catch(async () => {
            await connection.close();
            connection = await take(killedMs);
          })
          .catch((error: unknown) => {
            // A server that is away keeps all out.
            if (isSluiceError(error, 'state_locked')) onLost?.(new OutputError(error.message));
          });
      }
    };
    const kept = keep().catch(() => undefined);
    return async () => {
      released.abort();
      await kept;
      await connection.close();
    };
  }

  /** @param patienceMs how long to retry for another session's lock */
  async stage(
    connection: Connection,
    plan: TablePlan,
    opening: OpenSinkOptions,
    patienceMs: number,
  ): Promise<TableWriting> {
    const { dialect, name, failureOf } = this;
    const { runId, onNotice, signal } = opening;
    const waiting = { name, failureOf, onNotice, signal, patienceMs };
    const staging = await retryOnLock(waiting, connection, () =>
      dialect.stage(connection, plan, opening),
    );
    const maxRows = this.#address.maxRowsPerCommit ?? Infinity;
    return { dialect, connection, plan, staging, runId, maxRows, waiting };
  }
}
