import { systemClock } from '../../platform/waiting/clock.js';
import { onAbort } from '../../platform/waiting/promises.js';
import type { DatabaseFailure, Refuse } from './database-failure.js';
import { notice, type OnNotice } from '../../platform/text/notices.js';

/** A network drops what is silent for some minutes, as a long statement is. */
export const keepAliveAfterMs = 60_000;

/** A session that holds a lock sends something in this time, and the server ends it when it has not. */
export const mostSilentMs = 5 * 60_000;

/** A connection to a database. Errors are the driver's, and may contain secrets. */
export interface Connection {
  /** The database, without user and password. */
  readonly store: string;
  /** Rows as lists; none for a statement without rows. */
  query(
    sql: string,
    values?: readonly (string | number)[],
  ): Promise<readonly (readonly unknown[])[]>;
  /** Disconnects; a transaction and staged rows end with it. Never fails. */
  close(): Promise<void>;
  /** Closes it and undoes what opening it created. @default nothing */
  discard?(): Promise<void>;
}

export async function discardConnection(connection: Connection): Promise<void> {
  await (connection.discard?.() ?? connection.close());
}

/** Connects and uses the connection, which stays open but for a failure. @param refuse converts the driver's errors */
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

/** Closes a connection once: on request, or when the signal aborts. */
export function closeOnce(
  close: () => void | Promise<void>,
  signal?: AbortSignal,
): () => Promise<void> {
  let isClosed = false;
  const closeIt = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    forget();
    await close();
  };
  const forget = onAbort(signal, () => void closeIt());
  return closeIt;
}

export interface Waiting {
  readonly name: string;
  readonly failureOf: (error: unknown) => DatabaseFailure;
  readonly onNotice: OnNotice | undefined;
  readonly signal: AbortSignal | undefined;
  readonly patienceMs: number;
}

const firstPauseMs = 500;
const longestPauseMs = 15_000;
const noticeEveryMs = 60_000;

/**
 * Retries work that needs locks while another session holds one: a session that queues for a table lock
 * blocks everybody behind it, so it waits a short time, many times.
 *
 * @param work is rolled back when it does not get its locks
 */
export async function retryOnLock<Value>(
  { name, failureOf, onNotice, signal, patienceMs }: Waiting,
  connection: Connection | undefined,
  work: () => Promise<Value>,
): Promise<Value> {
  const startedMs = systemClock.now();
  let noticedMs = -Infinity;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      const nowMs = systemClock.now();
      const { isBusy = false, refusal } = failureOf(error);
      const isLocked = isBusy || refusal?.kind === 'locked';
      if (!isLocked || nowMs - startedMs > patienceMs) throw error;
      // Without a transaction there is nothing to roll back.
      await connection?.query('ROLLBACK').catch(() => undefined);
      if (nowMs - noticedMs > noticeEveryMs) {
        noticedMs = nowMs;
        const minutes = Math.ceil((startedMs + patienceMs - nowMs) / 60_000);
        onNotice?.(notice('table_locked', { table: name, minutes }));
      }
      await systemClock.sleep(pauseMs, signal);
    }
  }
}
