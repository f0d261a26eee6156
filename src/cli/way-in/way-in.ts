import { stat } from 'node:fs/promises';
import {
  ConfigurationError,
  findColumns,
  parseCountry,
  showPlace,
  type Estimate,
} from '../../index.js';
import { grouped } from '../../words/shown-numbers.js';
import { ask, isThere, type Person } from '../ask-person.js';
import type { CommandInput } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { findSource } from '../list-ends.js';
import { findInputs } from '../list-places.js';
import { say } from '../print.js';
import type { Reporter } from '../reporter.js';
import { standard } from '../standard.js';
import type { VerifyOption } from '../verify-options.js';
import { chooseCountry, type ChosenCountry } from './choose-country.js';
import { columnLines, countryLine, foundLines, outputLine } from './found-lines.js';
import { proposedOutput } from './proposed-output.js';
import { countryToFillIn, printCommand, wholeCommand, type AddedOption } from './whole-command.js';

/** A list of more rows is tried with its first rows, where that is paid for. */
const manyRows = 1000;
const trialRows = 100;
/** So often a question is asked whose answer means nothing. */
const mostTries = 3;
/** A pipe may be slow to give more. */
const rowsOfPipe = 100;

export interface WayIn {
  readonly reporter: Reporter;
  readonly person: Person;
  /** The arguments without a configuration's: what is printed names the configuration itself. */
  readonly given: CommandInput<VerifyOption>;
  /** Counts what a command would send and cost, and says it. */
  readonly estimate: (args: readonly string[]) => Promise<Estimate>;
  /** Runs a command. @returns its exit code */
  readonly verify: (args: readonly string[]) => Promise<number>;
}

/** Whether a command names no column to verify: then the list is looked at first. */
export function namesNoColumn({ options }: CommandInput<VerifyOption>): boolean {
  return !options.has('email') && !options.has('phone');
}

/**
 * Looks at a list, says which columns would be verified, for which country, where the rows would go and what
 * that would cost, and asks. What runs then is the command that is printed.
 *
 * @returns the exit code
 * @throws ConfigurationError when nothing is found, when nobody is there who could be asked, and when
 *   whoever is asked says no
 */
export async function showWayIn(
  input: CommandInput<VerifyOption>,
  { reporter, person, given, estimate, verify }: WayIn,
): Promise<number> {
  const { options, environment, signal } = input;
  const isLog = options.has('json-log');
  // Cells are shown to whoever has the list, and never to a log.
  const withCells = person.output.isTTY && !isLog;
  const inputs = await findInputs(input.positionals, environment);
  if (inputs.some(({ path }) => path === standard) && person.input.isTTY) throw nameThem('');
  const source = await findSource(inputs, undefined, options);
  const isReadOnce = source.keep !== undefined && !inputs.some(({ database }) => database);
  const found = await findColumns(source, { signal, ...(isReadOnce && { rows: rowsOfPipe }) });
  const list = input.positionals.map(showPlace).join(', ');
  const urgent = (said: Parameters<Reporter['tell']>[0]): void =>
    reporter.tell(said.map((each) => ({ ...each, isUrgent: true })));
  urgent(foundLines(list, found, withCells));
  if (found.contacts.length === 0) {
    urgent(columnLines(found, withCells));
    throw nameThem(`no column of ${list} looks like email addresses or phone numbers; `);
  }
  const isAsked = isThere(person) && !isLog && !isReadOnce;
  let country: ChosenCountry | undefined = chooseCountry(options, found, environment);
  urgent([countryLine(country)]);
  if (!country && isAsked) country = await askCountry(person, signal);
  const proposed = options.has('output')
    ? undefined
    : await proposedOutput(input.positionals, options, environment);
  if (proposed !== undefined) urgent([outputLine(proposed, await isTaken(proposed))]);
  const added: readonly AddedOption[] = [
    ...found.contacts.map(({ type, name }) => [type, name] as const),
    ...(country?.added ?? [['country', countryToFillIn] as const]),
    ...(proposed === undefined ? [] : [['output', proposed] as const]),
  ];
  const command = (...more: readonly AddedOption[]): readonly string[] =>
    wholeCommand(given.positionals, given.options, [...added, ...more]);
  const show = (args: readonly string[], what = 'the whole command'): void =>
    showCommand(what, args, reporter, isLog);
  if (!isAsked) {
    show(command());
    throw new ConfigurationError(
      `no column is named, and nobody can be asked${isReadOnce ? ' about an input that is read once' : ''}: run the command above${country ? '' : `, with a country for ${countryToFillIn} such as US`}; nothing was sent`,
    );
  }
  if (options.has('dry-run')) {
    show(command());
    return verify(command());
  }
  const { rows, service } = await estimate(command());
  const isLong = rows > manyRows && service !== 'local' && !options.has('limit');
  const trial = command(['limit', String(trialRows)]);
  show(command());
  if (isLong) show(trial, `a trial of the first ${trialRows} rows`);
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask(question(isLong ? rows : undefined), person, signal);
    if (answer === undefined || /^no?$/i.test(answer)) break;
    const isYes = /^(?:y(?:es)?)?$/i.test(answer);
    if (isYes) return verify(isLong ? trial : command());
    if (isLong && /^a(?:ll)?$/i.test(answer)) return verify(command());
  }
  say('sluice: stopped; nothing was sent: run the command above, changed as you like');
  return exitCodes.usage;
}

function question(rowsOfLongList: number | undefined): string {
  return rowsOfLongList === undefined
    ? 'Start? [Y/n]'
    : `Start with a trial of the first ${trialRows} rows? Enter: the trial; a: all ${grouped(rowsOfLongList)} rows; n: nothing [Y/a/n]`;
}

function nameThem(why: string): ConfigurationError {
  return new ConfigurationError(
    `${why}name the columns to verify: --email <column>, --phone <column>, or both, by name or by position (--email "#3")`,
  );
}

/** On a line of its own, to be copied. */
function showCommand(
  what: string,
  args: readonly string[],
  reporter: Reporter,
  isLog: boolean,
): void {
  const { line, hidden } = printCommand(args);
  if (isLog) {
    reporter.tell([{ event: 'command', fields: { command: line }, line, isUrgent: true }]);
    return;
  }
  reporter.close();
  say(`sluice: ${what}:`);
  say(line);
  for (const shown of hidden) {
    say(`sluice: write ${shown} out again: it may hold a password, and is not printed`);
  }
}

/** @throws ConfigurationError when no country is answered */
async function askCountry(person: Person, signal: AbortSignal): Promise<ChosenCountry> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask('Country of these addresses, such as DE or Germany:', person, signal);
    if (answer === undefined) break;
    if (answer === '') continue;
    try {
      const country = parseCountry(answer);
      return { added: [['country', country]], why: country };
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      say(`sluice: ${error.message}`, person.output);
    }
  }
  throw new ConfigurationError('a target country is needed: --country <CC>; nothing was sent', {
    code: 'country_missing',
  });
}

async function isTaken(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
