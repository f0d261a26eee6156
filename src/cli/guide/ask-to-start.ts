import { emailsWithoutCountry } from '../../report/sentences/list-sentences.js';
import { shellQuote, shownCell } from '../../platform/text/printable.js';
import { counted, describeCredits, grouped } from '../../platform/text/shown-numbers.js';
import type { CommandInput } from '../command.js';
import { stateDirectoryOf } from '../endpoints/list-ends.js';
import { asWritten, locationOf } from '../endpoints/locations.js';
import { findOtherRuns, isSameInput } from '../job/paid-again.js';
import { exitCodes } from '../process/exit-code.js';
import { type EstimatedJob, totalOf } from '../job/estimate-job.js';
import { message } from '../messages/catalogue.js';
import type { VerifyOption } from '../options/verify-options.js';
import { agrees, ask, mostTries, type Person } from '../terminal/ask-person.js';
import type { Reporter } from '../terminal/reporter.js';
import { type AddedOption, type ChosenCountry, countryAnswered } from './choose-country.js';
import { chooseHistory, type EstimateWith } from './choose-history.js';
import {
  keepUsed,
  reportSuppressed,
  type SuppressedBeside,
  suppressedIn,
} from './find-suppressed.js';
import {
  type Proposal,
  showCommand,
  showCommands,
  whatIsTaken,
  withAdded,
} from './whole-command.js';

export interface GuideContext {
  readonly reporter: Reporter;
  readonly person: Person;
  readonly estimate: EstimateWith;
  /** @param without options of the command that are left out. @default none */
  readonly verify: (
    added: readonly AddedOption[],
    without?: readonly VerifyOption[],
  ) => Promise<number>;
}

interface Started extends Proposal {
  /** The country of rows without one, as far as it is known. */
  readonly fallback?: ChosenCountry['fallback'];
  /** The table that was chosen of several with addresses. */
  readonly table?: string | undefined;
  /** The suppress lists that were found. */
  readonly suppressed?: readonly SuppressedBeside[] | undefined;
}

export async function askToStart(
  input: CommandInput<VerifyOption>,
  context: GuideContext,
  { fallback, table, suppressed: found = [], ...given }: Started,
): Promise<number> {
  const { options } = input;
  const { reporter, estimate, verify } = context;
  if (options.has('dry-run')) {
    reportSuppressed(found, [], reporter);
    showCommands(given, [], input, reporter);
    return verify(given.added);
  }
  // The person's answers come to what was detected.
  const added = [...given.added];
  const ofCountry = await countWithCountry(added, fallback, input, context);
  if (!ofCountry) return leave({ ...given, suppressed: found }, input, reporter);
  let counted = ofCountry;
  counted = await countByCallingCodes(counted, added, input, context);
  const answered = added.slice(given.added.length);
  const withAll = { ...given, added, suppressed: found };
  const { added: kept, other, suppressed } = await keepUsed(withAll, counted, true, input, context);
  added.splice(0, added.length, ...kept);
  const proposal = { added: added.slice(0, added.length - answered.length), other };
  counted = await countWithOtherRun(counted, added, input, context);
  const chosen = await chooseHistory(counted, { added, isCountryKnown: true }, input, estimate);
  ({ counted } = chosen);
  if (counted.estimate.unfinished?.action === 'stop') {
    reporter.report(counted.before);
    return exitCodes.usage;
  }
  added.push(...chosen.added);
  // A history that is proposed keeps what a trial verifies.
  const hints = counted.more.filter(({ event }) => event !== 'trial' || chosen.added.length === 0);
  reporter.report([...hints.slice(0, mostHints), ...chosen.messages]);
  showCommands(proposal, added.slice(proposal.added.length), input, reporter);
  const { rows } = counted.estimate;
  // What a history knows of the list is tried.
  const isNew = !counted.estimate.unfinished && totalOf(counted, 'from_history') === 0;
  const hasTrial = isNew && rows > manyRows && !options.has('limit');
  const trial =
    hasTrial && chosen.trial !== undefined
      ? await trialOf(added, chosen.trial, estimate)
      : undefined;
  // The price and the doubts stand right above the question; these decide the answer to Enter.
  reporter.report([message('cost', counted.estimate), ...counted.before]);
  reporter.doubtful(counted.doubtful);
  if (counted.launchesNothing) return notStarted(reporter);
  const taken = withAdded(options, added, input.cwd);
  const lists = suppressed.map(({ list }) => list);
  const what = whatIsTaken(taken, table, lists, suppressedIn(counted));
  return startAsAnswered({ added, trial, counted, what }, input, context);
}

