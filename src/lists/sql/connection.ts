import type { Refuse } from './failure.js';

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
