import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readSuppressed } from '../../engine/runs/options/read-suppressed.js';
import { optionsOfRun, type RecordedOptions } from '../../engine/runs/reporting/read-status.js';
import {
  ConfigurationError,
  defaultStateDir,
  isSluiceError,
  type RunStatus,
  type SampledList,
} from '../../index.js';
import { comparableNames, showLocation } from '../../lists/location.js';
import { isObject } from '../../platform/check-options.js';
import { describeCredits, startText } from '../../platform/text/shown-numbers.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import { chooseTarget } from '../connect.js';
import type { DatabaseTable } from '../endpoints/database-tables.js';
import { findSource, stateDirectoryOf } from '../endpoints/list-ends.js';
import {
  asWritten,
  databaseFile,
  findInputs,
  isDatabase,
  isTaken,
  locationOf,
  pathOf,
  resolvePath,
  standard,
} from '../endpoints/locations.js';
import { findOtherRuns, inputOf, isSameInput } from '../job/paid-again.js';
import { findStatus } from '../job/questions.js';
import { message } from '../messages/catalogue.js';
import { parameterOptions } from '../options/batch-options.js';
import { type VerifyOption, verifyOptions } from '../options/verify-options.js';
import { agrees, isInteractive, type Person } from '../terminal/ask-person.js';
import type { Reporter } from '../terminal/reporter.js';
import {
  askToStart,
  countryToFillIn,
  type GuideContext,
  leave,
  showCommand,
  showProposal,
  type SuppressedBeside,
  withAdded,
} from './ask-to-start.js';
import {
  type AddedOption,
  askCountry,
  chooseCountry,
  countryOf,
  countryOptions,
} from './choose-country.js';
import { findTable, inPlace } from './find-table.js';
import { columnMessages, findForm, foundMessages, severalMessages } from './find-form.js';
import { listEndings, proposedOutput, proposedTable } from '../endpoints/proposed-names.js';

const splitOption = ['split-cells', true] as const;

export function namesNoColumn({ options }: CommandInput<VerifyOption>): boolean {
  return !options.has('email') && !options.has('phone');
}

/** Whether a command for a person names no country: the list may show one. */
export function lacksCountry(
  { options, positionals }: CommandInput<VerifyOption>,
  person: Person,
): boolean {
  const answering = [...countryOptions, 'email-country', 'json-log', 'store'] as const;
  return (
    isInteractive(person) &&
    !positionals.includes(standard) &&
    !answering.some((name) => options.has(name))
  );
}

/** Whether a database is named without its query or its table: the guide finds them. */
export function lacksTable(input: CommandInput<VerifyOption>): boolean {
  const { options, positionals } = input;
  if (positionals.includes(standard) || options.has('store')) return false;
  return (
    (!options.has('query') && positionals.some((path) => isDatabase(locationOf(path, input)))) ||
    (!options.has('into') && isDatabaseOutput(input))
  );
}

/** Whether rows would appear on a person's terminal without being asked for: then a file is proposed. Pipes stream. */
export function isToTerminal(
  { options, positionals }: CommandInput<VerifyOption>,
  person: Person,
  isOutputTerminal: boolean,
): boolean {
  const others = ['output', 'dry-run', 'json-log', 'store'] as const;
  return (
    isOutputTerminal &&
    isInteractive(person) &&
    !positionals.includes(standard) &&
    !others.some((name) => options.has(name))
  );
}

export async function proposeFile(
  input: CommandInput<VerifyOption>,
  context: GuideContext,
): Promise<number> {
  const { positionals, options } = input;
  const source = await findSource(await findInputs(positionals, input), undefined, input);
  // What is read once cannot be counted first.
  if (source.keep && !options.has('query')) {
    return context.verify([]);
  }
  const proposed = await proposedOutput(input);
  await reportOutput(proposed, input, context.reporter);
  return askToStart(input, context, { added: [['output', proposed]] });
}

