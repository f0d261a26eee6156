import {
  ConfigurationError,
  defaultStateDir,
  moreOpenFiles,
  RunPapers,
  showPlace,
  type Estimate,
  type Sink,
  type Summary,
} from '../../index.js';
import { defineCommand, type ParsedOptions, type CommandInput } from '../command.js';
import { tableStateDirectory } from '../database-ends.js';
import { withConfig } from '../config-file.js';
import { chooseTarget, type Target } from '../connect.js';
import { dryRun } from '../dry-run.js';
import { exitCodes } from '../exit-code.js';
import { openHistory } from '../history-options.js';
import { askAboutColumns } from '../launch-options.js';
import { keepOutput } from '../keep-options.js';
import { findListEnds } from '../list-ends.js';
import { findInputs, pathOf, placeOf, removePlace, type ListPlace } from '../list-places.js';
import { print } from '../print.js';
import { progressMode } from '../progress/progress-mode.js';
import { Reporter } from '../reporter.js';
import { runDurably, stream, type Job } from '../run-list.js';
import { sharedOptions } from '../run-settings.js';
import { standard } from '../standard.js';
import { sayStopped, type RunSoFar } from '../stopped-run.js';
import { verifyOptions, type VerifyOption } from '../verify-options.js';
import { withEngine } from '../with-engine.js';

export const verifyCommand = defineCommand({
  name: 'verify',
  usage: '<input>... -o <output> --email <column> [--phone <column>] --country <CC>',
  summary: 'Verify the addresses in a list: every row comes out, with its results beside it.',
  options: verifyOptions,
  examples: [
    'sluice verify contacts.csv --email email --country US -o verified.csv',
    'sluice verify contacts.csv --email email --phone mobile --country-column country --country US -o verified.csv',
    'sluice verify contacts.xlsx --sheet Leads --email E-Mail --country DE -o verified.parquet',
    'sluice verify "lists/*.csv" south.xlsx --email email --country US -o verified.csv',
    'sluice verify env:DATABASE_URL --query "select id, email from contacts" --email email --country US -o env:DATABASE_URL --into contacts_verified --key id',
    'sluice verify contacts.csv --email email --country US -o verified.csv --local --verify network --helo verify.example.com',
    'cat contacts.csv | sluice verify - --email "#3" --country DE > verified.csv',
  ],
  run: async (input) =>
    verifyList({ ...input, options: await withConfig(input.options, verifyOptions) }),
});

async function verifyList(input: CommandInput<VerifyOption>): Promise<number> {
  const { options, environment, positionals } = input;
  const to = placeOf(options.text('output') ?? standard, environment);
  const reporter = new Reporter(process.stderr, {
    isQuiet: options.has('quiet'),
    isVerbose: options.has('verbose'),
    isJson: options.has('json-log'),
    mode: progressMode(options, {
      environment,
      isTerminal: process.stderr.isTTY,
      isOutputThere: to.path === standard && process.stdout.isTTY,
    }),
    environment,
  });
  const papers = await openPapers(options, [...positionals, pathOf(to)], to);
  const run: RunSoFar = {
    input: positionals.map(showPlace).join(', '),
    output: showPlace(to.path),
    stateDir: stateDirectoryOf(to, options),
    isStreaming: false,
    noMoreOpenThan: undefined,
  };
  try {
    return await verifyTo(to, input, { run, reporter, papers });
  } catch (error) {
    return sayStopped(error, run, { reporter, papers });
  }
}

async function verifyTo(
  to: ListPlace,
  input: CommandInput<VerifyOption>,
  {
    run,
    reporter,
    papers,
  }: { readonly run: RunSoFar; readonly reporter: Reporter; readonly papers: RunPapers },
): Promise<number> {
  const { options } = input;
  const from = await findInputs(input.positionals, input.environment);
  await papers.keepApart(filesAmong(from.map(pathOf)));
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
      pathOf(to),
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
      reporter.finished(figures);
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
  try {
    const isDurable = options.has('state') || (await isHeldBack(to, ends.sink, options));
    const stateDir = isDurable ? run.stateDir : undefined;
    if (options.has('dry-run')) {
      await papers.begin();
      await tell(await dryRun(job, stateDir));
    } else if (stateDir === undefined) {
      run.isStreaming = true;
      await tell(await stream(job));
    } else await runDurably(job, stateDir);
    return exitCode;
  } finally {
    await history?.close();
  }
}

/** @throws ConfigurationError, OutputError before anything is read */
async function openPapers(
  options: ParsedOptions<'report' | 'summary' | 'rejects' | 'dry-run'>,
  others: readonly (string | undefined)[],
  to: ListPlace,
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
  });
}

function filesAmong(paths: readonly (string | undefined)[]): readonly string[] {
  return paths.filter((path): path is string => path !== undefined && path !== standard);
}

/** Where a run into a place keeps what it needs to go on, if it keeps anything. */
function stateDirectoryOf(
  { path, database, remote }: ListPlace,
  options: ParsedOptions<'state' | 'into'>,
): string | undefined {
  const given = options.text('state');
  if (given !== undefined) return given;
  if (database) return options.has('into') ? tableStateDirectory(database, options) : undefined;
  return path === standard ? undefined : defaultStateDir(remote?.url ?? path);
}

/** What is written directly has no state directory unless one is asked for. */
async function isHeldBack(
  { database, remote }: ListPlace,
  sink: Sink,
  options: ParsedOptions<'part-size'>,
): Promise<boolean> {
  if (database ?? remote ?? options.has('part-size')) return true;
  return (await sink.mayBeginEarly?.()) === true;
}

/** The local service's verdicts must not get into a database because a variable was not set. */
function refuseUnmeant(target: Target, { database }: ListPlace): void {
  if (!database || target.kind !== 'local' || target.isOnPurpose) return;
  throw new ConfigurationError(
    'no base URL is given, and the verdicts of the local service go into a database only on purpose: set SLUICE_BASE_URL and SLUICE_API_KEY, or say --local',
  );
}
