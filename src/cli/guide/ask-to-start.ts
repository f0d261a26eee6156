import { basename } from 'node:path';
import { ConfigurationError, parseCountry } from '../../index.js';
import { showLocation } from '../../lists/location.js';
import { shellQuote, shownCell } from '../../platform/text/printable.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import {
  type CommandInput,
  type ParsedOptions,
  programName,
  type Environment,
} from '../command.js';
import {
  isDatabase,
  isTaken,
  listAt,
  locationOf,
  placed,
  resolvePath,
  standard,
} from '../endpoints/locations.js';
import { exitCodes } from '../process/exit-code.js';
import type { EstimatedJob } from '../job/run-job.js';
import { message } from '../messages/message.js';
import { verifyOptions, type VerifyOption } from '../options/verify-options.js';
import { ask, type Person } from '../terminal/ask-person.js';
import type { Reporter } from '../terminal/reporter.js';
import type { AddedOption, ChosenCountry } from './choose-country.js';

export interface GuideContext {
  readonly reporter: Reporter;
  readonly person: Person;
  readonly estimate: (added: readonly AddedOption[]) => Promise<EstimatedJob>;
  readonly verify: (added: readonly AddedOption[]) => Promise<number>;
}

/**
 * @param added detected options, to which the person's answers are added
 * @param proposed the output among them, if it was not given
 */
export async function askToStart(
  input: CommandInput<VerifyOption>,
  context: GuideContext,
  {
    added,
    proposed,
    fallback,
  }: {
    readonly added: AddedOption[];
    readonly proposed: string | undefined;
    /** The country of rows without one, as far as it is known. */
    readonly fallback?: ChosenCountry['fallback'];
  },
): Promise<number> {
  const { options, cwd, signal } = input;
  const { reporter, person, estimate, verify } = context;
  const command = (...more: readonly AddedOption[]): readonly AddedOption[] => [...added, ...more];
  const show = (all: readonly AddedOption[], what?: string): void =>
    showCommand(all, input, reporter, what);
  if (options.has('dry-run')) {
    show(command());
    return verify(command());
  }
  let counted = await estimate(command());
  const { countries } = counted.estimate;
  const isAsked = (countries?.missing ?? 0) > 0 && !options.has('country');
  if (countries) reporter.report([message('countries', { countries, is_asked: isAsked })]);
  if (isAsked) {
    if (fallback) reporter.report([message('fallback_country', fallback)]);
    const question = 'Country for these rows, such as US or Germany [Enter: do not send them]:';
    const country = fallback?.country ?? (await countryAnswered(question, context, signal, true));
    if (country !== undefined) {
      added.push(['country', country]);
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
  reporter.report([message('cost', counted.estimate), ...counted.more]);
  if (isHistoryAdded) reporter.report([message('proposed_history', { history: beside.history })]);
  show(command());
  const trial =
    beside && !isTried(counted)
      ? command(['output', beside.output], ['limit', String(trialRows)])
      : undefined;
  if (trial) show(trial, `a trial of the first ${trialRows} rows`);
  // Doubts stand right above the question; they decide the answer to Enter.
  reporter.doubtful(counted.doubtful);
  const isYesNeeded = isYesNeededFor(counted);
  const yes = isYesNeeded ? /^y(?:es)?$/i : /^(?:y(?:es)?)?$/i;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask(question(trial && rows, counted), person, signal).catch(
      (error: unknown) => {
        if (signal.aborted) reporter.report([message('not_started', {})]);
        throw error;
      },
    );
    if (answer === undefined || /^no?$/i.test(answer)) break;
    if (trial && yes.test(answer)) {
      const exitCode = await verify(trial);
      if (exitCode === exitCodes.done) show(command(), 'all rows');
      return exitCode;
    }
    if ((trial ? /^a(?:ll)?$/i : yes).test(answer)) return verify(command());
    if (answer === '') break;
    const choice = trial ? 'y, a or n' : 'y or n';
    const refused = `${shownCell(answer)} is not an answer: type ${choice}`;
    reporter.report([message('answer_refused', { message: refused })]);
  }
  reporter.report([message('not_started', {})]);
  return exitCodes.usage;
}

/** Whether the history has results of the list: a trial would show nothing new. */
function isTried({ estimate: { email, phone } }: EstimatedJob): boolean {
  return [email, phone].some((each) => (each?.from_history ?? 0) > 0);
}

/** Whether Enter is not enough: for what is doubtful, paid again, or more than the account has. */
function isYesNeededFor({ isPaidAgain, doubtful, estimate }: EstimatedJob): boolean {
  const isShort = (['email', 'phone'] as const).some(
    (type) => (estimate[type]?.credits ?? 0) > (estimate.balance?.[type] ?? Infinity),
  );
  return isPaidAgain || doubtful.length > 0 || isShort;
}

function question(rowsOfLongList: number | undefined, counted: EstimatedJob): string {
  const isYesNeeded = isYesNeededFor(counted);
  if (rowsOfLongList !== undefined) {
    const choice = isYesNeeded ? '[y/a/N]' : '[Y/a/n]';
    return `Start? y: a trial of ${trialRows} rows, a: all ${grouped(rowsOfLongList)}, n: nothing ${choice}`;
  }
  if (!isYesNeeded) return 'Start? [Y/n]';
  return counted.isPaidAgain ? 'Start, and pay for them again? [y/N]' : 'Start all the same? [y/N]';
}

export function showCommand(
  added: readonly AddedOption[],
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
  what = 'the whole command',
): void {
  const { line: command, hidden } = wholeCommand(input, added);
  reporter.close();
  reporter.report([
    message('command', { what, command }),
    ...hidden.map((place) => message('hidden_password', { place })),
  ]);
}

/** How often a question is asked again after an invalid answer. */
const mostTries = 3;

export async function askCountry(context: GuideContext, signal: AbortSignal): Promise<AddedOption> {
  const question = 'Country of these addresses, such as US or Germany:';
  const country = await countryAnswered(question, context, signal);
  if (country !== undefined) return ['country', country];
  throw new ConfigurationError(
    'a target country is needed: run the command again with --country <CC>, such as --country US; nothing was sent',
    { code: 'country_missing' },
  );
}

async function countryAnswered(
  question: string,
  { person, reporter }: GuideContext,
  signal: AbortSignal,
  mayBeEmpty = false,
): Promise<string | undefined> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask(question, person, signal);
    if (answer === undefined || (mayBeEmpty && answer === '')) break;
    const country = countryIn(answer, reporter);
    if (country !== undefined) return country;
  }
  return undefined;
}

