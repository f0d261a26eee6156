import { optionsOfRun, type RecordedOptions } from '../../engine/runs/reporting/read-status.js';
import { ConfigurationError, defaultStateDir, type RunStatus } from '../../index.js';
import { comparableNames } from '../../lists/location.js';
import { isObject } from '../../platform/check-options.js';
import { describeCredits, startText } from '../../platform/text/shown-numbers.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import { chooseTarget } from '../connect.js';
import { stateDirectoryOf } from '../endpoints/list-ends.js';
import { asWritten, locationOf } from '../endpoints/locations.js';
import { findOtherRuns, isSameInput } from '../job/paid-again.js';
import { findStatus } from '../job/questions.js';
import { parameterOptions } from '../options/batch-options.js';
import { type VerifyOption, verifyOptions } from '../options/verify-options.js';
import { agrees } from '../terminal/ask-person.js';
import type { GuideContext } from './ask-to-start.js';
import { type AddedOption, countryOf, countryOptions } from './choose-country.js';
import { showCommand } from './whole-command.js';

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
export async function offerToResume(
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
  for (const run of await findOtherRuns(stateDir, input.cwd)) {
    if (!isSameInput(run, list)) continue;
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
  const { openCredits, budgetCredits } = status;
  const open = describeCredits(openCredits);
  // One that the next batch does not fit would stop the run again at once.
  const openBatches = Math.max(status.batches - status.done - status.running, 1);
  const isLeft = (['email', 'phone'] as const).some((type) => {
    const next = Math.ceil(openCredits[type] / openBatches);
    return typeof most === 'number' && next > 0 && budgetCredits[type] + next <= most;
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
