import { basename, resolve } from 'node:path';
import { ConfigurationError, RunReports, type SharedStore } from '../../index.js';
import { showLocation } from '../../lists/location.js';
import { shellQuote } from '../../platform/text/printable.js';
import { terminal } from '../terminal/ask-person.js';
import { defineCommand, type CommandInput, omitUndefined, programName } from '../command.js';
import { runDurably, runShared, stream } from '../job/run-job.js';
import { dryRun, type EstimatedJob, type EstimateForm, estimateJob } from '../job/estimate-job.js';
import {
  asWritten,
  type Location,
  locationOf,
  refuseUnquoted,
  resolvePath,
  standard,
} from '../endpoints/locations.js';
import type { RunParts } from '../job/job-end.js';
import { prepareJob } from '../job/prepare-job.js';
import { serviceOfSummary } from '../job/refuse-unmeant.js';
import { filesNamedIn } from '../job/run-files.js';
import { asksNetwork } from '../options/engine-options.js';
import { print } from '../terminal/print.js';
import { message, type Message } from '../messages/catalogue.js';
import { messageKey } from '../terminal/logger.js';
import { progressMode } from '../terminal/progress-lines.js';
import { Reporter } from '../terminal/reporter.js';
import { isHeldBack, stateDirectoryOf } from '../endpoints/list-ends.js';
import { codeOf, errorText } from '../messages/describe-error.js';
import { paidInVainMessage, type RunContext, stopMessages } from '../messages/end-messages.js';
import { exitCodeOf, exitCodes, Interruption } from '../process/exit-code.js';
import {
  refuseStandardInput,
  sharedRunOf,
  storeOptions,
  storePatience,
} from '../options/store-options.js';
import { givenOptions } from '../options/library-options.js';
import { verifyOptions, type VerifyOption } from '../options/verify-options.js';
import type { AddedOption } from '../guide/choose-country.js';
import { proposeFile, showGuide } from '../guide/guide.js';
import { isToTerminal, lacksCountry, lacksTable, namesNoColumn } from '../guide/what-is-missing.js';
import { withAdded } from '../guide/whole-command.js';
import { Workers } from '../job/workers.js';

export const verifyCommand = defineCommand<VerifyOption>({
  name: 'verify',
  usage: '<input>... [-o <output> --email <column> --phone <column> --country <CC>]',
  summary:
    'Verify the emails and phone numbers in a list (CSV, Excel, JSON lines, Parquet, text, a database): every row comes out, with its results beside it.',
  options: verifyOptions,
  examples: [
    'sluice verify contacts.csv   # finds the columns, shows the cost, and asks',
    'sluice verify contacts.csv --email email --country US -o verified.csv',
    'sluice verify contacts.csv --email email --phone mobile --country-column country --country US -o verified.csv',
    'sluice verify contacts.xlsx --sheet Leads --email E-Mail --country DE -o verified.parquet',
    'sluice verify "lists/*.csv" south.xlsx --email email --country US -o verified.csv',
    'sluice verify env:DATABASE_URL --query "select id, email from contacts" --email email --country US -o env:DATABASE_URL --into contacts_verified --key id',
    'sluice verify contacts.csv --email email --country US -o verified.csv --local --verify network --helo verify.example.com',
    'cat contacts.csv | sluice verify - --email "#3" --country DE > verified.csv',
  ],
  async run(input) {
    if (namesNoColumn(input) || lacksCountry(input, terminal(input)) || lacksTable(input)) {
      return guide(input, showGuide);
    }
    const isFileProposed = isToTerminal(input, terminal(input), input.stdout.isTTY);
    return isFileProposed ? guide(input, proposeFile) : verifyList(input);
  },
});

/** @param shown what a person has read of it who has agreed to the cost. @default nobody was asked */
async function verifyList(
  input: CommandInput<VerifyOption>,
  shown?: ReadonlySet<string>,
): Promise<number> {
  const to = locationOf(input.options.text('output') ?? standard, input);
  return reportIfStopped(input, to, verifyTo, shown);
}