/** @returns `undefined` for an invalid answer, after reporting why */
function countryIn(answer: string, reporter: Reporter): string | undefined {
  try {
    return parseCountry(answer);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const why =
      answer === '' ? 'the service needs a country: give its code or name' : error.message;
    reporter.report([message('answer_refused', { message: why })]);
    return undefined;
  }
}

/** Longer lists are tried with their first rows, where verification is paid. */
const manyRows = 1000;
const trialRows = 100;

interface Trial {
  readonly output: string;
  /** Keeps the trial's results, so that the full run does not pay for them again. */
  readonly history: string;
}

/** @returns `undefined` where the output has no place for another file beside it */
function trialBeside(output: string, from: Environment): Trial | undefined {
  const location = locationOf(output, from);
  const { kind, path } = location;
  const isNamed = kind === 'file' || listAt(location) === output;
  if (isDatabase(location) || path === standard || !isNamed) return undefined;
  const name = basename(path);
  const ending = /\.[a-z]+(?:\.gz)?$/i.exec(name)?.[0] ?? '';
  const stem = path.slice(0, path.length - ending.length);
  return {
    output: `${stem}.trial${ending}`,
    history: `${kind === 'file' ? stem : basename(stem)}.history`,
  };
}

/** The options with the detected ones added; those replace options of the same name. */
export function withAdded<Name extends string>(
  options: ParsedOptions<Name>,
  added: readonly AddedOption[],
  cwd: string,
): ParsedOptions<Name> {
  const values = new Map<string, (string | true)[]>();
  for (const [name, value] of added) {
    const definition = verifyOptions.find((known) => known.name === name);
    const given = definition ? placed(value, definition, cwd) : value;
    const before = name === 'output' ? [] : (values.get(name) ?? []);
    values.set(name, [...before, given]);
  }
  return options.with(values);
}

/** A place in a command for what a person has to fill in. */
export const countryToFillIn = '<CC>';

/**
 * The given command with the detected options, as a line for a shell; the last output counts. Passwords and
 * signatures are named, not printed.
 */
function wholeCommand(
  input: CommandInput<never>,
  added: readonly AddedOption[],
): { readonly line: string; readonly hidden: readonly string[] } {
  const hidden: string[] = [];
  const words = argumentsOf(input, added).map((argument) => {
    if (argument === countryToFillIn) return argument;
    if (!mayHoldSecret(argument)) return shellQuote(argument);
    hidden.push(showLocation(argument));
    return shellQuote(showLocation(argument));
  });
  return { line: [programName(input), 'verify', ...words].join(' '), hidden };
}

function argumentsOf(
  { positionals, given }: CommandInput<never>,
  added: readonly AddedOption[],
): readonly string[] {
  const ofCommand = given
    .given()
    .flatMap(([name, values]) => values.map((value) => [name, value] as const));
  const all = [...ofCommand, ...added];
  const output = all.findLast(([name]) => name === 'output');
  return [
    ...positionals.map(asPath),
    ...all
      .filter((each) => each[0] !== 'output' || each === output)
      .flatMap(([name, value]) => {
        if (value === true) return [`--${name}`];
        // A leading dash would make it an option.
        return value.startsWith('-') && value !== standard
          ? [`--${name}=${value}`]
          : [name === 'output' ? '-o' : `--${name}`, value];
      }),
  ];
}

function asPath(positional: string): string {
  return positional.startsWith('-') && positional !== standard ? `./${positional}` : positional;
}

function mayHoldSecret(argument: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/.*[@?]/is.test(argument);
}
