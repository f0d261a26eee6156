import {
  ConfigurationError,
  type Preflight,
  type PreparedType,
  type RunOptions,
} from '../index.js';
import { agrees, isThere, type Person } from './ask-person.js';
import { defineOptions, type ParsedOptions } from './command.js';
import { say } from './print.js';
import type { Reporter } from './reporter.js';
import { counted } from '../words/shown-numbers.js';

export const launchOptions = defineOptions([
  {
    name: 'dry-run',
    isCommon: true,
    help: 'Read and count only: print what would be sent and what it would cost.',
  },
  {
    name: 'preflight',
    help: 'Upload and prepare (free), show the price, and ask before the launch.',
  },
  { name: 'yes', help: 'Answer yes to what --preflight asks, and to columns that look wrong.' },
  {
    name: 'detach',
    help: 'Launch everything, then exit with 75; the same command later collects the results.',
  },
]);

/**
 * What stands between the preparation and the launch.
 *
 * @throws ConfigurationError when nobody is there who could be asked
 */
export function preflightOf(
  options: ParsedOptions<'preflight' | 'yes'>,
  person: Person,
  signal: AbortSignal,
): Pick<RunOptions, 'onPrepared'> {
  if (!options.has('preflight')) return {};
  const isAsked = !options.has('yes');
  if (isAsked && !isThere(person)) {
    throw new ConfigurationError(
      '--preflight asks at the terminal before it launches, and there is none: add --yes to launch without being asked, or count first with --dry-run; nothing was sent',
    );
  }
  return {
    onPrepared: async (preflight) => {
      for (const line of describePreflight(preflight)) say(`sluice: ${line}`, person.output);
      if (!isAsked) return true;
      return agrees('Launch them?', person, signal);
    },
  };
}

function describePreflight({ email, phone, balance }: Preflight): readonly string[] {
  return [
    ...describeType('email', email, balance?.email_credit),
    ...describeType('phone', phone, balance?.phone_credit),
  ];
}

function describeType(
  name: string,
  type: PreparedType | null,
  balance: number | undefined,
): readonly string[] {
  if (!type) return [];
  const { batches, addresses, counts } = type;
  const seen = counts
    ? `; the service counted ${counts.valid} valid, ${counts.wrong} wrong in their format and ${counts.duplicate} duplicates`
    : '';
  return [
    `${name}: ${counted(addresses, 'address')} in ${counted(batches, 'batch')} are prepared${seen}`,
    `${name} credits: ${describePrice(addresses, balance)}`,
  ];
}

/** Of so many cells one that is right would be among them. */
const judgedCells = 10;

/**
 * What is done about columns that hardly look like what they are verified as: it is said, and whoever is
 * at the terminal is asked. Where nobody is there, a column without one cell that is right ends the run.
 */
export function askAboutColumns(
  options: ParsedOptions<'dry-run' | 'yes'>,
  person: Person,
  { reporter, signal }: { readonly reporter: Reporter; readonly signal: AbortSignal },
): NonNullable<RunOptions['onDoubtfulColumns']> {
  return async (columns) => {
    reporter.doubtful(columns);
    if (options.has('yes') || options.has('dry-run')) return true;
    if (isThere(person)) return agrees('Verify them all the same?', person, signal);
    return columns.every(({ filled, malformed }) => malformed < filled || filled < judgedCells);
  };
}

/** Credits needed against those there are. */
export function describePrice(credits: number, balance: number | null | undefined): string {
  const price = `${credits} needed at most, before refunds`;
  if (balance === undefined || balance === null) return price;
  const missing = credits - balance;
  return `${price}; the account has ${balance}${missing > 0 ? `, ${missing} too few` : ''}`;
}
