import { asksNetwork, engineOf } from '../options/engine-options.js';
import { isInteractive, terminal, type Person } from '../terminal/ask-person.js';
import {
  ConfigurationError,
  type Sink,
  type ColumnChoice,
  type CountryChoice,
  type RunOptions,
} from '../../index.js';
import {
  agreeToPayAgain,
  findPaidOutput,
  inputOf,
  isAskedAboutPaid,
  isJoined,
  paidElsewhere,
  type PaidOutput,
} from './paid-again.js';
import { createEnd, type JobEnd, type RunParts } from './job-end.js';
import { agreeToDoubts } from './questions.js';
import { refuseUnmeant } from './refuse-unmeant.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import { chooseTarget, type Target } from '../connect.js';
import { isHistoryNew, openHistory } from '../options/store-options.js';
import {
  filesOfOutput,
  hiddenResults,
  keepMessages,
  keepOutput,
  rowsOfOutput,
} from '../endpoints/output.js';
import {
  findListEnds,
  refuseAllColumns,
  stateDirectoryOf,
  type ListEnds,
} from '../endpoints/list-ends.js';
import { findInputs, type Location, pathOf, standard } from '../endpoints/locations.js';
import { refuseSameFiles, reportMoreOpen } from './run-files.js';
import type { Reporter } from '../terminal/reporter.js';
import type { Message } from '../messages/catalogue.js';
import type { RunFacts } from '../messages/end-messages.js';
import { givenOptions } from '../options/library-options.js';
import type { VerifyOption } from '../options/verify-options.js';
import { countryOptions } from '../guide/choose-country.js';
import { batchSettings } from '../options/batch-options.js';

export interface Job {
  readonly shared: RunSettings;
  readonly target: Target;
  readonly input: CommandInput<VerifyOption>;
  readonly person: Person;
  readonly reporter: Reporter;
  readonly rowsBefore: () => Promise<number | undefined>;
  /** @returns the output that it writes again, if that is paid for again */
  readonly findPaid: () => Promise<PaidOutput | undefined>;
  /** @returns what unfinished runs of the list with other outputs have paid */
  readonly findElsewhere: (stateDir: string | undefined) => Promise<readonly Message[]>;
  /** Called when the run begins: from then on this process holds the state directory. */
  readonly begin: () => Promise<void>;
  readonly reportSummary: JobEnd['reportSummary'];
  readonly exitCode: JobEnd['exitCode'];
  readonly sink: Sink;
  readonly history: JobHistory['history'];
}

interface JobHistory {
  readonly history: Awaited<ReturnType<typeof openHistory>>;
  /** Of a shared run, which opens it once it needs it. */
  readonly opensLater?: () => ReturnType<typeof openHistory>;
  readonly wasEmpty: boolean;
}

