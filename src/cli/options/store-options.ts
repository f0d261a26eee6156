import type { PostgresStoreOptions } from '../../lists/sql/postgres/index.js';
import { ConfigurationError, type SharedStore } from '../../index.js';
import {
  defineOptions,
  type CommandInput,
  type ParsedOptions,
  type Surroundings,
} from '../command.js';
import { placeOf } from '../endpoints/list-places.js';
import { amountOption, countOption, durationOption, sizeOption } from './option-values.js';
import { standard } from '../endpoints/stdio.js';
import { whereGiven } from '../job/omit-undefined.js';

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
  {
    name: 'copy-limit',
    value: '<size>',
    help: 'Largest copy in the store of an input that other processes cannot read alike, such as a query (default: 4GB).',
  },
  {
    name: 'workers',
    value: '<n>',
    help: 'How many processes of this machine work on the run, this one among them (default: 1).',
  },
]);

/** What means nothing where processes share a run, and why. */
const notWithStore = {
  fresh: 'another name (--run) is another run',
  moved: 'the run is not in a folder that could be moved',
  'on-change': 'a list that has changed is another run: give it another name (--run)',
  'wait-lock': 'processes share the run, so none waits for another',
} as const;

/** How patient a process of a run is. */
type StorePatience = Omit<PostgresStoreOptions, 'connectionString' | 'run'>;

/**
 * The shared run that `--store` and `--run` name.
 *
 * @returns `undefined` where none is meant
 * @throws ConfigurationError
 */
export async function sharedRunOf(
  input: Pick<CommandInput<'store' | 'run'>, 'options' | 'env' | 'cwd'>,
  patience: StorePatience = {},
): Promise<SharedStore | undefined> {
  const { options } = input;
  const run = options.text('run');
  if (!options.has('store')) {
    refuseWithoutStore(options, 'run');
    return undefined;
  }
  const connectionString = storeUrlOf(options, input);
  if (run === undefined) {
    throw new ConfigurationError(
      '--store needs the name of the run: --run <name>, the same in each of its processes and another for each list or night',
    );
  }
  const { postgresStore } = await import('../../lists/sql/postgres/index.js');
  return postgresStore({ connectionString, run, ...patience });
}

/** @throws ConfigurationError */
export function storePatience(
  options: ParsedOptions<'store' | 'lease' | 'copy-limit' | 'give-up-after'>,
): StorePatience {
  refuseWithoutStore(options, 'lease');
  refuseWithoutStore(options, 'copy-limit');
  const lease = durationOption(options, 'lease');
  const giveUpAfter = amountOption(options, 'give-up-after');
  return whereGiven({
    leaseMs: lease === undefined ? undefined : lease * 1000,
    giveUpAfterMs: giveUpAfter === undefined ? undefined : giveUpAfter * 1000,
    copyLimitBytes: sizeOption(options, 'copy-limit'),
  });
}

/** How many processes of this machine work on the run. @throws ConfigurationError */
export function workersOf(options: ParsedOptions<'store' | 'workers'>): number {
  refuseWithoutStore(options, 'workers');
  return countOption(options, 'workers') ?? 1;
}

function refuseWithoutStore<Name extends string>(
  options: ParsedOptions<Name | 'store'>,
  name: Name,
): void {
  if (options.has('store') || !options.has(name)) return;
  throw new ConfigurationError(`--${name} goes with --store <url>, where processes share a run`);
}

/** @throws ConfigurationError */
export function storeUrlOf(
  options: ParsedOptions<'store'>,
  from: Pick<Surroundings, 'env' | 'cwd'>,
): string {
  const { database } = placeOf(options.text('store') ?? '', from);
  if (database?.kind === 'postgres') return database.url;
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

/** @throws ConfigurationError for options that do not work with a store */
export function refuseBesideStore(options: ParsedOptions<keyof typeof notWithStore>): void {
  for (const [name, why] of Object.entries(notWithStore)) {
    if (!options.has(name as keyof typeof notWithStore)) continue;
    throw new ConfigurationError(`--${name} does not work with --store: ${why}`);
  }
}
