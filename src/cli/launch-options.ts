import { createInterface } from 'node:readline/promises';
import {
  ConfigurationError,
  type Preflight,
  type PreparedType,
  type RunOptions,
} from '../index.js';
import type { OptionDefinition, ParsedOptions } from './command.js';
import type { Person } from './drop-old-run.js';
import { say } from './print.js';

export const launchOptions: readonly OptionDefinition[] = [
  {
    name: 'dry-run',
    help: 'Read and count only: what would be sent and what it would cost; nothing is sent.',
  },
  {
    name: 'preflight',
    help: 'Upload and prepare, which is free, show the price, and ask before the launch.',
  },
  { name: 'yes', help: '--preflight launches without asking.' },
  {
    name: 'detach',
    help: 'Launch everything, then leave with 75; the same command later collects.',
  },
];

/**
 * What stands between the preparation and the launch.
 *
 * @throws ConfigurationError when nobody is there who could be asked
 */
export function preflightOf(
  options: ParsedOptions,
  { input, output }: Person,
  signal: AbortSignal,
): Pick<RunOptions, 'onPrepared'> {
  if (!options.has('preflight')) {
    if (!options.has('yes')) return {};
    throw new ConfigurationError('--yes answers what --preflight asks: give both');
  }
  const isAsked = !options.has('yes');
  if (isAsked && !(input.isTTY && output.isTTY)) {
    throw new ConfigurationError(
      '--preflight asks at the terminal before it launches, and there is none: add --yes to launch without being asked, or count first with --dry-run; nothing was sent',
    );
  }
  return {
    onPrepared: async (preflight) => {
      for (const line of describePreflight(preflight)) say(`sluice: ${line}`, output);
      if (!isAsked) return true;
      const terminal = createInterface({ input, output });
      try {
        const answer = await terminal.question('Launch them? [y/N] ', { signal });
        return /^y(?:es)?$/i.test(answer.trim());
      } finally {
        terminal.close();
      }
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
    `${name}: ${addresses} addresses in ${batches} batches are prepared${seen}`,
    `${name} credits: ${describePrice(addresses, balance)}`,
  ];
}

/** Credits needed against those there are. */
export function describePrice(credits: number, balance: number | null | undefined): string {
  const price = `${credits} needed at most, before refunds`;
  if (balance === undefined || balance === null) return price;
  const missing = credits - balance;
  return `${price}; the account has ${balance}${missing > 0 ? `, ${missing} too few` : ''}`;
}
