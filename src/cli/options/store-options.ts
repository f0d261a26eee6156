import type { PostgresStoreOptions } from '../../lists/sql/postgres/index.js';
import { stat } from 'node:fs/promises';
import {
  ConfigurationError,
  type SharedStore,
  History,
  verdicts,
  type MaxAgeDays,
  type Verdict,
} from '../../index.js';
import {
  defineOptions,
  type CommandInput,
  type NameOf,
  type ParsedOptions,
  type Environment,
  omitUndefined,
  type OptionDefinition,
  type OptionType,
} from '../command.js';
import { locationOf, standard } from '../endpoints/locations.js';
import { patienceOptions, type PatienceOption, type Target } from '../connect.js';
import { count, duration, needs, size, text, path, patience } from './option-types.js';
import { maxAgesOf } from '../../engine/history/history-options.js';
import { exclusionRules } from './library-options.js';

const needsStore = needs(
  ['store'],
  (name) => `--${name} goes with --store <url>, where processes share a run`,
);

export const storeOption = {
  name: 'store',
  type: text('<url>'),
  help: 'PostgreSQL database in which many processes share a run; env:NAME takes the URL from the environment.',
} as const satisfies OptionDefinition;

export const sharedRunOptions = defineOptions([
  storeOption,
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
    type: duration,
    library: 'leaseMs',
    rules: [needsStore],
    help: 'How long a process may give no sign of life before others take over its batches, in seconds (default: 30).',
  },
  {
    name: 'copy-limit',
    type: size,
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
      { option: '--run', fault: 'missing' },
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
    { option: '--store' },
  );
}

/** @throws ConfigurationError for standard input, which no other process can read */
export function refuseStandardInput(inputs: readonly string[]): void {
  if (!inputs.includes(standard)) return;
  throw new ConfigurationError(
    'standard input does not work with --store, because another process could not go on with it: write it to a file first',
    { option: 'source' },
  );
}

/** `30`, or an age by verdict, such as `valid=90,unknown=1`; both together, too. */
const maxAge: OptionType<MaxAgeDays> = {
  shown: '<days>',
  parse: (given, name) => {
    const refuse = (part: string): never => {
      throw new ConfigurationError(
        `--${name} takes a number of days, or one by verdict (${verdicts.join(', ')}), such as valid=90,unknown=1, not ${JSON.stringify(part)}`,
        { option: `--${name}` },
      );
    };
    let rest: number | undefined;
    const named = new Map<Verdict, number>();
    for (const part of given.split(',').map((each) => each.trim())) {
      const [, known, days = ''] = /^(?:(\w+)\s*=\s*)?(\d+(?:\.\d+)?)$/.exec(part) ?? refuse(part);
      const verdict = verdicts.find((each) => each === known);
      if (verdict) named.set(verdict, Number(days));
      else if (known === undefined) rest = Number(days);
      else refuse(part);
    }
    return { ...maxAgesOf(rest), ...Object.fromEntries(named) };
  },
};

export const maxAgeOption = {
  name: 'max-age',
  type: maxAge,
  library: 'maxAgeDays',
  help: 'Longest age of a result in the history, in days (default: 30, and 20 hours for unknown); by verdict: valid=90,unknown=1.',
} as const satisfies OptionDefinition;

export const waitLockOption = {
  name: 'wait-lock',
  type: patience,
  library: 'waitLockMs',
  decides: 'this process',
  help: 'How long to wait for another process on the same state directory, output or history, in seconds (default: 0). If it finishes its run, this one is new and pays again, unless both have --history.',
} as const satisfies OptionDefinition;

export const historyOptions = defineOptions([
  {
    name: 'history',
    type: path('<file>'),
    alsoCalled: ['openHistory'],
    isCommon: true,
    help: 'File with results of earlier runs: an address verified lately is not sent again.',
  },
  {
    ...maxAgeOption,
    rules: [
      needs(['history'], () => '--max-age is for results of a history: name it with --history'),
    ],
  },
  {
    ...waitLockOption,
    rules: exclusionRules('waitLockMs'),
  },
]);

/** Whether there is no history, or none that holds anything yet. */
export async function isHistoryNew(options: ParsedOptions<'history'>): Promise<boolean> {
  const file = options.text('history');
  return file === undefined || ((await stat(file).catch(() => undefined))?.size ?? 0) === 0;
}

/** A dry run leaves no new one behind. */
export async function openHistory(
  options: ParsedOptions<'history' | 'max-age' | 'wait-lock' | 'dry-run'>,
  target: Target,
  signal: AbortSignal,
): Promise<History | undefined> {
  const file = options.text('history');
  if (file === undefined) return undefined;
  if (target.kind === 'local' && !target.isOnPurpose) {
    throw new ConfigurationError(
      'no base URL is given, and verdicts of the local service go into a history only with --local: set SLUICE_BASE_URL and SLUICE_API_KEY, or add --local',
      { option: 'baseUrl', fault: 'missing' },
    );
  }
  if (options.has('dry-run') && (await isHistoryNew(options))) return undefined;
  return History.open({
    path: file,
    // Offline verdicts are not an exchanger's.
    service:
      target.kind === 'service'
        ? target.baseUrl
        : target.engine
          ? 'local, by the network'
          : 'local',
    signal,
    ...options.libraryValues([maxAgeOption, waitLockOption]),
  });
}