/** The list is sampled first; then the command that was shown runs. */
async function guide(input: CommandInput<VerifyOption>, show: typeof showGuide): Promise<number> {
  const to = locationOf(input.options.text('output') ?? 'verified.csv', input);
  const withMore = (
    added: readonly AddedOption[],
    without: readonly VerifyOption[] = [],
  ): CommandInput<VerifyOption> => ({
    ...input,
    options: withAdded(input.options.without(without), added, input.cwd),
  });
  const shown = new Set<string>();
  let isCostShown = false;
  const onMessage = (message: Message): void => {
    shown.add(messageKey(message));
    input.onMessage?.(message);
  };
  const work: typeof verifyTo = async (_, _input, { reporter }) => {
    return show(input, {
      reporter,
      person: terminal(input, reporter),
      estimate: async (added, how) => {
        const counted = withMore([...added, ['dry-run', true]], how?.without);
        const namesCodes = input.options.has('country-from');
        const namesLists = input.options.has('suppress');
        const form = { ...how, namesCodes, namesLists };
        const estimated = await estimateList(counted, reporter, form);
        isCostShown = true;
        return estimated;
      },
      verify: async (added, without) =>
        verifyList(withMore(added, without), isCostShown ? shown : undefined),
    });
  };
  return reportIfStopped({ ...input, onMessage }, to, work, shown);
}

async function reportIfStopped(
  input: CommandInput<VerifyOption>,
  to: Location,
  work: typeof verifyTo,
  shown?: ReadonlySet<string>,
): Promise<number> {
  const { options, env, positionals, stdout, stderr, clock, onMessage } = input;
  const reporter = new Reporter(stderr, {
    isQuiet: options.has('quiet'),
    isVerbose: options.has('verbose'),
    isJson: options.has('json-log'),
    mode: progressMode(options, {
      env,
      isTerminal: stderr.isTTY,
      isOutputOnTerminal: to.path === standard && stdout.isTTY,
    }),
    isTerminal: stderr.isTTY,
    env,
    clock,
    ...omitUndefined({ onMessage, shown }),
  });
  const reports = await openReports(input, to);
  const list = positionals.map((each) => listName(each, input.cwd)).join(', ');
  const isInPlace = resolvePath(input.cwd, positionals[0] ?? '') === to.path;
  const table = isInPlace ? options.text('into') : undefined;
  const run: RunContext = {
    input: list,
    list: table === undefined ? list : `${table} in ${list}`,
    output: showLocation(asWritten(input.cwd, to.path)),
    program: programName(input),
    storeOptions: (['store', 'run'] as const)
      .map((name) => `--${name} ${shellQuote(showLocation(options.text(name) ?? ''))}`)
      .join(' '),
    stateDir: stateDirectoryOf(to, input),
    maxCredits: givenOptions(options).maxCredits,
  };
  try {
    await refuseUnquoted(input);
    return await work(to, input, { run, reporter, reports, isCostShown: shown !== undefined });
  } catch (error) {
    // It has not come to its service: the next night may have lost its environment.
    run.service ??= await serviceOfSummary(options.text('summary'));
    return reportStopped(error, run, reporter, reports);
  }
}

/** An input as people call it, also away from the folder that it was named in. */
function listName(given: string, cwd: string): string {
  if (given === standard) return 'standard input';
  return showLocation(/^[./]+$/.test(given) ? basename(resolve(cwd, given)) || given : given);
}

/** @throws ConfigurationError, OutputError before anything is read */
async function openReports(input: CommandInput<VerifyOption>, to: Location): Promise<RunReports> {
  const { options, stdout } = input;
  const report = options.text('report');
  const summary = options.text('summary');
  if (report === standard) {
    throw new ConfigurationError('--report needs the name of a file, such as report.html', {
      option: 'report',
      fault: 'missing',
    });
  }
  if (summary === standard && to.path === standard) {
    throw new ConfigurationError(
      '--summary - and the output cannot both be standard output: give the output a file with -o',
      { option: 'summary', fault: 'repeated' },
    );
  }
  return RunReports.open({
    // A trial keeps the reports of the last night.
    report: options.has('dry-run') ? undefined : report,
    summary: summary === standard ? async (text) => print(text, stdout) : summary,
    besides: await filesNamedIn(input, to),
    asksNetwork: asksNetwork(options),
    isShared: options.has('store'),
    keepsQuality: options.has('keep-quality'),
    hasHistory: options.has('history') || undefined,
    isRepeated: options.has('key'),
  });
}

