import { basename } from 'node:path';
import { ConfigurationError, parseCountry } from '../../index.js';
import { shownCell } from '../../platform/text/printable.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import type { CommandInput, Surroundings } from '../command.js';
import { isTaken, placeOf } from '../endpoints/list-places.js';
import { resolvePath, standard } from '../endpoints/resolve-path.js';
import { exitCodes } from '../exit-code.js';
import { costLines, countryLines, type EstimatedJob } from '../job/dry-run.js';
import type { Said } from '../messages/run-lines.js';
import type { VerifyOption } from '../options/verify-options.js';
import { ask, type Person } from '../terminal/ask-person.js';
import { say } from '../terminal/print.js';
import type { Reporter } from '../terminal/reporter.js';
import { type AddedOption, wholeCommand } from './whole-command.js';

export interface WayIn {
  readonly reporter: Reporter;
  readonly person: Person;
  /** Counts what the command with these options would send and cost. */
  readonly estimate: (added: readonly AddedOption[]) => Promise<EstimatedJob>;
  /** Runs the command with these options. @returns its exit code */
  readonly verify: (added: readonly AddedOption[]) => Promise<number>;
}

/**
 * Says what a command costs, prints it, and asks whether it shall start, for a long list with a trial.
 *
 * @param added options that were found, to which those of a person's answers are added
 * @param proposed the output among them, if it was not given
 * @returns the exit code
 */
export async function askToStart(
  input: CommandInput<VerifyOption>,
  { reporter, person, estimate, verify }: WayIn,
  { added, proposed }: { readonly added: AddedOption[]; readonly proposed: string | undefined },
): Promise<number> {
  const { options, cwd, stderr, signal } = input;
  const command = (...more: readonly AddedOption[]): readonly AddedOption[] => [...added, ...more];
  const show = (all: readonly AddedOption[], what?: string): void =>
    showCommand(all, input, reporter, what);
  if (options.has('dry-run')) {
    show(command());
    return verify(command());
  }
  let counted = await estimate(command());
  for (const line of countryLines(counted.estimate)) say(`sluice: ${line}`, stderr);
  if ((counted.estimate.countries?.missing ?? 0) > 0 && !options.has('country')) {
    const fallback = await askFallback(person, signal);
    if (fallback !== undefined) {
      added.push(['country', fallback]);
      counted = await estimate(command());
    }
  }
  const { rows, service } = counted.estimate;
  const isLong = rows > manyRows && service !== 'local' && !options.has('limit');
  const beside = isLong
    ? trialBeside(proposed ?? options.text('output') ?? standard, input)
    : undefined;
  const isHistoryAdded = beside !== undefined && !options.has('history');
  if (isHistoryAdded) {
    added.push(['history', beside.history]);
    if (await isTaken(resolvePath(cwd, beside.history))) counted = await estimate(command());
  }
  for (const line of [...costLines(counted.estimate), ...counted.more])
    say(`sluice: ${line}`, stderr);
  if (isHistoryAdded) reporter.tell([{ ...historyLine(beside), isUrgent: true }]);
  show(command());
  const trial = beside && command(['output', beside.output], ['limit', String(trialRows)]);
  if (trial) show(trial, `a trial of the first ${trialRows} rows`);
  const { isPaidAgain, isDoubtful } = counted;
  const isYesNeeded = isPaidAgain || isDoubtful;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask(question(trial && rows, { isPaidAgain, isDoubtful }), person, signal);
    if (answer === undefined || /^no?$/i.test(answer)) break;
    if (trial && /^(?:y(?:es)?)?$/i.test(answer)) {
      const exitCode = await verify(trial);
      if (exitCode === exitCodes.done) show(command(), 'all rows');
      return exitCode;
    }
    const isAll = trial ? /^a(?:ll)?$/i : isYesNeeded ? /^y(?:es)?$/i : /^(?:y(?:es)?)?$/i;
    if (isAll.test(answer)) return verify(command());
    if (answer === '') break;
    say(`sluice: ${shownCell(answer)} is no answer to this question: y or n`, stderr);
  }
  say('sluice: stopped; nothing was sent: run the command above, changed as you like', stderr);
  return exitCodes.usage;
}

