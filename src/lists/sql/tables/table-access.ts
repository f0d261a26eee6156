import { lockedError } from '../../../platform/files/file-lock.js';
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

/** Which table, and how it is written. */
export interface TableAddress {
  readonly url: string;
  readonly into: string;
  readonly maxRowsPerCommit?: number | undefined;
}

/** How long a server may take to see that a process was killed. */
const killedMs = 2000;
const claimPauseMs = 250;

type HowToWait = Pick<Waiting, 'onNotice' | 'signal' | 'patienceMs'>;

/** The way to one table: connects, looks at it, and stages rows for it. */
export class TableAccess<Database extends Connection> {
  readonly into: string;
  /** The same with its database, for messages. */
  readonly name: string;
  readonly dialect: Dialect<Database>;
  readonly refuse: Refuse;
  readonly #address: TableAddress;
  readonly #parts: readonly string[];

  constructor(dialect: Dialect<Database>, address: TableAddress) {
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
    work: (connection: Database) => Promise<Value>,
    /** How to wait for others that keep it to themselves. @default as the driver does */
    waiting?: HowToWait,
  ): Promise<Value> {
    const connect = async (): Promise<Database> => this.dialect.connect(this.#address.url, purpose);
    const { name, failureOf } = this;
    return useConnection(
      waiting ? () => retryOnLock({ name, failureOf, ...waiting }, undefined, connect) : connect,
      refuse,
      work,
    );
  }

  async look(connection: Database): Promise<TableLocation> {
    const { dialect } = this;
    const name = await dialect.locate(connection, this.#parts);
    const written = await findWritten(dialect, connection, name);
    return { dialect, store: connection.store, name, ...written };
  }

  /** Keeps other runs from making the table; see `Sink.hold`. */
  async hold(patience?: LockWait): Promise<() => Promise<void>> {
    const { dialect, name } = this;
    const { claim } = dialect;
    const file = dialect.fileOf?.(this.#address.url);
    if (file !== undefined) {
      const { store } = await placeOfFile(file, 'write');
      const parts = this.#parts.map((part) => encodeURIComponent(part.toLowerCase()));
      // The schema of those that name none.
      if (parts.length > 1 && parts[0] === 'main') parts.shift();
      return holdOutput(name, [store, ...parts].join('.'), patience);
    }
    if (!claim) return async () => undefined;
    const { waitLockMs = 0, signal } = patience ?? {};
    const untilMs = systemClock.now() + Math.max(waitLockMs, killedMs);
    const take = async (connection: Database): Promise<Database> => {
      const target = qualifiedName(await dialect.locate(connection, this.#parts));
      while (!(await claim(connection, target))) {
        if (systemClock.now() >= untilMs) {
          const canWait = patience !== undefined;
          throw lockedError({ name, does: 'is writing', canWait }, waitLockMs);
        }
        await systemClock.sleep(claimPauseMs, signal);
      }
      return connection;
    };
    const connection = await this.use('look', checkingRefuser(name, this.failureOf), take);
    const timer = setInterval(() => {
      connection.query('SELECT 1').catch(() => undefined);
    }, mostSilentMs / 5).unref();
    return async () => {
      clearInterval(timer);
      await connection.close();
    };
  }

  /** @param patienceMs how long to retry for another session's lock */
  async stage(
    connection: Database,
    plan: TablePlan,
    opening: OpenSinkOptions,
    patienceMs: number,
  ): Promise<TableWriting<Database>> {
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