/** @param isInPlace whether the command for the table is shown whole. @default false */
async function reportOutput(
  output: string,
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
  {
    table,
    isInPlace = false,
  }: { readonly table?: DatabaseTable; readonly isInPlace?: boolean } = {},
): Promise<void> {
  const exists = await isTaken(resolvePath(input.cwd, output));
  const [source] = input.positionals;
  const from = source === undefined ? undefined : locationOf(source, input);
  // A DuckDB file is not read and written at once.
  const isTable = from !== undefined && isDatabase(from) && from.kind !== 'duckdb' && !isInPlace;
  const database = isTable ? showLocation(source ?? '') : null;
  const { name = null, key = [] } = table ?? {};
  reporter.report([message('proposed_output', { output, exists, database, table: name, key })]);
}

/** Samples a list, proposes columns, country and output, estimates the cost, and asks. The printed command runs. */
export async function showGuide(
  given: CommandInput<VerifyOption>,
  context: GuideContext,
): Promise<number> {
  const { reporter, person } = context;
  const isLog = given.options.has('json-log');
  const inputs = await findInputs(given.positionals, given);
  if (inputs.some(({ path }) => path === standard) && person.input.isTTY) throw nameThem('');
  const { table, added: query, messages: ofTable } = await findTable(inputs, given);
  const input = { ...given, options: withAdded(given.options, query, given.cwd) };
  reporter.report(ofTable);
  const isNamed = !namesNoColumn(input);
  const { source, isReadOnce, seen, form, messages } = await findForm(inputs, input, isNamed);
  const found = isNamed ? { ...seen, contacts: [], leftOut: [] } : seen;
  const formed = form.filter(([name]) => name !== 'no-header');
  const options = withAdded(input.options, formed, input.cwd);
  reporter.report(messages);
  // Cells are shown to the person at the terminal, never in a log.
  const isSplit = reportFound(found, input, reporter, person.output.isTTY && !isLog);
  const suppressed = options.has('suppress') ? [] : await findSuppressed(input, reporter);
  const isAsked = isInteractive(person) && !isLog && !isReadOnce;
  if (isAsked) {
    const output = options.text('output') ?? (await proposedOutput({ ...input, options }));
    const prefixes = prefixesOf(found, options);
    const resumed = await offerToResume(inputOf(source), { output, prefixes }, input, context);
    if (resumed) return context.verify(resumed);
  }
  const byList = chooseCountry(options, seen, input.env);
  const { added: country, why, fallback, isOpen = false } = byList;
  reporter.report([message('found_country', { country: country ?? null, why })]);
  const answered =
    !country && isAsked ? await askCountry(context, input.signal, byList.proposed) : undefined;
  const chosen = country ?? (answered ? [answered] : undefined);
  // The question follows once all rows are counted.
  const ofOthers = isOpen && !isAsked ? (fallback?.country ?? countryToFillIn) : undefined;
  if (ofOthers !== undefined && fallback) reporter.report([message('fallback_country', fallback)]);
  const proposed = options.has('output') ? undefined : await proposedOutput({ ...input, options });
  const toFile: AddedOption[] = [
    ...query,
    ...form,
    ...found.contacts.map(({ type, name }) => [type, name] as const),
    ...prefixesOf(found, options),
    ...(isSplit ? [splitOption] : []),
    ...suppressed.map(({ list }) => ['suppress', list] as const),
    ...(chosen ?? [['country', countryToFillIn] as const]),
    ...(ofOthers === undefined ? [] : [['country', ofOthers] as const]),
    ...(proposed === undefined ? [] : [['output', proposed] as const]),
  ];
  const toTable = inPlace(table, input, toFile);
  if (proposed !== undefined) {
    const isInPlace = toTable !== undefined;
    await reportOutput(proposed, input, reporter, { ...(table && { table }), isInPlace });
  }
  const isToOther = isDatabaseOutput(input) && !toTable && !options.has('into');
  const added: AddedOption[] =
    proposed === undefined && toTable
      ? [...toTable]
      : [
          ...toFile,
          ...(isToOther ? [['into', await proposedTable(input, table?.table)] as const] : []),
        ];
  // What is missing is said at once, below the command.
  const target = await chooseTarget(options, input.env).catch(() => undefined);
  const isToTable = isDatabaseOutput(input) || toTable !== undefined;
  const lacksService = isToTable && target?.kind === 'local' && !target.isOnPurpose;
  const what = `or, with the results in the table${lacksService ? ` (needs ${serviceNeeded})` : ''}`;
  const other = toTable && proposed !== undefined ? { added: toTable, what } : undefined;
  if (answered === null) return leave({ added, other }, input, reporter);
  if (isAsked) return askToStart(input, context, { added, other, fallback, suppressed });
  if (isReadOnce) showCommand(added, input, reporter);
  else {
    const isKnown = chosen !== undefined;
    await showProposal(input, context, { added, other }, { isKnown, lacksService });
  }
  const needed = [
    ...(added.some(([, value]) => value === countryToFillIn)
      ? ['a country for CC such as US']
      : []),
    ...(lacksService && isDatabaseOutput(input) ? [serviceNeeded] : []),
  ];
  const missing = namesNoColumn(input) ? 'email' : query.length > 0 ? '--query' : '--into';
  throw new ConfigurationError(
    `no ${missing === 'email' ? 'column' : missing} is named, and ${isReadOnce ? 'Sluice cannot ask about an input that it can read only once' : 'there is no terminal to ask at'}: run the command above${needed.length > 0 ? `, with ${needed.join(', and with ')}` : ''}; nothing was sent`,
    { option: missing, fault: 'missing' },
  );
}

