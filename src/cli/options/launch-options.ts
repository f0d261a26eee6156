import { ConfigurationError, type RunOptions } from '../../index.js';
import { agrees, isInteractive, type Person } from '../terminal/ask-person.js';
import { defineOptions, type ParsedOptions } from '../command.js';
import { needsState } from './option-types.js';
import { message } from '../messages/message.js';
import { carriedMessage } from '../messages/progress-messages.js';
import type { Reporter } from '../terminal/reporter.js';
import { counted } from '../../platform/text/shown-numbers.js';

export const launchOptions = defineOptions([
  {
    name: 'dry-run',
    isCommon: true,
    help: 'Read and count only: print what would be sent and what it would cost.',
  },
  {
    name: 'preflight',
    rules: [needsState],
    help: 'Upload and prepare (free), show the price, and ask before the launch.',
  },
  {
    name: 'yes',
    alsoCalled: ['onDoubtfulColumns'],
    help: 'Answer yes to every question: the launch of --preflight, columns or changes that look wrong, paid results to be dropped.',
  },
]);

/** @throws ConfigurationError when nobody is there who could be asked */
export function preflightOf(
  options: ParsedOptions<'preflight' | 'yes'>,
  person: Person,
  {
    reporter,
    signal,
  }: { readonly reporter: Pick<Reporter, 'report'>; readonly signal: AbortSignal },
): Pick<RunOptions, 'onPrepared'> {
  if (!options.has('preflight')) return {};
  const isAsked = !options.has('yes');
  if (isAsked && !isInteractive(person)) {
    throw new ConfigurationError(
      '--preflight needs a terminal, where it asks before the launch: add --yes to launch without being asked, or count first with --dry-run; nothing was sent',
    );
  }
  return {
    onPrepared: async (preflight) => {
      reporter.report([message('prepared', preflight)]);
      if (!isAsked) return true;
      return agrees('Launch them?', person, signal);
    },
  };
}

/** Of so many cells one that is right would be among them. */
const judgedCells = 10;

/**
 * What is done about columns that hardly look like what they are verified as: it is said, and the person
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
    if (isInteractive(person)) return agrees('Verify them all the same?', person, signal);
    return columns.every(({ filled, malformed }) => malformed < filled || filled < judgedCells);
  };
}

/** Whether a run is carried over of which not all that was paid is of use. Where nobody is there, it is. */
export function askAboutCarrying(
  options: ParsedOptions<'yes'>,
  person: Person,
  { reporter, signal }: { readonly reporter: Reporter; readonly signal: AbortSignal },
): Pick<RunOptions, 'onCarry'> {
  if (options.has('yes') || !isInteractive(person)) return {};
  return {
    onCarry: async (carried) => {
      reporter.report([carriedMessage(carried)]);
      reporter.close();
      const unused = carried.paidAddresses - carried.usedAddresses;
      const question = `${counted(unused, 'paid result')} of that run would be lost. Go on?`;
      return agrees(question, person, signal);
    },
  };
}
