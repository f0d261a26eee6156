import { SluiceError } from '../../../platform/errors/sluice-error.js';
import { checkOptions } from '../../../platform/check-options.js';
import { required, text } from '../../../platform/option-kinds.js';
import { sharedStatusOf, type FoundSharedRun, type StoredRun } from '../shared/shared-status.js';
import { quoteName } from '../../../lists/sql/tables/table-plan.js';
import { parseServerUrl } from '../../../lists/sql/database-url.js';
import { schemes } from '../../../lists/sql/postgres/client.js';
import { prepareSchema, schemaVersion } from './schema.js';
import { StoreConnection } from './store-connection.js';
import { orAborted } from '../../../platform/waiting/promises.js';

interface StorePlace {
  readonly url: string;
  readonly schema: string;
  /** How messages call the store. */
  readonly name: string;
  readonly signal?: AbortSignal | undefined;
}

const giveUpAfterMs = 30_000;

/**
 * Finds the runs in a store, the latest first: those that are unfinished, and those that have finished.
 *
 * @throws ConfigurationError when the store cannot be used; DeadlineError when it is out of reach
 *
 * @example
 * ```ts
 * for (const found of await findPostgresRuns({ connectionString: url })) {
 *   console.log(found.run, 'status' in found ? found.status.state : found.error.message);
 * }
 * ```
 */
export async function findPostgresRuns(options: {
  readonly connectionString: string;
  /** @default 'sluice' */
  readonly schema?: string;
}): Promise<readonly FoundSharedRun[]> {
  checkOptions(options, { connectionString: required(text), schema: text });
  const { connectionString: url, schema = 'sluice' } = options;
  const { name } = parseServerUrl(url, schemes);
  return looking({ url, schema, name }, [], async (connection) => {
    const found: FoundSharedRun[] = [];
    const named = await connection.ask<{ run: string }>(
      `select run from ${quoteName(schema)}.run order by made_at desc, run`,
    );
    for (const { run } of named) {
      const stored = await readRun(connection, schema, run);
      // Nobody has begun it, and nobody is about to.
      if (!stored || (stored.entries.length === 0 && stored.workers.every((one) => !one.isAlive))) {
        continue;
      }
      found.push(statusIn(stored, nameOfRun(run, name)));
    }
    return found;
  });
}

/** What a store has of one run. @throws as {@link findPostgresRuns} does */
export async function lookAtRun(place: StorePlace, run: string): Promise<StoredRun | undefined> {
  return looking(place, undefined, async (connection) => readRun(connection, place.schema, run));
}

/** How messages call a run. */
export function nameOfRun(run: string, store: string): string {
  return `run ${JSON.stringify(run)} in ${store}`;
}

function statusIn(stored: StoredRun, name: string): FoundSharedRun {
  const { run } = stored;
  try {
    return { run, status: sharedStatusOf(stored, name) };
  } catch (error) {
    if (error instanceof SluiceError) return { run, error };
    throw error;
  }
}

async function readRun(
  connection: StoreConnection,
  schema: string,
  run: string,
): Promise<StoredRun | undefined> {
  const [row] = await connection.ask<{ answer: StoredRun | null }>(
    `select ${quoteName(schema)}.status($1) as answer`,
    [run],
  );
  return row?.answer ?? undefined;
}

/** Whoever only looks makes no schema. */
async function looking<Seen>(
  place: StorePlace,
  nothing: Seen,
  look: (connection: StoreConnection) => Promise<Seen>,
): Promise<Seen> {
  const connection = new StoreConnection({ ...place, giveUpAfterMs });
  const read = async (): Promise<Seen> => {
    if ((await schemaVersion(connection, place)) === 0) return nothing;
    await prepareSchema(connection, place);
    return look(connection);
  };
  try {
    return await (place.signal ? orAborted(read(), place.signal) : read());
  } finally {
    await connection.close();
  }
}
