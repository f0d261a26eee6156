import type { PostgresStoreOptions } from '../../lists/sql/postgres/index.js';
import { ConfigurationError, type SharedStore } from '../../index.js';
import {
  defineOptions,
  type CommandInput,
  type NameOf,
  type ParsedOptions,
  type Environment,
  omitUndefined,
} from '../command.js';
import { locationOf, standard } from '../endpoints/locations.js';
import { patienceOptions, type PatienceOption } from '../connect.js';
import { count, duration, needs, size, text } from './option-types.js';

const needsStore = needs(
  ['store'],
  (name) => `--${name} goes with --store <url>, where processes share a run`,
);

export const sharedRunOptions = defineOptions([
  {
    name: 'store',
    type: text('<url>'),
    help: 'PostgreSQL database in which many processes share a run; env:NAME takes the URL from the environment.',
  },
  {
    name: 'run',
    type: text('<name>'),
    rules: [needsStore],
    help: 'Name of that run: the same in each of its processes.',
  },
]);

export const storeOptions = defineOptions([
  ...sharedRunOptions,
  {
    name: 'lease',
    type: duration(),
    library: 'leaseMs',
    rules: [needsStore],
    help: 'How long a process may give no sign of life before others take over its batches, in seconds (default: 30).',
  },
  {
    name: 'copy-limit',
    type: size(),
    library: 'copyLimitBytes',
    rules: [needsStore],
    help: 'Largest copy in the store of an input that other processes cannot read alike, such as a query (default: 4GB).',
  },
  {
    name: 'workers',
    type: count(),
    rules: [needsStore],
    help: 'How many processes of this machine work on the run, this one among them (default: 1).',
  },
]);

type StorePatience = Omit<PostgresStoreOptions, 'connectionString' | 'run'>;

export async function sharedRunOf(
  input: CommandInput<'store' | 'run'>,
  patience: StorePatience = {},
): Promise<SharedStore | undefined> {
  const { options } = input;
  const run = options.text('run');
  if (!options.has('store')) return undefined;
  const connectionString = storeUrlOf(options, input);
  if (run === undefined) {
    throw new ConfigurationError(
      '--store needs the name of the run: --run <name>, the same in each of its processes and another for each list or night',
    );
  }
  const { postgresStore } = await import('../../lists/sql/postgres/index.js');
  return postgresStore({ connectionString, run, ...patience });
}

export function storePatience(
  options: ParsedOptions<NameOf<typeof storeOptions> | PatienceOption>,
): StorePatience {
  const { giveUpAfterMs } = options.libraryValues(patienceOptions);
  const { leaseMs, copyLimitBytes } = options.libraryValues(storeOptions);
  return omitUndefined({ leaseMs, copyLimitBytes, giveUpAfterMs });
}

export function storeUrlOf(options: ParsedOptions<'store'>, from: Environment): string {
  const location = locationOf(options.text('store') ?? '', from);
  if (location.kind === 'postgres') return location.url;
  throw new ConfigurationError(
    '--store takes the URL of a PostgreSQL database, as postgres://user@host/database, or env:NAME of a variable that holds it',
  );
}

/** @throws ConfigurationError for standard input, which no other process can read */
export function refuseStandardInput(inputs: readonly string[]): void {
  if (!inputs.includes(standard)) return;
  throw new ConfigurationError(
    'standard input does not work with --store, because another process could not go on with it: write it to a file first',
  );
}
