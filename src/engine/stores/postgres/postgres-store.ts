import { ConfigurationError } from '../../../platform/errors/errors.js';
import { checkOptions, type OptionShape } from '../../../platform/check-options.js';
import { amount, count, required, text, url as aUrl } from '../../../platform/option-kinds.js';
import { LeasedRunStore } from '../shared/leased-store.js';
import type { SharedStore } from '../run-store.js';
import { systemClock } from '../../../platform/waiting/clock.js';
import { orAborted } from '../../../platform/waiting/promises.js';
import { parseServerUrl } from '../../../lists/sql/database-url.js';
import { schemes } from '../../../lists/sql/postgres/client.js';
import { schemaName, prepareSchema, SchemaCalls, schemaVersion } from './schema.js';
import { SharedSteps } from '../shared/shared-steps.js';
import { SluiceError } from '../../../platform/errors/sluice-error.js';
import { sharedStatusOf, type FoundSharedRun, type StoredRun } from '../shared/shared-status.js';
import { quoteName } from '../../../lists/sql/tables/table-plan.js';
import { StoreConnection } from './store-connection.js';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; its password is never shown. */
  readonly connectionString: string | URL;
  /** Name of the run: processes with the same name share it. */
  readonly run: string;
  /**
   * Schema of the tables: letters, digits and underscores. Created at first use.
   * @default 'sluice'
   */
  readonly schema?: string | undefined;
  /**
   * After this many milliseconds without a heartbeat, other processes take over a process's batches.
   * @default 30000
   */
  readonly leaseMs?: number | undefined;
  /**
   * How long the database may be unreachable, in milliseconds. Nothing is sent meanwhile.
   * @default 600000
   */
  readonly giveUpAfterMs?: number | undefined;
  /**
   * Largest copy of a source in the database, in bytes: one that can be read once, or may give other rows the
   * next time, is copied.
   * @default 4e9
   */
  readonly copyLimitBytes?: number | undefined;
}

const shortestLeaseMs = 3000;
const longestRun = 200;

const shape: OptionShape<PostgresStoreOptions> = {
  connectionString: required(aUrl),
  run: required(text),
  schema: text,
  leaseMs: amount,
  giveUpAfterMs: amount,
  copyLimitBytes: count,
};

/**
 * The store of a shared run in PostgreSQL (13 or later): processes on any number of machines work on it, and
 * any of them may be killed.
 *
 * @throws ConfigurationError when an option is wrong
 *
 * @example
 * ```ts
 * const store = postgresStore({ connectionString: url, run: 'contacts-2026-11-22' });
 * await run({ store, source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): SharedStore {
  checkOptions(options, shape);
  const { run, schema = 'sluice', leaseMs = 30_000 } = options;
  const url = String(options.connectionString);
  const { giveUpAfterMs = 600_000, copyLimitBytes = 4e9 } = options;
  if (run.trim() === '' || run.length > longestRun || run.includes('\0')) {
    throw new ConfigurationError(`the name of a run has 1 to ${longestRun} characters`, {
      option: 'run',
      fault: 'too_long',
    });
  }
  if (!schemaName.test(schema)) {
    throw new ConfigurationError(
      'the schema of a store is named with letters, digits and underscores, at most 63',
      { option: 'schema' },
    );
  }
  if (leaseMs < shortestLeaseMs) {
    throw new ConfigurationError(`a lease lasts at least ${shortestLeaseMs / 1000} seconds`, {
      option: 'leaseMs',
    });
  }
  const name = nameOfRun(run, parseServerUrl(url, schemes).name);
  return {
    name,
    look: async ({ signal } = {}) => lookAtRun({ url, schema, name, signal, giveUpAfterMs }, run),
    async open({ signal, clock = systemClock, rows }) {
      signal.throwIfAborted();
      const place = { url, name, schema, giveUpAfterMs };
      const steps = new SharedSteps({ name, run, leaseMs }, () => new SchemaCalls(place));
      const opening = LeasedRunStore.open(steps, { clock, leaseMs, rows, copyLimitBytes });
      try {
        return await orAborted(opening, signal);
      } catch (error) {
        await steps.close();
        // It may have been opened at that very moment.
        await opening.then(
          async (store) => store.close(),
          () => undefined,
        );
        throw error;
      }
    },
  };
}

interface StorePlace {
  readonly url: string;
  readonly schema: string;
  readonly name: string;
  readonly signal?: AbortSignal | undefined;
  /** How long it may be unreachable. @default as long as a look may take */
  readonly giveUpAfterMs?: number;
}

const longestLookMs = 30_000;

/**
 * Finds the runs in a store, finished and unfinished, the latest first.
 *
 * @throws ConfigurationError when the store cannot be used; DeadlineError when it is unreachable
 *
 * @example
 * ```ts
 * for (const found of await findPostgresRuns({ connectionString: url })) {
 *   console.log(found.run, 'status' in found ? found.status.state : found.error.message);
 * }
 * ```
 */
export async function findPostgresRuns(options: {
  readonly connectionString: string | URL;
  /** @default 'sluice' */
  readonly schema?: string;
}): Promise<readonly FoundSharedRun[]> {
  checkOptions(options, { connectionString: required(aUrl), schema: text });
  const { schema = 'sluice' } = options;
  const url = String(options.connectionString);
  const { name } = parseServerUrl(url, schemes);
  return looking({ url, schema, name }, [], async (connection) => {
    const found: FoundSharedRun[] = [];
    const named = await connection.ask<{ run: string }>(
      `select run from ${quoteName(schema)}.run order by made_at desc, run`,
    );
    for (const { run } of named) {
      const stored = await readRun(connection, schema, run);
      // No process has begun it or is about to.
      if (!stored || (stored.entries.length === 0 && stored.workers.every((one) => !one.isAlive))) {
        continue;
      }
      found.push(statusIn(stored, nameOfRun(run, name)));
    }
    return found;
  });
}

/** A run's content in a store. @throws as {@link findPostgresRuns} does */
async function lookAtRun(place: StorePlace, run: string): Promise<StoredRun | undefined> {
  return looking(place, undefined, async (connection) => readRun(connection, place.schema, run));
}

function nameOfRun(run: string, store: string): string {
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

/** Reading creates no schema. */
async function looking<Seen>(
  place: StorePlace,
  nothing: Seen,
  look: (connection: StoreConnection) => Promise<Seen>,
): Promise<Seen> {
  const giveUpAfterMs = Math.min(place.giveUpAfterMs ?? Infinity, longestLookMs);
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