function question(
  rowsOfLongList: number | undefined,
  { isPaidAgain, isDoubtful }: Pick<EstimatedJob, 'isPaidAgain' | 'isDoubtful'>,
): string {
  if (rowsOfLongList === undefined) {
    if (isDoubtful && !isPaidAgain) return 'Start all the same? [y/N]';
    return isPaidAgain ? 'Start, and pay for them again? [y/N]' : 'Start? [Y/n]';
  }
  return `Start with a trial of the first ${trialRows} rows? Enter: the trial; a: all ${grouped(rowsOfLongList)} rows; n: nothing [Y/a/n]`;
}

/** On a line of its own, to be copied. */
export function showCommand(
  added: readonly AddedOption[],
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
  what = 'the whole command',
): void {
  const { line, hidden } = wholeCommand(input, added);
  const { stderr } = input;
  reporter.close();
  say(`sluice: ${what}:`, stderr);
  say(line, stderr);
  for (const shown of hidden) {
    say(`sluice: write ${shown} out again: it may hold a password, and is not printed`, stderr);
  }
}

/** So often a question is asked whose answer means nothing. */
const mostTries = 3;

/** @throws ConfigurationError when no country is answered */
export async function askCountry(person: Person, signal: AbortSignal): Promise<AddedOption> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask('Country of these addresses, such as DE or Germany:', person, signal);
    if (answer === undefined) break;
    const country = countryIn(answer, person);
    if (country !== undefined) return ['country', country];
  }
  throw new ConfigurationError('a target country is needed: --country <CC>; nothing was sent', {
    code: 'country_missing',
  });
}

/** @returns `undefined` when rows without a country are not to be sent */
async function askFallback(person: Person, signal: AbortSignal): Promise<string | undefined> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const question = 'Country for these rows, such as DE or Germany [Enter: do not send them]:';
    const answer = await ask(question, person, signal);
    if (answer === undefined || answer === '') break;
    const country = countryIn(answer, person);
    if (country !== undefined) return country;
  }
  return undefined;
}

/** @returns `undefined` when the answer is none, and says why */
function countryIn(answer: string, { output }: Person): string | undefined {
  if (answer === '') return undefined;
  try {
    return parseCountry(answer);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    say(`sluice: ${error.message}`, output);
    return undefined;
  }
}

/** A list of more rows is tried with its first rows, where that is paid for. */
const manyRows = 1000;
const trialRows = 100;

/** What a trial writes beside the output of all rows. */
interface Trial {
  readonly output: string;
  /** Keeps its results, so that the run of all rows does not pay for them again. */
  readonly history: string;
}

/**
 * Names the files of a trial after the output of all rows.
 *
 * @returns `undefined` where there is no other output beside it
 * @throws ConfigurationError
 */
function trialBeside(output: string, from: Pick<Surroundings, 'env' | 'cwd'>): Trial | undefined {
  const { path, database, remote } = placeOf(output, from);
  const isNamed = remote === undefined || remote.url === output;
  if (database || path === standard || !isNamed) return undefined;
  const name = basename(path);
  const ending = /\.[a-z]+(?:\.gz)?$/i.exec(name)?.[0] ?? '';
  const stem = path.slice(0, path.length - ending.length);
  return {
    output: `${stem}.trial${ending}`,
    history: `${remote ? basename(stem) : stem}.history`,
  };
}

function historyLine({ history }: Trial): Said {
  return {
    event: 'proposed_history',
    fields: { history },
    line: `history: ${history} keeps the trial's results, so that the run of all rows does not pay for them again; it holds keyed hashes and results, no address`,
  };
}
