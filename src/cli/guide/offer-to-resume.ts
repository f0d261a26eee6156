import { runEntryOf } from '../../engine/runs/reporting/read-status.js';
import { ConfigurationError, defaultStateDir, type RunStatus } from '../../index.js';
import { comparableNames } from '../../lists/location.js';
import { describeCredits, startText } from '../../platform/text/shown-numbers.js';
import type { CommandInput, MessageLog, ParsedOptions } from '../command.js';
import { chooseTarget, type Target } from '../connect.js';
import { stateDirectoryOf } from '../endpoints/list-ends.js';
import { asWritten, locationOf, resolvePath } from '../endpoints/locations.js';
import { elsewhereMessage, findOtherRuns, isSameInput } from '../job/paid-again.js';
import { findStatus } from '../job/questions.js';
import type { Message } from '../messages/catalogue.js';
import { loadEnvFile } from '../options/config-file.js';
import type { VerifyOption } from '../options/verify-options.js';
import { agrees } from '../terminal/ask-person.js';
import type { GuideContext } from './ask-to-start.js';
import { type AddedOption, countryOf, countryOptions } from './choose-country.js';
import { showCommand } from './whole-command.js';

/** An unfinished run of the list that has paid for some of it. */
interface PaidRun {
  /** The options that it was begun with, as they were given. */
  readonly added: readonly AddedOption[];
  /** The run, where it has another output than is proposed. */
  readonly elsewhere?: RunStatus;
  /** Why its command cannot be proposed. @default it can */
  readonly refusal?: string;
  readonly question: string;
  /** Whether it may pay more than the run's own limit. */
  readonly isLimitLifted: boolean;
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
  output: string,
  input: CommandInput<VerifyOption>,
  { person, reporter }: GuideContext,
): Promise<readonly AddedOption[] | undefined> {
  if (input.options.has('fresh')) return undefined;
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
  const { elsewhere } = unfinished;
  const itsOutput = elsewhere && asWritten(input.cwd, elsewhere.output);
  const to = itsOutput ?? (given.has('output') ? undefined : output);
  const added: readonly AddedOption[] = [
    ...unfinished.added.filter(([name]) => !given.has(name)),
    ...(to === undefined ? [] : [['output', to] as const]),
  ];
  showCommand(added, input, reporter);
  const { question, isLimitLifted } = unfinished;
  if (await agrees(question, person, input.signal, !isLimitLifted)) {
    await loadEnvFile(
      withService(added, input),
      input.env,
      logTo((messages) => reporter.report(messages)),
    );
    return added;
  }
  // Of a file the plan says it, which knows more.
  const isFile = input.positionals.every((each) => locationOf(each, input).kind === 'file');
  if (elsewhere && !isFile) reporter.report([elsewhereMessage(elsewhere, input.cwd)]);
  return undefined;
}

const serviceOptions: readonly string[] = ['base-url', 'api-key-file', 'env-file'];

/** The options of a command with those that name the service of a run. */
function withService(
  added: PaidRun['added'],
  { options, cwd }: CommandInput<VerifyOption>,
): CommandInput<VerifyOption>['options'] {
  const isNew = ([name]: AddedOption): boolean =>
    serviceOptions.includes(name) && !options.has(name);
  const values = added
    .filter(isNew)
    .map(
      ([name, value]) =>
        [name, [name === 'base-url' ? value : resolvePath(cwd, String(value))]] as const,
    );
  return options.with(new Map(values));
}

function logTo(report: (messages: readonly Message[]) => void): MessageLog {
  return { isJson: false, log: (each) => report([each]), useJson: () => undefined };
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
    if (paid && paid.refusal === undefined) return { ...paid, elsewhere: run };
  }
  return undefined;
}

async function paidRunOf(
  status: RunStatus,
  input: CommandInput<VerifyOption>,
): Promise<PaidRun | undefined> {
  const { options, cwd } = input;
  const paid = describeCredits(status.launchedCredits);
  if (paid === undefined) return undefined;
  const { decides = {}, command, maxCredits: most } = (await runEntryOf(status.stateDir)) ?? {};
  const target = await targetOf(command, input);
  const service = target.kind === 'service' ? target.baseUrl : undefined;
  // What would be refused is not proposed: the count says why.
  const isOther = options.has('local') || (service !== undefined && service !== status.service);
  if (isOther || countryOptions.some((name) => isGivenOther(options, name, decides[name]))) {
    return undefined;
  }
  const unfinished = `the unfinished run of ${startText(status.startedAt)} has paid ${paid}`;
  const lacksService =
    service === undefined && status.service !== 'local'
      ? `${unfinished} on ${status.service}, and this command names no service: set SLUICE_BASE_URL and SLUICE_API_KEY to resume it, or add --local for the local service; nothing was sent`
      : undefined;
  const [hidden] =
    command?.find(([name, value]) => value === null && !options.has(name as VerifyOption)) ?? [];
  const lacksOption = hidden
    ? `${unfinished}, and began with --${hidden}: give the same again to resume it; nothing was sent`
    : undefined;
  const lacksCommand = command
    ? undefined
    : `${unfinished}, and was begun by a program: resume it there, or add --fresh to begin again and pay for everything; nothing was sent`;
  const refusal = lacksService ?? lacksOption ?? lacksCommand;
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
    added: (command ?? []).flatMap(([name, value]) =>
      value === null || (name === 'max-credits' && !isLeft)
        ? []
        : [[name as VerifyOption, value === true ? true : asWritten(cwd, value)] as const],
    ),
    isLimitLifted: typeof most === 'number' && isUnlimited,
    ...(refusal !== undefined && { refusal }),
    question: `This is the command of the run of ${startText(status.startedAt)}, which is unfinished and has paid ${paid}${more}. Resume it?`,
  };
}

/** The service of a command, or the one that a run's own command names. */
async function targetOf(
  command: NonNullable<Awaited<ReturnType<typeof runEntryOf>>>['command'],
  input: CommandInput<VerifyOption>,
): Promise<Target> {
  const { options } = input;
  const noted = (command ?? []).flatMap(([name, value]): readonly AddedOption[] =>
    value === null ? [] : [[name as VerifyOption, value]],
  );
  const all = options.has('local') ? options : withService(noted, input);
  const env = { ...input.env };
  await loadEnvFile(
    all,
    env,
    logTo(() => undefined),
  );
  return chooseTarget(all, env);
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
