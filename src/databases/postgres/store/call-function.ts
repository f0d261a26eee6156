import { quoteName } from '../../names.js';
import type { StoreConnection } from './store-connection.js';

/** Arguments of a function by their names. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Calls a function of a store's schema: a transaction of its own.
 *
 * @param giveUpAfterMs how long it may fail. @default that of the connection
 * @returns what it answers; nothing where it answers NULL
 * @throws DeadlineError, ConfigurationError
 */
export async function callFunction<Content>(
  connection: StoreConnection,
  { schema, name }: { readonly schema: string; readonly name: string },
  values: Values,
  giveUpAfterMs?: number,
): Promise<Content> {
  const names = Object.keys(values).map((key, index) => `p_${key} => $${index + 1}`);
  const [row] = await connection.ask<{ answer: Content }>(
    `select ${quoteName(schema)}.${name}(${names.join(', ')}) as answer`,
    Object.values(values),
    giveUpAfterMs,
  );
  // A function gives one row.
  return (row as { answer: Content }).answer;
}