async function estimateList(
  input: CommandInput<VerifyOption>,
  reporter: Reporter,
  form: EstimateForm,
): Promise<EstimatedJob> {
  const to = locationOf(input.options.text('output') ?? standard, input);
  const stateDir = stateDirectoryOf(to, input);
  const reports = await RunReports.open({});
  const job = await prepareJob(to, input, { run: {}, reporter, reports });
  try {
    return await estimateJob(job, { stateDir }, reports, form);
  } finally {
    reporter.close();
    await job.history?.close();
  }
}

/** What a dry run says is of one moment, and a store that does not answer is waited for once. */
function lookedAtOnce(store: SharedStore): SharedStore {
  let looking: ReturnType<SharedStore['look']> | undefined;
  return { ...store, look: async (options) => (looking ??= store.look(options)) };
}

async function verifyTo(
  to: Location,
  input: CommandInput<VerifyOption>,
  parts: RunParts & { readonly run: RunContext },
): Promise<number> {
  const { options } = input;
  const { run, reports } = parts;
  const workers = new Workers({
    input,
    reporter: parts.reporter,
    count: options.values(storeOptions).workers ?? 1,
  });
  const store = await sharedRunOf(input, storePatience(options));
  run.store = store && options.has('dry-run') ? lookedAtOnce(store) : store;
  if (run.store) refuseStandardInput(input.positionals);
  const job = await prepareJob(to, input, parts);
  try {
    const isOutputHeldBack = await isHeldBack(to, job.sink, options);
    const isDurable = options.has('state') || isOutputHeldBack;
    const stateDir = isDurable && !run.store ? run.stateDir : undefined;
    if (!options.has('dry-run')) {
      input.onRun?.({ list: run.list, state: run.store?.name ?? stateDir ?? null });
    }
    if (options.has('dry-run')) {
      await reports.begin();
      await job.reportSummary(await dryRun(job, { stateDir, store: run.store }, reports));
    } else if (run.store) {
      await runShared(job, { store: run.store, isHeldBack: isOutputHeldBack, workers });
    } else if (stateDir === undefined) {
      run.isStreaming = true;
      run.isFree = job.target.kind === 'local';
      const output = to.path === standard ? null : run.output;
      await job.reportSummary(await stream(job, output));
    } else await runDurably(job, stateDir);
    input.keepCode?.();
    return job.exitCode();
  } finally {
    await job.history?.close();
  }
}

async function reportStopped(
  error: unknown,
  run: RunContext,
  reporter: Reporter,
  reports: RunReports,
): Promise<number> {
  const exitCode = exitCodeOf(error);
  reporter.failed(error);
  const { isSent, batches, launched } = reporter.launched();
  const { input, list, output, noMoreOpenThan, isStreaming, isFree, store, stateDir } = run;
  const end = {
    exit_code: exitCode,
    reason: codeOf(error) ?? (error instanceof Interruption ? error.reason : 'defect'),
    // The trace of a defect goes to standard error alone: it may contain anything.
    message:
      exitCode === exitCodes.defect
        ? 'this is a defect in Sluice; standard error has its trace'
        : errorText(error),
  };
  const { unwritten, status, creditsBefore, next } = await reports.stopped(end, {
    input,
    output,
    noMoreOpenThan,
    service: run.service,
    ...omitUndefined({ maxCredits: run.maxCredits }),
    ...(store || isStreaming
      ? { ...(store && { store }), launchedCredits: launched }
      : { stateDir }),
  });
  const isUsage = exitCode === exitCodes.usage;
  const isUnsent = !run.store && !status && !isSent;
  const hasNoRun = error instanceof Interruption && isUnsent && run.isBegun !== true;
  // These errors say it themselves.
  const isSaid = isUsage || end.reason === 'input_suspect';
  reporter.report([
    ...(isUnsent && !isSaid ? [message('not_started', { is_declined: false })] : []),
    ...unwritten.map((cause) =>
      message('no_report', { code: codeOf(cause), message: errorText(cause) }),
    ),
    ...(isStreaming ? [] : stopMessages(error, status, next, run)),
    ...(creditsBefore && !isUsage ? [message('credits_before', creditsBefore, 'notice')] : []),
    // Without a state that can be read, only this process knows what it has launched.
    ...((batches > 0 || (isSent && !store)) && (isStreaming ? !isFree : !status)
      ? [paidInVainMessage(batches, launched)]
      : []),
  ]);
  if (!hasNoRun && list !== '') reporter.stopped(list, end);
  return exitCode;
}