/** Ends with the command, for a person who does not know an answer now. */
export function leave(
  proposal: Started,
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
): number {
  reportSuppressed(proposal.suppressed ?? [], [], reporter);
  showCommands(proposal, [], input, reporter);
  return notStarted(reporter);
}

function notStarted(reporter: Reporter): number {
  reporter.report([message('not_started', { is_declined: true })]);
  return exitCodes.usage;
}

/** Counts what is sent; where rows have no country, asks for one and counts again. @returns `undefined` to leave */
async function countWithCountry(
  added: AddedOption[],
  fallback: Started['fallback'],
  { options, signal }: CommandInput<VerifyOption>,
  context: GuideContext,
): Promise<EstimatedJob | undefined> {
  const { reporter, estimate } = context;
  const counted = await estimate(added);
  const { countries, email } = counted.estimate;
  const emails = emailsWithoutCountry(email?.not_submitted);
  const isAsked = (countries?.missing ?? 0) > 0 && !options.has('country');
  if (countries) reporter.report([message('countries', { countries, emails, is_asked: isAsked })]);
  if (!isAsked) return counted;
  if (fallback) reporter.report([message('fallback_country', fallback)]);
  const question =
    'Country for these rows, such as US or Germany [Enter: do not send them, n: stop]:';
  const country =
    fallback?.country ?? (await countryAnswered(question, context, signal, { means: undefined }));
  if (country === null) return undefined;
  if (country === undefined) return counted;
  added.push(['country', country]);
  return estimate(added);
}

/**
 * Where numbers have calling codes of other countries, offers to go by these and counts again: the results of a
 * trial are of no use under other countries.
 */
async function countByCallingCodes(
  counted: EstimatedJob,
  added: AddedOption[],
  { options, signal }: CommandInput<VerifyOption>,
  { reporter, person, estimate }: GuideContext,
): Promise<EstimatedJob> {
  const foreign = counted.doubtful.find((column) => column.foreign);
  const ofRows = ['country-from', 'country-column'] as const;
  const isByRow = ofRows.some(
    (option) => options.has(option) || added.some(([name]) => name === option),
  );
  if (!foreign || isByRow) return counted;
  reporter.doubtful([foreign]);
  const question = `Take the country of each row from its number, where that has a calling code (--country-from ${shellQuote(foreign.name)})?`;
  if (!(await agrees(question, person, signal, true))) return counted;
  added.push(['country-from', foreign.name]);
  return estimate(added);
}

interface Trial {
  readonly added: readonly AddedOption[];
  readonly output: string;
  /** Its own cost, which is that of the answer to Enter. */
  readonly credits: number;
}

/** A trial is written into a file, also that of a table, which has no use for these. */
const ofTable: readonly VerifyOption[] = ['into', 'key'];

async function trialOf(
  all: readonly AddedOption[],
  output: string,
  estimate: GuideContext['estimate'],
): Promise<Trial> {
  const kept = all.filter(([name]) => !ofTable.includes(name));
  const added = [...kept, ['output', output], ['limit', String(trialRows)]] as const;
  return {
    added,
    output,
    credits: totalOf(await estimate(added, { without: ofTable }), 'credits'),
  };
}

async function startAsAnswered(
  {
    added,
    trial,
    counted,
    what,
  }: {
    readonly added: readonly AddedOption[];
    readonly trial: Trial | undefined;
    readonly counted: EstimatedJob;
    readonly what: string;
  },
  input: CommandInput<VerifyOption>,
  { reporter, person, verify }: GuideContext,
): Promise<number> {
  const { signal } = input;
  const yes = isYesNeededFor(counted) ? /^y(?:es)?$/i : /^(?:y(?:es)?)?$/i;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask(question(trial, counted, what), person, signal);
    if (answer === undefined || /^no?$/i.test(answer)) break;
    if (trial && yes.test(answer)) {
      const exitCode = await verify(trial.added, ofTable);
      if (exitCode === exitCodes.done) showCommand(added, input, reporter, 'all rows');
      return exitCode;
    }
    if ((trial ? /^a(?:ll)?$/i : yes).test(answer)) return verify(added);
    if (answer === '') break;
    const choice = trial ? 'y, a or n' : 'y or n';
    const refused = `${shownCell(answer)} is not an answer: type ${choice}`;
    reporter.report([message('answer_refused', { message: refused })]);
  }
  return notStarted(reporter);
}

