/** What lets go of a database. */
export interface Closable {
  close(): void | Promise<void>;
}

/**
 * Connects and uses the connection, which stays open; when that fails it is closed.
 *
 * @param refuse says what an error of the driver means
 */
export async function useConnection<Connection extends Closable, Value>(
  connect: () => Promise<Connection>,
  refuse: (error: unknown) => never,
  use: (connection: Connection) => Value | Promise<Value>,
): Promise<Value> {
  const connection = await connect().catch(refuse);
  try {
    return await use(connection);
  } catch (error) {
    await connection.close();
    return refuse(error);
  }
}
