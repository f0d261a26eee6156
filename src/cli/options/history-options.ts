import {
  Client,
  ConfigurationError,
  History,
  verdicts,
  type MaxAgeDays,
  type Verdict,
} from '../../index.js';
import { maxAgesOf } from '../../engine/history/history-options.js';
import {
  defineOptions,
  type OptionDefinition,
  type OptionType,
  type ParsedOptions,
} from '../command.js';
import type { Target } from '../connect.js';
import { needs, path, patience } from './option-types.js';
import { exclusionRules } from './library-options.js';

/** `30`, or an age by verdict, such as `valid=90,unknown=1`; both together, too. */
const maxAge: OptionType<MaxAgeDays> = {
  shown: '<days>',
  parse: (given, name) => {
    const refuse = (part: string): never => {
      throw new ConfigurationError(
        `--${name} takes a number of days, or one by verdict (${verdicts.join(', ')}), such as valid=90,unknown=1, not ${JSON.stringify(part)}`,
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
  type: patience(),
  library: 'waitLockMs',
  help: 'How long to wait for another process on the same state directory, output or history, in seconds (default: 0).',
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

export async function openHistory(
  options: ParsedOptions<'history' | 'max-age' | 'wait-lock'>,
  target: Target,
  signal: AbortSignal,
): Promise<History | undefined> {
  const file = options.text('history');
  if (file === undefined) return undefined;
  if (target.kind === 'local' && !target.isOnPurpose) {
    throw new ConfigurationError(
      'no base URL is given, and verdicts of the local service go into a history only with --local: set SLUICE_BASE_URL and SLUICE_API_KEY, or add --local',
    );
  }
  return History.open({
    path: file,
    service: await serviceNameOf(target),
    signal,
    ...options.libraryValues([maxAgeOption, waitLockOption]),
  });
}

/** The service's name as runs record it. */
async function serviceNameOf(target: Target): Promise<string> {
  // Offline verdicts are not an exchanger's.
  if (target.kind === 'local') return target.engine ? 'local, by the network' : 'local';
  const { baseUrl, apiKey } = target;
  const client = new Client({ baseUrl, apiKey });
  await client.close();
  return client.baseUrl;
}
