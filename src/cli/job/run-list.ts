import {
  type ColumnChoice,
  ConfigurationError,
  type CountryChoice,
  run,
  type RunOptions,
  RunReports,
  type SharedStore,
  streamRun,
  type Summary,
} from '../../index.js';
import { type CommandInput, omitUndefined, type ParsedOptions, programName } from '../command.js';
import { connect, type Connection, type Target } from '../connect.js';
import type { ListEnds } from '../endpoints/list-ends.js';
import { countryOptions } from '../guide/choose-country.js';
import { type Location, pathOf, resolvePath, standard } from '../endpoints/locations.js';
import { trialMessages } from '../messages/end-messages.js';
import { message } from '../messages/message.js';
import { batchSettings } from '../options/batch-options.js';
import { asksNetwork } from '../options/engine-options.js';
import { waitLockOption } from '../options/history-options.js';
import { askAboutCarrying, preflightOf } from '../options/launch-options.js';
import { givenOptions, givenOptionsOfKeptRuns } from '../options/library-options.js';
import { checkRules } from '../options/option-types.js';
import { type VerifyOption, verifyOptions } from '../options/verify-options.js';
import type { Person } from '../terminal/ask-person.js';
import { print } from '../terminal/print.js';
import type { Reporter } from '../terminal/reporter.js';
import { agreeToPayAgain, dropOldRun, type PaidOutput, withPaidAgain } from './confirm-discard.js';

export interface Job {
  readonly shared: RunSettings;
  readonly target: Target;
  readonly input: CommandInput<VerifyOption>;
  readonly person: Person;
  readonly reporter: Reporter;
  readonly rowsBefore: () => Promise<number | undefined>;
  /** @returns the output that it writes again, if what was paid for it is paid again */
  readonly findPaid: () => Promise<PaidOutput | undefined>;
  /** Called when the run begins: from then on its state directory is this process's own. */
  readonly begin: () => Promise<void>;
  readonly reportSummary: (summary: Summary) => Promise<void>;
}

/** A signal that also fires when the work fails beside the run. */
function failingSignal(given: AbortSignal | undefined): {
  readonly signal: AbortSignal;
  readonly onFailure: (error: Error) => void;
} {
  const failure = new AbortController();
  const signal = AbortSignal.any([failure.signal, ...(given ? [given] : [])]);
  return { signal, onFailure: (error) => failure.abort(error) };
}

export async function stream(
  { shared, target, input: { options }, reporter, begin }: Job,
  /** A pipe or a device; null for standard output. */
  output: string | null,
): Promise<Summary> {
  checkRules(options, verifyOptions, { 'kept in a state directory': false });
  reporter.target(target);
  reporter.report([message('streaming', { output })]);
  const { limit } = shared;
  const trial = { rows: limit ?? 0, limit, service: target.kind };
  reporter.report(trialMessages(trial, options.has('history')));
  await begin();
  // There is no earlier run that these could differ from.
  const { decides: _decides, ...streamed } = shared;
  const { signal, onFailure } = failingSignal(shared.signal);
  const connection = await connect(target, options, undefined, {
    onOutage: reporter.outage,
    onFailure,
  });
  try {
    return await streamRun({ ...streamed, signal, client: connection.client });
  } finally {
    await connection.close();
  }
}

/** Verifies a list, with all that is needed to go on in a state directory. */
export async function runDurably(
  {
    shared,
    target,
    input: { options, lastAct },
    person,
    reporter,
    findPaid,
    rowsBefore,
    begin,
    reportSummary,
  }: Job,
  stateDir: string,
): Promise<Summary> {
  const { signal, onFailure } = failingSignal(shared.signal);
  const launch = preflightOf(options, person, { reporter, signal });
  reporter.target(target);
  const isAsked = !(['yes', 'preflight', 'retry-failed'] as const).some((name) =>
    options.has(name),
  );
  if (isAsked) await agreeToPayAgain(findPaid, stateDir, person, signal);
  if (options.has('fresh')) {
    await dropOldRun(stateDir, { target, options, person, reporter, signal });
  }
  let connection: Connection | undefined;
  let paid: PaidOutput | undefined;
  try {
    return await run({
      ...shared,
      signal,
      onProgress: withPaidAgain(
        shared.onProgress,
        () => paid,
        (text) => reporter.report([text]),
      ),
      // The local service's data are in the state directory: it starts when this process holds it.
      client: async (servicePath) => {
        await begin();
        // The process that held it until now may have written the output.
        paid = await findPaid();
        connection = await connect(target, options, servicePath, {
          onOutage: reporter.outage,
          onFailure,
        });
        return connection.client;
      },
      stateDir,
      ...givenOptionsOfKeptRuns(options),
      ...options.libraryValues([waitLockOption]),
      ...launch,
      ...askAboutCarrying(options, person, { reporter, signal }),
      rowsBefore,
      onSummary: reportSummary,
      beforeRemoval: async () => connection?.close(),
      lastAct,
    });
  } finally {
    await connection?.close();
  }
}