const serviceNeeded = 'SLUICE_BASE_URL and SLUICE_API_KEY set, or --local for the local service';

function isDatabaseOutput(input: CommandInput<'output'>): boolean {
  const output = input.options.text('output');
  return output !== undefined && isDatabase(locationOf(output, input));
}

/**
 * Reports the columns of a list.
 *
 * @returns whether cells with several addresses are to be split
 * @throws ConfigurationError where no column is named, and none has addresses
 */
function reportFound(
  found: SampledList,
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
  withCells: boolean,
): boolean {
  const { options, positionals } = input;
  const list = positionals.map(showLocation).join(', ');
  reporter.report(foundMessages(list, found, withCells));
  if (found.contacts.length === 0 && namesNoColumn(input)) {
    reporter.report(columnMessages(found, withCells));
    throw nameThem(
      found.rows === 0
        ? `${list} has no rows: check what makes the list, or, for an output without rows, `
        : `no column of ${list} looks like email addresses or phone numbers; `,
    );
  }
  const several = options.has('split-cells') ? [] : severalMessages(found, withCells);
  reporter.report(several);
  // Rows that come from one have the same key.
  return several.length > 0 && !options.has('key');
}

const optOutNames =
  /unsub|opt[-_ ]?(?:ed[-_ ]?)?outs?\b|suppress|do[-_ ]?not[-_ ]?|abgemeldet|desabonn/i;
const mostBeside = 3;

/** Proposes the lists beside the input that can be read; the others are named. */
async function findSuppressed(
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
): Promise<readonly SuppressedBeside[]> {
  const found: SuppressedBeside[] = [];
  const others: string[] = [];
  for (const list of await optOutsBeside(input)) {
    const cells = await suppressedCells(resolvePath(input.cwd, list), input.signal);
    if (cells === undefined) others.push(list);
    else found.push({ list, cells });
  }
  reporter.report([
    ...(found.length > 0 ? [message('proposed_suppress', { lists: found })] : []),
    ...(others.length > 0 ? [message('suppress_beside', { lists: others })] : []),
  ]);
  return found;
}