/** Whether Enter is not enough: for what is doubtful, in vain, paid again, or more than the account has. */
function isYesNeededFor({ isPaidAgain, doubtful, estimate }: EstimatedJob): boolean {
  const isShort = (['email', 'phone'] as const).some(
    (type) => (estimate[type]?.credits ?? 0) > (estimate.balance?.[type] ?? Infinity),
  );
  return isPaidAgain || doubtful.length > 0 || isShort || isMostlyInVain(estimate);
}

/** Whether of a column most cells are no plain address: they would get no result. */
function isMostlyInVain({ rows, columns }: EstimatedJob['estimate']): boolean {
  return columns.some(({ empty, forms = {} }) => {
    const cells = Object.values(forms).flatMap((ofReason) => Object.values(ofReason));
    return 2 * cells.reduce((sum, each) => sum + each, 0) > rows - empty;
  });
}

function question(trial: Trial | undefined, job: EstimatedJob, what: string): string {
  const isYesNeeded = isYesNeededFor(job);
  if (trial) {
    const choice = isYesNeeded ? '[y/a/N]' : '[Y/a/n]';
    const { output, credits } = trial;
    return `Start${what}? y: a trial of ${trialRows} rows (${counted(credits, 'credit')}, to ${output}), a: all ${grouped(job.estimate.rows)} (${counted(totalOf(job, 'credits'), 'credit')}), n: nothing ${choice}`;
  }
  if (!isYesNeeded) return `Start${what}? [Y/n]`;
  return job.isPaidAgain
    ? `Start, and pay again${what}? [y/N]`
    : `Start all the same${what}? [y/N]`;
}

/** Longer lists are tried with their first rows, where verification is paid. */
const manyRows = 1000;
const trialRows = 100;
/** Before the question; all follow at the end, by their number, and --dry-run has them. */
const mostHints = 4;

/** The list is read once for each unfinished run. */
const mostRuns = 3;

/**
 * Where an unfinished run of another list has paid for addresses of this one, as that of the day before under
 * another name, offers to use its results: a run in its state directory does.
 *
 * @returns what such a run would send, with the option in `added`; else what was counted
 */
async function countWithOtherRun(
  counted: EstimatedJob,
  added: AddedOption[],
  input: CommandInput<VerifyOption>,
  { person, estimate }: { readonly person: Person; readonly estimate: EstimateWith },
): Promise<EstimatedJob> {
  const { options, cwd, signal } = input;
  const { service, unfinished, balance } = counted.estimate;
  const output = added.findLast(([name]) => name === 'output')?.[1] ?? options.text('output');
  const isNew = !unfinished && !options.has('state') && !options.has('fresh');
  if (
    !isNew ||
    service === 'local' ||
    totalOf(counted, 'credits') === 0 ||
    typeof output !== 'string'
  ) {
    return counted;
  }
  const own = stateDirectoryOf(locationOf(output, input), input);
  const others = (await findOtherRuns(own, cwd)).filter(
    (each) => each.service === service && !isSameInput(each, counted.estimate.input),
  );
  for (const run of others.slice(0, mostRuns)) {
    const option = ['state', asWritten(cwd, run.stateDir)] as const;
    const tried = await estimate([...added, option], { isOffline: true });
    const used = tried.estimate.unfinished?.used_addresses ?? 0;
    if (used === 0) continue;
    const question = `An unfinished run of ${asWritten(cwd, run.input)} has paid ${describeCredits(run.launchedCredits) ?? ''}, for ${grouped(used)} of these addresses among others. Use its results, in place of finishing it (--state)?`;
    if (!(await agrees(question, person, signal, true))) return counted;
    added.push(option);
    return { ...tried, estimate: { ...tried.estimate, balance } };
  }
  return counted;
}
