import {
  Client,
  ConfigurationError,
  History,
  maxAgesOf,
  verdicts,
  type MaxAgeDays,
  type Verdict,
} from '../../index.js';
import { defineOptions, type ParsedOptions, type OptionDefinition } from '../command.js';
import type { Target } from '../service/connect.js';
import { amountOption } from './option-values.js';
import { whereGiven } from '../job/omit-undefined.js';

export const maxAgeOption = {
  name: 'max-age',
  value: '<days>',
  help: 'Longest age of a result in the history, in days (default: 30, and 20 hours for unknown); by verdict: valid=90,unknown=1.',
} as const satisfies OptionDefinition;

export const waitLockOption = {
  name: 'wait-lock',
  value: '<s>',
  help: 'How long to wait for another process on the same state directory, output or history, in seconds (default: 0).',
} as const satisfies OptionDefinition;

export const historyOptions = defineOptions([
  {
    name: 'history',
    value: '<file>',
    isCommon: true,
    help: 'File with results of earlier runs: an address verified lately is not sent again.',
  },
  maxAgeOption,
  waitLockOption,
]);

/**
 * Opens the history that `--history` names.
 *
 * @returns `undefined` when it names none
 * @throws ConfigurationError, StateError, OutputError
 */
export async function openHistory(
  options: ParsedOptions<'history' | 'max-age' | 'wait-lock'>,
  target: Target,
  signal: AbortSignal,
): Promise<History | undefined> {
  const path = options.text('history');
  const maxAgeDays = maxAgeOf(options);
  if (path === undefined) {
    if (maxAgeDays === undefined) return undefined;
    throw new ConfigurationError('--max-age is for results of a history: name it with --history');
  }
  if (target.kind === 'local' && !target.isOnPurpose) {
    throw new ConfigurationError(
      'no base URL is given, and verdicts of the local service go into a history only on purpose: set SLUICE_BASE_URL and SLUICE_API_KEY, or say --local',
    );
  }
  return History.open({
    path,
    service: await serviceNameOf(target),
    signal,
    ...whereGiven({ maxAgeDays, waitLockMs: waitLockOf(options) }),
  });
}

/** @throws ConfigurationError */
export function waitLockOf(options: ParsedOptions<'wait-lock'>): number | undefined {
  const seconds = amountOption(options, 'wait-lock');
  return seconds === undefined ? undefined : seconds * 1000;
}

/** `30`, or an age by verdict, such as `valid=90,unknown=1`; both together, too. @throws ConfigurationError */
export function maxAgeOf(options: ParsedOptions<'max-age'>): MaxAgeDays | undefined {
  const text = options.text('max-age');
  if (text === undefined) return undefined;
  const refuse = (part: string): never => {
    throw new ConfigurationError(
      `--max-age takes a number of days, or one by verdict (${verdicts.join(', ')}), such as valid=90,unknown=1, not ${JSON.stringify(part)}`,
    );
  };
  let rest: number | undefined;
  const named = new Map<Verdict, number>();
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, name, days = ''] = /^(?:(\w+)\s*=\s*)?(\d+(?:\.\d+)?)$/.exec(part) ?? refuse(part);
    const verdict = verdicts.find((known) => known === name);
    if (verdict) named.set(verdict, Number(days));
    else if (name === undefined) rest = Number(days);
    else refuse(part);
  }
  return { ...maxAgesOf(rest), ...Object.fromEntries(named) };
}

/** As runs call it. */
async function serviceNameOf(target: Target): Promise<string> {
  // What was judged offline is no answer of an exchanger.
  if (target.kind === 'local') return target.engine ? 'local, by the network' : 'local';
  const { baseUrl, apiKey } = target;
  const client = new Client({ baseUrl, apiKey });
  await client.close();
  return client.baseUrl;
}