/** @returns `undefined` for a file that is no list of addresses or domains */
async function suppressedCells(list: string, signal: AbortSignal): Promise<number | undefined> {
  let cells = 0;
  try {
    await readSuppressed([list], {
      signal,
      onProgress: (progress) => {
        if (progress.stage === 'notice') cells += Number(progress.fields['cells'] ?? 0);
      },
    });
    return cells;
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return undefined;
  }
}

/** Files beside the list or its database that are named as lists of those who have opted out. */
async function optOutsBeside({ positionals, ...input }: CommandInput<never>): Promise<string[]> {
  const [list, ...more] = positionals.map((path) => locationOf(path, input));
  if (list === undefined || list.path === standard || more.length > 0) return [];
  const path = pathOf(list) ?? databaseFile(list) ?? join(input.cwd, 'any');
  const names = await readdir(dirname(path)).catch(() => []);
  return names
    .filter((name) => optOutNames.test(name) && listEndings.test(name) && name !== basename(path))
    .slice(0, mostBeside)
    .map((name) => join(dirname(path), name))
    .map((found) => asWritten(input.cwd, found));
}

/** An unfinished run of the list that has paid for some of it. */
interface PaidRun {
  /** The options that it was begun with. */
  readonly added: readonly AddedOption[];
  /** Its output. @default the one that is proposed */
  readonly output?: string;
  /** Why its command cannot be proposed. @default it can */
  readonly refusal?: string;
  readonly question: string;
}

/**
 * Offers to continue the unfinished run of a list that has paid for some of it.
 *
 * @param list the input, by the name that runs know it by
 *
 * @returns the options to continue it with; `undefined` where there is none, or the person declines
 */
async function offerToResume(
  list: string,
  { output, prefixes }: { readonly output: string; readonly prefixes: readonly AddedOption[] },
  input: CommandInput<VerifyOption>,
  { person, reporter }: GuideContext,
): Promise<readonly AddedOption[] | undefined> {
  const stateDir = stateDirectoryOf(locationOf(output, input), input);
  const found = stateDir === undefined ? undefined : await findStatus(stateDir);
  const known = found?.isFinished === false && isSameInput(found, list) ? found : undefined;
  const unfinished =
    (known && (await paidRunOf(known, input))) ?? (await findPaidElsewhere(list, stateDir, input));
  if (!unfinished) return undefined;
  if (unfinished.refusal !== undefined) {
    throw new ConfigurationError(unfinished.refusal, { fault: 'missing' });
  }
  const given = new Set(input.options.given().map(([name]) => name));
  const to = unfinished.output ?? (given.has('output') ? undefined : output);
  const added: readonly AddedOption[] = [
    ...unfinished.added.filter(([name]) => !given.has(name)),
    ...prefixes,
    ...(to === undefined ? [] : [['output', to] as const]),
  ];
  showCommand(added, input, reporter);
  return (await agrees(unfinished.question, person, input.signal, true)) ? added : undefined;
}

/** The same with another output, if this output alone names its state directory. */
async function findPaidElsewhere(
  list: string,
  stateDir: string | undefined,
  input: CommandInput<VerifyOption>,
): Promise<PaidRun | undefined> {
  if (input.options.has('state')) return undefined;
  for (const run of await findOtherRuns({ of: list }, stateDir, input.cwd)) {
    const isBeside = comparableNames(defaultStateDir(run.output)) === comparableNames(run.stateDir);
    const paid = isBeside ? await paidRunOf(run, input) : undefined;
    if (paid && paid.refusal === undefined)
      return { ...paid, output: asWritten(input.cwd, run.output) };
  }
  return undefined;
}

