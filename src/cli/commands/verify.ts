import {
  ConfigurationError,
  moreOpenFiles,
  RunPapers,
  showPlace,
  type Estimate,
  type Sink,
  type Summary,
} from '../../index.js';
import { defineCommand, type ParsedOptions, type CommandInput } from '../command.js';
import { withConfig } from '../config-file.js';
import { chooseTarget, type Target } from '../connect.js';
import { dryRun } from '../dry-run.js';
import { envFileOption, loadEnvFile } from '../env-file.js';
import { asksNetwork } from '../engine-options.js';
import { exitCodes } from '../exit-code.js';
import { openHistory } from '../history-options.js';
import { askAboutColumns } from '../launch-options.js';
import { keepOutput } from '../keep-options.js';
import { findListEnds } from '../list-ends.js';
import { findInputs, pathOf, placeOf, removePlace, type NamedPlace } from '../list-places.js';
import { withFlags } from '../option-flags.js';
import { parseCommandLine } from '../parse-command-line.js';
import { print } from '../print.js';
import { progressMode } from '../progress/progress-mode.js';
import { Reporter } from '../reporter.js';
import { limitLines } from '../run-lines.js';
import { runDurably, stream, type Job } from '../run-list.js';
import { runShared } from '../run-shared.js';
import { sharedOptions } from '../run-settings.js';
import { standard } from '../standard.js';
import { isHeldBack, stateDirectoryOf } from '../state-of-output.js';
import { sharedRunOf, storePatience } from '../store-options.js';
import { sayStopped, type RunSoFar } from '../stopped-run.js';
import { filesOfOutput } from '../verdict-output.js';
import { verifyOptions, type VerifyOption } from '../verify-options.js';
import { namesNoColumn, showWayIn } from '../way-in/way-in.js';
import { withEngine } from '../with-engine.js';

export const verifyCommand = defineCommand({
  name: 'verify',
  usage: '<input>... [-o <output> --email <column> --phone <column> --country <CC>]',
  summary: 'Verify the addresses in a list: every row comes out, with its results beside it.',
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
  async run(given) {
    const input = await withSettings(given);
    return namesNoColumn(input) ? wayIn(input, given) : verifyList(input);
  },
});

/** With the options that the configuration gives, and the environment that it names. */
async function withSettings(
  given: CommandInput<VerifyOption>,
): Promise<CommandInput<VerifyOption>> {
  const options = await withConfig<VerifyOption | 'env-file'>(given.options, [
    ...verifyOptions,
    envFileOption,
  ]);
  // That of the command line is read by now.
  await loadEnvFile(options, given.environment);
  return { ...given, options };
}

async function verifyList(input: CommandInput<VerifyOption>): Promise<number> {
  const { options, environment } = input;
  return sayIfStopped(input, placeOf(options.text('output') ?? standard, environment), verifyTo);
}

/** A list is looked at first: what runs then is the command that was shown. */
async function wayIn(
  input: CommandInput<VerifyOption>,
  given: CommandInput<VerifyOption>,
): Promise<number> {
  const { options, environment } = input;
  const to = placeOf(options.text('output') ?? 'verified.csv', environment);
  const again = (args: readonly string[]): CommandInput => ({
    ...input,
    ...parseCommandLine(verifyCommand, args),
  });
  return sayIfStopped(input, to, async (_, _input, { reporter }) =>
    showWayIn(input, {
      reporter,
      given,
      person: { input: process.stdin, output: process.stderr },
      estimate: async (args) => estimateList(again([...args, '--dry-run']), reporter),
      verify: async (args) => verifyCommand.run(again(args)),
    }),
  );
}

/** What a run is told to, and by. */
interface RunParts {
  readonly run: RunSoFar;
  readonly reporter: Reporter;
  readonly papers: RunPapers;
}

type Work = (to: NamedPlace, input: CommandInput<VerifyOption>, parts: RunParts) => Promise<number>;

/** Does a run's work; one that stops says why, and leaves its papers. */
async function sayIfStopped(
  input: CommandInput<VerifyOption>,
  to: NamedPlace,
  work: Work,
): Promise<number> {
  const { options, environment, positionals } = input;
  const reporter = new Reporter(process.stderr, {
    isQuiet: options.has('quiet'),
    isVerbose: options.has('verbose'),
    isJson: options.has('json-log'),
    mode: progressMode(options, {
      environment,
      isTerminal: process.stderr.isTTY,
      isOutputThere: to.path === standard && process.stdout.isTTY,
    }),
    isTerminal: process.stderr.isTTY,
    environment,
  });
  const papers = await openPapers(options, [...positionals, pathOf(to)], to);
  const run: RunSoFar = {
    input: positionals.map(showPlace).join(', '),
    output: showPlace(to.path),
    stateDir: stateDirectoryOf(to, options),
    store: undefined,
    isStreaming: false,
    noMoreOpenThan: undefined,
  };
  try {
    return await work(to, input, { run, reporter, papers });
  } catch (error) {
    return sayStopped(error, run, { reporter, papers });
  }
}

/** Counts what a command would do, without its papers. */
async function estimateList(
  given: CommandInput<VerifyOption>,
  reporter: Reporter,
): Promise<Estimate> {
  const input = await withSettings(given);
  const to = placeOf(input.options.text('output') ?? standard, input.environment);
  const run = { input: '', output: '', stateDir: stateDirectoryOf(to, input.options) };
  const parts = {
    run: { ...run, store: undefined, isStreaming: false, noMoreOpenThan: undefined },
    reporter,
  };
  const { job, history } = await prepareJob(to, input, {
    ...parts,
    papers: await RunPapers.open({}),
  });
  try {
    return await dryRun(job, run.stateDir);
  } finally {
    reporter.close();
    await history?.close();
  }
}

