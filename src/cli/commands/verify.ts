import { ConfigurationError, hasFailed, type Sink } from '../../index.js';
import { defineCommand, type ParsedOptions, type CommandInput } from '../command.js';
import { tableStateDirectory } from '../database-ends.js';
import { withConfig } from '../config-file.js';
import { chooseTarget, type Target } from '../connect.js';
import { dryRun } from '../dry-run.js';
import { exitCodeOf, exitCodes } from '../exit-code.js';
import { openHistory } from '../history-options.js';
import { askAboutColumns } from '../launch-options.js';
import { keepOutput } from '../keep-options.js';
import { bucketStateDirectory, findListEnds, partsStateDirectory } from '../list-ends.js';
import { findInputs, pathOf, placeOf, type ListPlace } from '../list-places.js';
import { tellMoreOpen } from '../more-open.js';
import { progressMode } from '../progress/progress-mode.js';
import type { RunReport } from '../report/run-report.js';
import { Reporter } from '../reporter.js';
import { runDurably, stream, type Job } from '../run-list.js';
import { sharedOptions } from '../run-settings.js';
import { asksNetwork, checkEngineOptions, engineOf, engineOptions } from '../engine-options.js';
import { checkSummaryPath, standard, writeSummary } from '../summary-file.js';
import { verifyOptions, type VerifyOption } from '../verify-options.js';

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
  const { options } = input;
  const from = await findInputs(input.positionals, input.environment);
  const to = placeOf(options.text('output') ?? standard, input.environment);
  const summaryPath = options.text('summary');
  await checkSummaryPath(summaryPath, {
    inputs: from.map(pathOf),
    output: pathOf(to),
  });
  const target = withEngine(await chooseTarget(options, input.environment), input);
  refuseUnmeant(target, to);
  const reporter = new Reporter(process.stderr, {
    isQuiet: options.has('quiet'),
    isVerbose: options.has('verbose'),
    isJson: options.has('json-log'),
    mode: progressMode(options, {
      environment: input.environment,
      isTerminal: process.stderr.isTTY,
      isOutputThere: to.path === standard && process.stdout.isTTY,
    }),
    environment: input.environment,
  });
  const report = await openReport(options, [...from, to]);
  const ends = await findListEnds(from, to, options);
  const watched = (sink: Sink): Sink => (report ? report.watch(sink) : sink);
  const { sink, maxUnknown, decides } = await keepOutput(ends.sink, { from, to }, options);
  const permissions = await ends.source.permissions?.();
  const outputs = [pathOf(to), options.text('rejects')];
  await tellMoreOpen([...outputs, options.text('report'), summaryPath], { permissions, reporter });
  const settings = sharedOptions(input, target, {
    ...ends,
    sink: watched(sink),
    decides: { ...ends.decides, ...decides },
  });
  const history = await openHistory(options, target, input.signal);
  const job: Job = {
    shared: {
      ...settings,
      ...(history && { history }),
      ...(maxUnknown && {
        maxUnknown: { ...maxUnknown, suspect: watched(maxUnknown.suspect) },
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
    tell: async (summary) => {
      reporter.finished(summary);
      if (summaryPath !== undefined) await writeSummary(summary, summaryPath, permissions);
      await report?.write(summary, permissions);
    },
  };
  try {
    const stateDir = options.text('state') ?? (await defaultStateDirectory(to, ends.sink, options));
    if (options.has('dry-run')) {
      const estimate = await dryRun(job, stateDir);
      if (summaryPath !== undefined) await writeSummary(estimate, summaryPath, permissions);
      return exitCodes.done;
    }
    const summary = stateDir === undefined ? await stream(job) : await runDurably(job, stateDir);
    if (stateDir === undefined) await job.tell(summary);
    return hasFailed(summary) || summary.suspect ? exitCodes.someFailed : exitCodes.done;
  } catch (error) {
    if (reporter.failed(error)) return exitCodeOf(error);
    throw error;
  } finally {
    await history?.close();
  }
}

/**
 * The local service asks exchangers where that is wanted. On purpose alone: it is this machine that asks.
 *
 * @throws ConfigurationError
 */
function withEngine(target: Target, { options, environment }: CommandInput<VerifyOption>): Target {
  if (target.kind === 'local' && target.isOnPurpose) {
    checkEngineOptions(options);
    return asksNetwork(options)
      ? { ...target, engine: async () => engineOf(options, environment) }
      : target;
  }
  const given = engineOptions.find(({ name }) => options.has(name));
  if (given) throw new ConfigurationError(`--${given.name} needs --local`);
  return target;
}

/** The page is made only where it is asked for. @throws ConfigurationError, OutputError */
async function openReport(
  options: ParsedOptions<'report' | 'summary'>,
  ends: readonly ListPlace[],
): Promise<RunReport | undefined> {
  const path = options.text('report');
  if (path === undefined) return undefined;
  const { RunReport } = await import('../report/run-report.js');
  return RunReport.open(path, [...ends.map(pathOf), options.text('summary')]);
}

/** What is written directly has no state directory unless one is asked for. */
async function defaultStateDirectory(
  { path, database, remote }: ListPlace,
  sink: Sink,
  options: ParsedOptions<'into' | 'part-size'>,
): Promise<string | undefined> {
  if (database) return tableStateDirectory(options);
  if (remote) return bucketStateDirectory(remote.url);
  if (options.has('part-size')) return partsStateDirectory(path);
  const isHeldBack = (await sink.mayBeginEarly?.()) === true;
  return isHeldBack ? `${path}.sluice` : undefined;
}

/** The local service's verdicts must not get into a database because a variable was not set. */
function refuseUnmeant(target: Target, { database }: ListPlace): void {
  if (!database || target.kind !== 'local' || target.isOnPurpose) return;
  throw new ConfigurationError(
    'no base URL is given, and the verdicts of the local service go into a database only on purpose: set SLUICE_BASE_URL and SLUICE_API_KEY, or say --local',
  );
}