async function paidRunOf(
  status: RunStatus,
  { options, env }: CommandInput<VerifyOption>,
): Promise<PaidRun | undefined> {
  const paid = describeCredits(status.launchedCredits);
  if (paid === undefined) return undefined;
  const target = await chooseTarget(options, env);
  const service = target.kind === 'service' ? target.baseUrl : undefined;
  // What would be refused is not proposed: the count says why.
  const isOther = options.has('local') || (service !== undefined && service !== status.service);
  const { 'max-credits': most, ...begunWith } = (await optionsOfRun(status.stateDir)) ?? {};
  if (isOther || countryOptions.some((name) => isGivenOther(options, name, begunWith[name]))) {
    return undefined;
  }
  const unfinished = `the unfinished run of ${startText(status.startedAt)} has paid ${paid}`;
  const lacksService =
    service === undefined && status.service !== 'local'
      ? `${unfinished} on ${status.service}, and this command names no service: set SLUICE_BASE_URL and SLUICE_API_KEY to resume it, or add --local for the local service; nothing was sent`
      : undefined;
  const lacksSuppressList =
    begunWith['suppress'] === null && !options.has('suppress')
      ? `${unfinished}, and began with --suppress: give the same list again to resume it; nothing was sent`
      : undefined;
  const refusal = lacksService ?? lacksSuppressList;
  const { openCredits, launchedCredits } = status;
  const open = describeCredits(openCredits);
  // One that the next batch does not fit would stop the run again at once.
  const openBatches = Math.max(status.batches - status.done - status.running, 1);
  const isLeft = (['email', 'phone'] as const).some((type) => {
    const next = Math.ceil(openCredits[type] / openBatches);
    return typeof most === 'number' && next > 0 && launchedCredits[type] + next <= most;
  });
  const isUnlimited = open !== undefined && !options.has('max-credits') && !isLeft;
  const usedUp = typeof most === 'number' ? `, is at the end of its --max-credits ${most}` : '';
  const more = isUnlimited
    ? `${usedUp}, and may pay ${open} more: add --max-credits for a limit`
    : '';
  return {
    added: givenAgain(isLeft ? { ...begunWith, 'max-credits': most } : begunWith),
    ...(refusal !== undefined && { refusal }),
    question: `This is the command of the run of ${startText(status.startedAt)}, which is unfinished and has paid ${paid}${more}. Resume it?`,
  };
}

/** Whether a command gives another country than a run was begun with. */
function isGivenOther(
  options: ParsedOptions<(typeof countryOptions)[number]>,
  name: (typeof countryOptions)[number],
  begunWith: unknown,
): boolean {
  if (!options.has(name)) return false;
  const given = options.text(name);
  const country = name === 'country' && given !== undefined ? countryOf(given) : given;
  return country !== begunWith;
}

/** The options that a run was begun with, as a command gives them. */
function givenAgain({ header, settings, ...others }: RecordedOptions): readonly AddedOption[] {
  const given: AddedOption[] = header === false ? [['no-header', true]] : [];
  const sent: RecordedOptions = isObject(settings) ? settings : {};
  for (const option of parameterOptions) {
    const value = sent[option.library];
    if ('type' in option ? value !== undefined : value === false)
      given.push([option.name, 'type' in option ? String(value) : true]);
  }
  if (typeof sent['description'] === 'string') given.push(['description', sent['description']]);
  for (const [name, value] of Object.entries(others)) {
    const option = verifyOptions.find((each) => each.name === name);
    if (!option || name === 'output') continue;
    const isFlag = !('type' in option);
    for (const each of Array.isArray(value) ? value : [value]) {
      if (isFlag && String(each) === 'true') given.push([option.name, true]);
      else if (!isFlag && (typeof each === 'string' || typeof each === 'number'))
        given.push([option.name, String(each)]);
    }
  }
  return given;
}

function nameThem(why: string): ConfigurationError {
  return new ConfigurationError(
    `${why}name the columns to verify: --email <column>, --phone <column>, or both, by name or by position (--email "#3")`,
    { option: 'email', fault: 'missing' },
  );
}

/** Columns that an earlier verification has added need prefixes. */
function prefixesOf(
  { contacts }: SampledList,
  options: ParsedOptions<'prefix'>,
): readonly AddedOption[] {
  if (options.has('prefix')) return [];
  return contacts.flatMap(({ name, prefix }) =>
    prefix === undefined ? [] : [['prefix', `${name}=${prefix}`] as const],
  );
}
