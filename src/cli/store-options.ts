import type { PostgresStoreOptions } from '../databases/postgres/index.js';
import { ConfigurationError, type SharedStore } from '../index.js';
import { defineOptions, type ParsedOptions } from './command.js';
import { placeOf } from './list-places.js';
import { amountOption, durationOption } from './option-values.js';
import { whereGiven } from './where-given.js';

/** Which shared run is meant. */
export const sharedRunOptions = defineOptions([
  {
    name: 'store',
    value: '<url>',
    help: 'PostgreSQL database in which many processes share a run; env:NAME takes the URL from the environment.',
  },
  { name: 'run', value: '<name>', help: 'Name of that run: the same in each of its processes.' },
]);

export const storeOptions = defineOptions([
  ...sharedRunOptions,
  {
    name: 'lease',
    value: '<s>',
    help: 'How long a process may give no sign of life before others take over its batches, in seconds (default: 30).',
  },
]);

/** What a run with a store cannot do. */
const notWithStore = [
  'fresh',
  'on-change',
  'moved',
  'retry-failed',
  'partial',
  'preflight',
  'detach',
  'history',
  'wait-lock',
  'report',
  'into',
  'part-size',
  'split-by',
] as const;

/** How patient a process of a run is. */
type StorePatience = Omit<PostgresStoreOptions, 'connectionString' | 'run'>;

/**
 * The shared run that `--store` and `--run` name.
 *
 * @returns `undefined` where none is meant
 * @throws ConfigurationError
 */
export async function sharedRunOf(
  options: ParsedOptions<'store' | 'run'>,
  environment: NodeJS.ProcessEnv,
  patience: StorePatience = {},
): Promise<SharedStore | undefined> {
  const run = options.text('run');
  if (!options.has('store')) {
    if (run === undefined) return undefined;
    throw new ConfigurationError('--run goes with --store <url>, where processes share a run');
  }
  const connectionString = storeUrlOf(options, environment);
  if (run === undefined) {
    throw new ConfigurationError(
      '--store needs the name of the run: --run <name>, the same in each of its processes and another for each list or night',
    );
  }
  const { postgresStore } = await import('../databases/postgres/index.js');
  return postgresStore({ connectionString, run, ...patience });
}

/** @throws ConfigurationError */
export function storePatience(
  options: ParsedOptions<'store' | 'lease' | 'give-up-after'>,
): StorePatience {
  if (options.has('lease') && !options.has('store')) {
    throw new ConfigurationError('--lease goes with --store <url>, where processes share a run');
  }
  const lease = durationOption(options, 'lease');
  const giveUpAfter = amountOption(options, 'give-up-after');
  return whereGiven({
    leaseMs: lease === undefined ? undefined : lease * 1000,
    giveUpAfterMs: giveUpAfter === undefined ? undefined : giveUpAfter * 1000,
  });
}

/** @throws ConfigurationError */
export function storeUrlOf(
  options: ParsedOptions<'store'>,
  environment: NodeJS.ProcessEnv,
): string {
  const { database } = placeOf(options.text('store') ?? '', environment);
  if (database?.kind === 'postgres') return database.url;
  throw new ConfigurationError(
    '--store takes the URL of a PostgreSQL database, as postgres://user@host/database, or env:NAME of a variable that holds it',
  );
}

/** @throws ConfigurationError for options that do not work with a store */
export function refuseBesideStore(options: ParsedOptions<(typeof notWithStore)[number]>): void {
  const refused = notWithStore.find((name) => options.has(name));
  if (refused === undefined) return;
  throw new ConfigurationError(`--${refused} does not work with --store: leave one of them out`);
}