async function verifyTo(
  to: NamedPlace,
  input: CommandInput<VerifyOption>,
  parts: RunParts,
): Promise<number> {
  const { options } = input;
  const { run, papers } = parts;
  run.store = await sharedRunOf(options, input.environment, storePatience(options));
  const { job, history, sink, tell, exitCode } = await prepareJob(to, input, parts);
  try {
    const isOutputHeldBack = await isHeldBack(to, sink, options);
    const isDurable = options.has('state') || isOutputHeldBack;
    const stateDir = isDurable && !run.store ? run.stateDir : undefined;
    if (options.has('dry-run')) {
      await papers.begin();
      await tell(await dryRun(job, stateDir));
    } else if (run.store) {
      await runShared(job, { store: run.store, isHeldBack: isOutputHeldBack });
    } else if (stateDir === undefined) {
      run.isStreaming = true;
      await tell(await stream(job));
    } else await runDurably(job, stateDir);
    return exitCode();
  } finally {
    await history?.close();
  }
}

interface Prepared {
  readonly job: Job;
  readonly history: Awaited<ReturnType<typeof openHistory>>;
  readonly sink: Sink;
  /** Says what became of the run. @throws OutputError */
  readonly tell: (figures: Summary | Estimate) => Promise<void>;
  /** After what it came to was told. */
  readonly exitCode: () => number;
}

/** Finds all that a run needs, and checks it, before anything is read. */
async function prepareJob(
  to: NamedPlace,
  input: CommandInput<VerifyOption>,
  { run, reporter, papers }: RunParts,
): Promise<Prepared> {
  const { options } = input;
  const from = await findInputs(input.positionals, input.environment);
  const outputs = filesOfOutput(from, to, options).map(pathOf);
  await papers.keepApart(filesAmong([...from.map(pathOf), ...outputs]));
  const target = withEngine(await chooseTarget(options, input.environment), input);
  refuseUnmeant(target, to);
  const ends = await findListEnds(from, to, options);
  const { sink, maxUnknown, suspects, decides } = await keepOutput(
    ends.sink,
    { from, to },
    options,
  );
  run.noMoreOpenThan = await ends.source.permissions?.();
  const { noMoreOpenThan } = run;
  if (noMoreOpenThan) {
    const paths = [
      ...outputs,
      ...(['rejects', 'report', 'summary'] as const).map((name) => options.text(name)),
    ];
    const open = await moreOpenFiles(filesAmong(paths), noMoreOpenThan);
    if (open.length > 0) reporter.keptOpen(open);
  }
  const settings = sharedOptions(input, target, {
    ...ends,
    sink: papers.watch(sink),
    decides: { ...ends.decides, ...decides },
  });
  const history = await openHistory(options, target, input.signal);
  let exitCode: number = exitCodes.done;
  const tell = async (figures: Summary | Estimate): Promise<void> => {
    if (!('dry_run' in figures)) {
      reporter.finished(figures, papers.endOf(figures));
      reporter.tell(limitLines(figures, options.has('history')));
      // What was suspect once is of no use beside an output that is not.
      if (!figures.suspect) await Promise.all(suspects.map(removePlace));
    }
    exitCode = (await papers.finished(figures, { noMoreOpenThan })).exit_code;
  };
  const job: Job = {
    shared: {
      ...settings,
      ...(history && { history }),
      ...(maxUnknown && {
        maxUnknown: { ...maxUnknown, suspect: papers.watch(maxUnknown.suspect) },
      }),
      onProgress: (progress) => reporter.progress(progress),
      onDoubtfulColumns: askAboutColumns(
        options,
        { input: process.stdin, output: process.stderr },
        { reporter, signal: input.signal },
      ),
    },
    target,
    options,
    reporter,
    lastAct: input.lastAct,
    begin: async () => papers.begin(),
    tell,
  };
  return { job, history, tell, sink: ends.sink, exitCode: () => exitCode };
}

/** @throws ConfigurationError, OutputError before anything is read */
async function openPapers(
  options: ParsedOptions<VerifyOption>,
  others: readonly (string | undefined)[],
  to: NamedPlace,
): Promise<RunPapers> {
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
  return RunPapers.open({
    // A trial writes none, and leaves that of the last night.
    report: options.has('dry-run') ? undefined : report,
    summary: summary === standard ? print : summary,
    besides: filesAmong([...others, options.text('rejects')]),
    asksNetwork: asksNetwork(options),
    reword: withFlags,
    isShared: options.has('store'),
  });
}

function filesAmong(paths: readonly (string | undefined)[]): readonly string[] {
  return paths.filter((path): path is string => path !== undefined && path !== standard);
}

/** The local service's verdicts must not get into a database because a variable was not set. */
function refuseUnmeant(target: Target, { database }: NamedPlace): void {
  if (!database || target.kind !== 'local' || target.isOnPurpose) return;
  throw new ConfigurationError(
    'no base URL is given, and the verdicts of the local service go into a database only on purpose: set SLUICE_BASE_URL and SLUICE_API_KEY, or say --local',
  );
}