export async function runShared(
  { shared, target, input, person, reporter, rowsBefore, begin, reportSummary }: Job,
  {
    store,
    isHeldBack,
    workers,
  }: {
    readonly store: SharedStore;
    readonly isHeldBack: boolean;
    /** Started beside this process once the run is begun, and ended with it. @default none */
    readonly workers?: { start(): void; stop(): Promise<void> };
  },
): Promise<void> {
  if (target.kind === 'local') {
    throw new ConfigurationError(
      `--store needs a service that all processes can reach: set SLUICE_BASE_URL and SLUICE_API_KEY (${programName(input)} serve starts a local one)`,
    );
  }
  if (!isHeldBack) {
    throw new ConfigurationError(
      'with --store the output is a file, a folder of parts, a table or an s3:// URL, which appears whole: name one with -o',
    );
  }
  const { options, signal } = input;
  const launch = preflightOf(options, person, { reporter, signal });
  reporter.target(target);
  let connection: Connection | undefined;
  try {
    await run({
      ...shared,
      // The reports of a run that is over stay.
      client: async () => {
        await begin();
        connection = await connect(target, options, undefined, { onOutage: reporter.outage });
        return connection.client;
      },
      onProgress: (progress) => {
        shared.onProgress?.(progress);
        if (progress.stage === 'read') workers?.start();
      },
      store,
      ...omitUndefined({ stateDir: options.text('state') }),
      ...launch,
      ...givenOptionsOfKeptRuns(options),
      rowsBefore,
      onSummary: reportSummary,
    });
  } finally {
    await workers?.stop();
    await connection?.close();
  }
}

type RunSettings = Omit<RunOptions, 'client' | 'stateDir'> & ColumnChoice & CountryChoice;

/** Asking the service in one's own process costs nobody anything. */
const localPollIntervalMs = 25;

export function sharedOptions(
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
    // Which columns and countries there are, no compiler can see.
  } as RunSettings;
}

function refuseWithoutTarget(options: ParsedOptions<VerifyOption>): void {
  if (!options.has('email') && !options.has('phone')) {
    throw new ConfigurationError(
      'name the columns to verify: --email <column>, --phone <column>, or both',
    );
  }
  const isOfEmailsAlone = options.has('email-country') && !options.has('phone');
  if (!countryOptions.some((name) => options.has(name)) && !isOfEmailsAlone) {
    throw new ConfigurationError(
      'a target country is needed: --country <CC> for all rows, --country-column <column>, or --country-from <phone column>',
      { code: 'country_missing' },
    );
  }
}

/** @throws ConfigurationError, OutputError before anything is read */
export async function openReports(
  { options, positionals, cwd, stdout }: CommandInput<VerifyOption>,
  to: Location,
): Promise<RunReports> {
  const report = options.text('report');
  const summary = options.text('summary');
  if (report === standard) {
    throw new ConfigurationError('--report needs the name of a file, such as report.html');
  }
  if (summary === standard && to.path === standard) {
    throw new ConfigurationError(
      '--summary - and the output cannot both be standard output: give the output a file with -o',
    );
  }
  return RunReports.open({
    // A trial writes none, and leaves that of the last night.
    report: options.has('dry-run') ? undefined : report,
    summary: summary === standard ? async (text) => print(text, stdout) : summary,
    besides: filesAmong([
      ...positionals.map((path) => resolvePath(cwd, path)),
      pathOf(to),
      options.text('rejects'),
    ]),
    asksNetwork: asksNetwork(options),
    isShared: options.has('store'),
    keepsQuality: options.has('keep-quality'),
    hasHistory: options.has('history') || undefined,
    isRepeated: options.has('key'),
  });
}

export function filesAmong(paths: readonly (string | undefined)[]): readonly string[] {
  return paths.filter((path): path is string => path !== undefined && path !== standard);
}
