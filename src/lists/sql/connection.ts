import { systemClock } from '../../platform/waiting/clock.js';
import type { DatabaseFailure, Refuse } from './database-failure.js';
import { notice, type OnNotice } from '../../platform/text/notices.js';

/** A network drops what is silent for some minutes, as a long statement is. */
export const keepAliveAfterMs = 60_000;

/** A connection to a database. Errors are the driver's, and hold what must not be shown. */
export interface Connection {
  /** Which database it is, without user and password. */
  readonly store: string;
  /** Rows as lists; of a statement that gives none, none. */
  query(
    sql: string,
    values?: readonly (string | number)[],
  ): Promise<readonly (readonly unknown[])[]>;
  /** Lets go of the database; a transaction ends with it, and so does what is staged. Never fails. */
  close(): Promise<void>;
  /** Closes it and takes back what its opening made. @default it made nothing */
  discard?(): Promise<void>;
}

export async function discardConnection(connection: Connection): Promise<void> {
  await (connection.discard?.() ?? connection.close());
}

/**
 * Connects and uses the connection, which stays open; when that fails it is closed.
 *
 * @param refuse says what an error of the driver means
 */
export async function useConnection<Database extends Connection, Value>(
  connect: () => Promise<Database>,
  refuse: Refuse,
  use: (connection: Database) => Value | Promise<Value>,
): Promise<Value> {
  const connection = await connect().catch(refuse);
  try {
    return await use(connection);
  } catch (error) {
    await discardConnection(connection);
    return refuse(error);
  }
}

/** What closes a connection, once: when it is asked to, or when the signal aborts. */
export function closeOnce(
  close: () => void | Promise<void>,
  signal?: AbortSignal,
): () => Promise<void> {
  let isClosed = false;
  const closeIt = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    signal?.removeEventListener('abort', stop);
    await close();
  };
  const stop = (): void => {
    void closeIt();
  };
  signal?.addEventListener('abort', stop);
  return closeIt;
}

/** How to wait for a lock that another session holds. */
export interface Waiting {
  /** How messages call the table. */
  readonly name: string;
  readonly failureOf: (error: unknown) => DatabaseFailure;
  readonly onNotice: OnNotice | undefined;
  readonly signal: AbortSignal | undefined;
  /** How long to try. */
  readonly patienceMs: number;
}

/** Pauses between two tries, in which others have their turn. */
const firstPauseMs = 500;
const longestPauseMs = 15_000;
const noticeEveryMs = 60_000;

/**
 * Does what needs locks, again and again as long as another session holds one: who waits for a lock on a
 * whole table keeps everybody else waiting, too, and so it waits a short time, many times.
 *
 * @param work is taken back when it does not get its locks
 */
export async function retryOnLock<Value>(
  { name, failureOf, onNotice, signal, patienceMs }: Waiting,
  connection: Connection,
  work: () => Promise<Value>,
): Promise<Value> {
  const startedMs = systemClock.now();
  let noticedMs = -Infinity;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      const nowMs = systemClock.now();
      if (failureOf(error).refusal?.kind !== 'locked' || nowMs - startedMs > patienceMs)
        throw error;
      // Where nothing was begun there is nothing to take back.
      await connection.query('ROLLBACK').catch(() => undefined);
      if (nowMs - noticedMs > noticeEveryMs) {
        noticedMs = nowMs;
        const minutes = Math.ceil((startedMs + patienceMs - nowMs) / 60_000);
        onNotice?.(notice('table_locked', { table: name, minutes }));
      }
      await systemClock.sleep(pauseMs, signal);
    }
  }
}
