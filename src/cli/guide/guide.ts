import { ConfigurationError, type SampledList } from '../../index.js';
import { showLocation } from '../../lists/location.js';
import { emailsWithoutCountry } from '../../report/sentences/list-sentences.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import { chooseTarget } from '../connect.js';
import type { DatabaseTable } from '../endpoints/database-tables.js';
import { findSource } from '../endpoints/list-ends.js';
import {
  findInputs,
  isDatabase,
  isTaken,
  locationOf,
  resolvePath,
  standard,
} from '../endpoints/locations.js';
import { proposedOutput, proposedTable } from '../endpoints/proposed-names.js';
import { inputOf } from '../job/paid-again.js';
import { message } from '../messages/catalogue.js';
import type { VerifyOption } from '../options/verify-options.js';
import { isInteractive } from '../terminal/ask-person.js';
import type { Reporter } from '../terminal/reporter.js';
import { askToStart, type GuideContext, leave } from './ask-to-start.js';
import { type AddedOption, askCountry, chooseCountry } from './choose-country.js';
import { chooseHistory, type EstimateWith } from './choose-history.js';
import { columnMessages, findForm, foundMessages, severalMessages } from './find-form.js';
import {
  findSuppressed,
  keepUsed,
  reportSuppressed,
  type SuppressedBeside,
} from './find-suppressed.js';
import { findTable, inPlace, leavesRowsOut } from './find-table.js';
import { offerToResume } from './offer-to-resume.js';
import { namesNoColumn, outputDatabase } from './what-is-missing.js';
import {
  countryToFillIn,
  type Proposal,
  showCommand,
  showCommands,
  withAdded,
} from './whole-command.js';

export async function proposeFile(
  input: CommandInput<VerifyOption>,
  context: GuideContext,
): Promise<number> {
  const { positionals, options } = input;
  await refuseHalfService(input, context);
  const source = await findSource(await findInputs(positionals, input), undefined, input);
  // What is read once cannot be counted first.
  if (source.keep && !options.has('query')) {
    return context.verify([]);
  }
  const proposed = await proposedOutput(input);
  await reportOutput(proposed, input, context.reporter, undefined, false);
  return askToStart(input, context, { added: [['output', proposed]] });
}

/** A key without a URL is refused before a question. */
async function refuseHalfService(
  { options, env }: CommandInput<VerifyOption>,
  { person }: GuideContext,
): Promise<void> {
  if (isInteractive(person)) await chooseTarget(options, env);
}

/**
 * @param table where the rows come from, as far as it is known
 * @param isInPlace whether the command for it is shown whole
 */