export async function prepareJob(
  to: Location,
  input: CommandInput<VerifyOption>,
  parts: RunParts,
): Promise<Job> {
  const { options, signal } = input;
  const { run, reporter, reports, isCostShown = false } = parts;
  const person = terminal(input, reporter);
  const from = await findInputs(input.positionals, input);
  await refuseSameFiles(from, to, input, reports);
  const target = withEngine(await chooseTarget(options, input.env), input);
  if (target.kind === 'service') run.service = target.baseUrl;
  await refuseUnmeant(target, to, input, run);
  await reports.removeOld();
  refuseAllColumns(from, to, options);
  const ends = await findListEnds(from, to, input);
  const { sink, maxUnknown } = await keepOutput(ends.sink, to, input);
  reporter.report([
    ...hiddenResults(from, to, options),
    ...(isInteractive(person) && !isCostShown && !options.has('dry-run')
      ? keepMessages(options)
      : []),
  ]);
  run.noMoreOpenThan = await ends.source.permissions?.();
  if (run.noMoreOpenThan) {
    const outputs = filesOfOutput(from, to, options);
    await reportMoreOpen(outputs, run.noMoreOpenThan, input, reporter);
  }
  let isAgreed = false;
  const findPaid = async (): Promise<PaidOutput | undefined> =>
    // Anyone who joins a run pays for nothing again.
    isCostShown || isAgreed || (await isJoined(run.store, options))
      ? undefined
      : findPaidOutput(to, ends.sink, target, options);
  const agree = async (): Promise<void> => {
    const stateDir = run.store ? undefined : stateDirectoryOf(to, input);
    isAgreed = await agreeToPayAgain(findPaid, stateDir, person, signal);
  };
  const { history, opensLater, wasEmpty } = await openJobHistory(agree, run, target, input);
  const { reportSummary, exitCode, onProgress } = await createEnd(to, input, parts, {
    target,
    hasSuspect: maxUnknown !== undefined,
  });
  return {
    shared: {
      ...sharedOptions(input, target, { ...ends, sink: reports.watch(sink) }),
      ...(history && { history }),
      ...(opensLater && { openHistory: opensLater }),
      ...(maxUnknown && {
        maxUnknown: { ...maxUnknown, suspect: reports.watch(maxUnknown.suspect) },
      }),
      onProgress,
      // Doubts that were shown in the plan were agreed to with it: they only count as warnings.
      onDoubtfulColumns: agreeToDoubts(options, isCostShown, { person, reporter, signal }),
    },
    target,
    input,
    person,
    reporter,
    rowsBefore: async () => rowsOfOutput(sink, maxUnknown?.suspect, options),
    async findPaid() {
      const isUnknown = history?.size === 0 || history?.rowsBefore(ends.source) === undefined;
      return wasEmpty || (history && isUnknown) ? findPaid() : undefined;
    },
    async findElsewhere(stateDir) {
      // Two queries of a database have one name, and so have all pipes: they may be different lists.
      if (isCostShown || from.some(({ kind, path }) => kind !== 'file' || path === standard))
        return [];
      return paidElsewhere(inputOf(ends.source), stateDir, pathOf(to), target, input);
    },
    begin: async () => {
      run.isBegun = true;
      await reports.begin();
    },
    reportSummary,
    exitCode,
    sink: ends.sink,
    history,
  };
}

/** @param agree asks about what is paid for again, where the history has nothing */
async function openJobHistory(
  agree: () => Promise<void>,
  { store }: RunFacts,
  target: Target,
  { options, signal }: CommandInput<VerifyOption>,
): Promise<JobHistory> {
  const isDry = options.has('dry-run');
  const isAsked = isAskedAboutPaid(options) && !isDry;
  const wasEmpty = await isHistoryNew(options);
  // A new history is not begun for a run that is not started.
  if (isAsked && wasEmpty) await agree();
  const opens = async () => openHistory(options, target, signal);
  if (store !== undefined && options.has('history') && !isDry) {
    return { history: undefined, opensLater: opens, wasEmpty };
  }
  const history = await opens();
  if (isAsked && !wasEmpty && history?.size === 0) await agree();
  return { history, wasEmpty };
}

/** Adds the network engine to the local service, where asked for: this machine makes the queries. */
function withEngine(target: Target, { options, env }: CommandInput<VerifyOption>): Target {
  return target.kind === 'local' && asksNetwork(options)
    ? { ...target, engine: async () => engineOf(options, env) }
    : target;
}

type RunSettings = Omit<RunOptions, 'client' | 'stateDir'> & ColumnChoice & CountryChoice;

/** The in-process service may be polled often. */
const localPollIntervalMs = 25;

function sharedOptions(
  { options, signal }: CommandInput<VerifyOption>,
  target: Target,
  ends: ListEnds,
): RunSettings {
  refuseWithoutTarget(options);
  return {
    ...ends,
    ...(target.kind === 'local' && { pollIntervalMs: localPollIntervalMs, serviceName: 'local' }),
    ...givenOptions(options),
    settings: batchSettings(options),
    signal,
    // The compiler cannot see which columns and countries exist.
  } as RunSettings;
}

function refuseWithoutTarget(options: ParsedOptions<VerifyOption>): void {
  if (!options.has('email') && !options.has('phone')) {
    throw new ConfigurationError(
      'name the columns to verify: --email <column>, --phone <column>, or both',
      { option: 'email', fault: 'missing' },
    );
  }
  const isOfEmailsAlone = options.has('email-country') && !options.has('phone');
  if (!countryOptions.some((name) => options.has(name)) && !isOfEmailsAlone) {
    throw new ConfigurationError(
      'a target country is needed, as the service verifies each address for one, emails too: --country <CC> for all rows, --country-column <column>, or --country-from <phone column>',
      { code: 'country_missing', option: 'country' },
    );
  }
}