async function reportOutput(
  output: string,
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
  table: DatabaseTable | undefined,
  isInPlace: boolean,
): Promise<void> {
  const exists = await isTaken(resolvePath(input.cwd, output));
  const [source] = input.positionals;
  const from = source === undefined ? undefined : locationOf(source, input);
  // A DuckDB file is not read and written at once.
  const isTable = from !== undefined && isDatabase(from) && from.kind !== 'duckdb';
  const isWritable = isTable && !isInPlace && !leavesRowsOut(input.options);
  const database = isWritable ? showLocation(source ?? '') : null;
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
  const ofDatabase = await findTable(inputs, given);
  const { table, isOneOfSeveral, added: query } = ofDatabase;
  const input = { ...given, options: withAdded(given.options, query, given.cwd) };
  reporter.report(ofDatabase.messages);
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
    const resumed = await offerToResume(inputOf(source), output, input, context);
    if (resumed) return context.verify(resumed);
  }
  await refuseHalfService(input, context);
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
    ...(isSplit ? [['split-cells', true] as const] : []),
    ...suppressed.map(({ list }) => ['suppress', list] as const),
    ...(chosen ?? [['country', countryToFillIn] as const]),
    ...(ofOthers === undefined ? [] : [['country', ofOthers] as const]),
    ...(proposed === undefined ? [] : [['output', proposed] as const]),
  ];
  const toTable = inPlace(table, input, toFile);
  if (proposed !== undefined) await reportOutput(proposed, input, reporter, table, !!toTable);
  const database = outputDatabase(input);
  const newTableIn = toTable || options.has('into') ? undefined : database;
  const added: AddedOption[] =
    proposed === undefined && toTable
      ? [...toTable]
      : [
          ...toFile,
          ...(newTableIn
            ? [['into', await proposedTable(input, newTableIn, table?.table)] as const]
            : []),
        ];
  // What is missing is said at once, below the command.
  const target = await chooseTarget(options, input.env).catch(() => undefined);
  const isToTable = (database ?? toTable) !== undefined;
  const lacksService = isToTable && target?.kind === 'local' && !target.isOnPurpose;
  const what = `or, with the results in the table${lacksService ? ` (needs ${serviceNeeded})` : ''}`;
  const other = toTable && proposed !== undefined ? { added: toTable, what } : undefined;
  if (answered === null) return leave({ added, other, suppressed }, input, reporter);
  if (isAsked) {
    const chosenTable = isOneOfSeveral === true ? table?.name : undefined;
    const started = { added, other, fallback, table: chosenTable, suppressed };
    return askToStart(input, context, started);
  }
  if (isReadOnce) {
    reportSuppressed(suppressed, [], reporter);
    showCommand(added, input, reporter);
  } else {
    const isKnown = chosen !== undefined;
    await showProposal(input, context, { added, other, suppressed }, { isKnown, lacksService });
  }
  const needed = [
    ...(added.some(isToFillIn) ? [`a country for ${countryToFillIn} such as US`] : []),
    ...(lacksService && database ? [serviceNeeded] : []),
  ];
  const missing = namesNoColumn(input) ? 'email' : query.length > 0 ? '--query' : '--into';
  throw new ConfigurationError(
    `no ${missing === 'email' ? 'column' : missing} is named, and ${isReadOnce ? 'Sluice cannot ask about an input that it can read only once' : 'there is no terminal to ask at'}: run the command above${needed.length > 0 ? `, with ${needed.join(', and with ')}` : ''}; nothing was sent`,
    { option: missing, fault: 'missing' },
  );
}

function isToFillIn([name, value]: AddedOption): boolean {
  return name === 'country' && value === countryToFillIn;
}

const serviceNeeded = 'SLUICE_BASE_URL and SLUICE_API_KEY set, or --local for the local service';

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

/**
 * Shows the command to a script, which nobody answers, with the doubts that a person reads above the question.
 *
 * @param country whether it is known; else doubts that depend on it are not. A service that is not named yet is
 *   no obstacle to counting.
 */
async function showProposal(
  input: CommandInput<VerifyOption>,
  { reporter, estimate }: GuideContext,
  given: Proposal & { readonly suppressed: readonly SuppressedBeside[] },
  country: { readonly isKnown: boolean; readonly lacksService: boolean },
): Promise<void> {
  const phone = given.added.find(([name]) => name === 'phone')?.[1];
  // Emails are counted the same whatever their country is.
  const assumed =
    phone === undefined ? (['country', 'US'] as const) : (['country-from', phone] as const);
  const assumptions: readonly AddedOption[] = [
    ...(country.isKnown ? [] : [assumed, ['email-country', 'US'] as const]),
    ...(country.lacksService ? [['local', true] as const] : []),
  ];
  const counting = (added: readonly AddedOption[]): readonly AddedOption[] => [
    ...added.filter((each) => !isToFillIn(each)),
    ...assumptions,
  ];
  const estimateAll: EstimateWith = async (added, how) => estimate(counting(added), how);
  const first = await estimateAll(given.added, { isOffline: true }).catch((error: unknown) => {
    showCommand(given.added, input, reporter);
    throw error;
  });
  const proposal = await keepUsed(given, first, country.isKnown, input, {
    reporter,
    estimate: estimateAll,
  });
  const { added } = proposal;
  const ofRun = { added: counting(added), isCountryKnown: country.isKnown };
  const history = await chooseHistory(first, ofRun, input, estimate);
  const { counted } = history;
  const { countries, email } = counted.estimate;
  const emails = emailsWithoutCountry(email?.not_submitted);
  if (country.isKnown) {
    const isAsked = added.some(isToFillIn);
    if (countries)
      reporter.report([message('countries', { countries, emails, is_asked: isAsked })]);
    reporter.doubtful(counted.doubtful);
  }
  // Cells are shown to a person, never in a log.
  const more = counted.more.filter(({ event }) => event !== 'changed_cells');
  reporter.report([...more, ...counted.before, ...history.messages]);
  showCommands(proposal, history.added, input, reporter);
}
