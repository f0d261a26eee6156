import {
  checkOutputPath,
  ConfigurationError,
  hasFailed,
  run,
  streamRun,
  type ColumnOptions,
  type RunOptions,
  type Summary,
} from '../../index.js';
import type { Command, CommandInput, ParsedOptions } from '../command.js';
import { tableStateDirectory } from '../database-ends.js';
import { findDatabaseUrl, showArgument } from '../database-url.js';
import { chooseTarget, connect, type Connection, type Target } from '../connect.js';
import { dropOldRun } from '../drop-old-run.js';
import { exitCodes } from '../exit-code.js';
import { Interruption } from '../interruption.js';
import { findListEnds, type ListEnds, type ListPlace } from '../list-ends.js';
import { amountOption, countOption, pairsOption } from '../option-values.js';
import { Reporter } from '../reporter.js';
import { checkSummaryPath, standard, writeSummary } from '../summary-file.js';
import { verifyOptions } from '../verify-options.js';
import { whereGiven } from '../where-given.js';
import { batchSettings } from '../verify-settings.js';

export const verifyCommand: Command = {
  name: 'verify',
  usage: '<input> -o <output> --email <column> [--phone <column>] --country <CC>',
  summary: 'Verify the addresses in a list: every row comes out, with its results beside it.',
  options: verifyOptions,
  examples: [
    'sluice verify contacts.csv --email email --country US -o verified.csv',
    'sluice verify contacts.csv --email email --phone mobile --country-column country --country US -o verified.csv',
    'sluice verify contacts.xlsx --sheet Leads --email E-Mail --country DE -o verified.parquet',
    'sluice verify env:DATABASE_URL --query "select id, email from contacts" --email email --country US -o env:DATABASE_URL --into contacts_verified --key id',
    'cat contacts.csv | sluice verify - --email "#3" --country DE > verified.csv',
  ],
  run: verifyList,
};

/** Asking the service in one's own process costs nobody anything. */
const localPollIntervalMs = 25;

async function verifyList(input: CommandInput): Promise<number> {
  const { options } = input;
  const from = placeOf(onlyInput(input.positionals), input.environment);
  const to = placeOf(options.text('output') ?? standard, input.environment);
  const summaryPath = options.text('summary');
  await checkSummaryPath(summaryPath, {
    input: from.database ? undefined : from.path,
    output: to.database ? undefined : to.path,
  });
  const target = await chooseTarget(options, input.environment);
  refuseUnmeant(target, to);
  const reporter = new Reporter(process.stderr, {
    isQuiet: options.has('quiet'),
    isVerbose: options.has('verbose'),
  });
  const job: Job = {
    shared: sharedOptions(input, target, reporter, await findListEnds(from, to, options)),
    target,
    options,
    reporter,
    lastAct: input.lastAct,
    tell: async (summary) => {
      reporter.finished(summary);
      if (summaryPath !== undefined) await writeSummary(summary, summaryPath);
    },
  };
  const stateDir = options.text('state') ?? (await defaultStateDirectory(to, options));
  const summary = stateDir === undefined ? await stream(job) : await runDurably(job, stateDir);
  if (stateDir === undefined) await job.tell(summary);
  return hasFailed(summary) ? exitCodes.someFailed : exitCodes.done;
}

interface Job {
  readonly shared: Omit<RunOptions, 'client' | 'stateDir'>;
  readonly target: Target;
  readonly options: ParsedOptions;
  readonly reporter: Reporter;
  readonly lastAct: CommandInput['lastAct'];
  /** Says what became of the run. @throws OutputError */
  readonly tell: (summary: Summary) => Promise<void>;
}

/** Options that mean something only where a state directory is kept. */
const durableOptions = ['fresh', 'retry-failed', 'partial', 'delete-batches'];

async function stream({ shared, target, options, reporter }: Job): Promise<Summary> {
  const durable = durableOptions.find((name) => options.has(name));
  if (durable !== undefined) {
    throw new ConfigurationError(
      `--${durable} needs a state directory: give the output a file with -o, or name one with --state`,
    );
  }
  reporter.target(target);
  reporter.streaming();
  const connection = await connect(target, options, undefined);
  try {
    return await streamRun({
      ...shared,
      client: connection.client,
    });
  } catch (error) {
    reporter.paidInVain();
    throw error;
  } finally {
    await connection.close();
  }
}

async function runDurably(
  { shared, target, options, reporter, tell, lastAct }: Job,
  stateDir: string,
): Promise<Summary> {
  reporter.target(target);
  if (options.has('fresh')) {
    if (options.has('retry-failed')) {
      throw new ConfigurationError(
        '--fresh drops the run that --retry-failed goes on with: give one of them',
      );
    }
    await dropOldRun(stateDir, {
      target,
      options,
      person: { input: process.stdin, output: process.stderr },
      signal: shared.signal ?? new AbortController().signal,
    });
  }
  let connection: Connection | undefined;
  try {
    return await run({
      ...shared,
      // The local service's data are in the state directory: it starts when this process holds it.
      client: async (servicePath) => {
        connection = await connect(target, options, servicePath);
        return connection.client;
      },
      stateDir,
      fresh: options.has('fresh'),
      retryFailed: options.has('retry-failed'),
      partial: options.has('partial'),
      deleteBatches: options.has('delete-batches'),
      onSummary: tell,
      beforeRemoval: async () => connection?.close(),
      lastAct,
    });
  } catch (error) {
    if (error instanceof Interruption) reporter.resumable();
    throw error;
  } finally {
    await connection?.close();
  }
}

function onlyInput(positionals: readonly string[]): string {
  const [input, ...more] = positionals;
  if (input === undefined) {
    throw new ConfigurationError(
      'name the input: a file, the URL of a database, or - for standard input (sluice verify --help shows how)',
    );
  }
  if (more.length > 0) {
    throw new ConfigurationError(
      `there is one input at a time, but ${positionals.length} are named: ${positionals.map(showArgument).join(', ')}`,
    );
  }
  return input;
}

/** What is written directly has no state directory unless one is asked for. */
async function defaultStateDirectory(
  { path, database }: ListPlace,
  options: ParsedOptions,
): Promise<string | undefined> {
  if (database) return tableStateDirectory(options);
  if (path === standard) return undefined;
  const { kind } = await checkOutputPath(path);
  return kind === 'file' ? `${path}.sluice` : undefined;
}

function placeOf(path: string, environment: NodeJS.ProcessEnv): ListPlace {
  return { path, database: findDatabaseUrl(path, environment) };
}

/** The local service's verdicts must not get into a database because a variable was not set. */
function refuseUnmeant(target: Target, { database }: ListPlace): void {
  if (!database || target.kind !== 'local' || target.isOnPurpose) return;
  throw new ConfigurationError(
    'no base URL is given, and the verdicts of the local service go into a database only on purpose: set SLUICE_BASE_URL and SLUICE_API_KEY, or say --local',
  );
}

function sharedOptions(
  { options, signal }: CommandInput,
  target: Target,
  reporter: Reporter,
  ends: ListEnds,
): Job['shared'] {
  const deadlineHours = amountOption(options, 'batch-deadline');
  return {
    ...ends,
    ...columnOptions(options),
    ...whereGiven({
      country: countryOption(options),
      batchSize: countOption(options, 'batch-size'),
      concurrency: countOption(options, 'concurrency'),
      pollIntervalMs:
        countOption(options, 'poll-interval') ??
        (target.kind === 'local' ? localPollIntervalMs : undefined),
      batchDeadlineMs: deadlineHours === undefined ? undefined : deadlineHours * 3_600_000,
      maxCredits: amountOption(options, 'max-credits'),
      batchName: options.text('batch-name'),
      serviceName: target.kind === 'local' ? 'local' : undefined,
    }),
    settings: batchSettings(options),
    signal,
    onProgress: (progress) => reporter.progress(progress),
  };
}

function countryOption(options: ParsedOptions): string | undefined {
  if (options.has('country') || options.has('country-column')) return options.text('country');
  throw new ConfigurationError(
    'a target country is needed: --country <CC> for all rows, or --country-column <column>',
    { code: 'country_missing' },
  );
}

function columnOptions(options: ParsedOptions): ColumnOptions {
  const email = options.texts('email');
  const phone = options.texts('phone');
  if (email.length + phone.length === 0) {
    throw new ConfigurationError(
      'name the columns to verify: --email <column>, --phone <column>, or both',
    );
  }
  return {
    email,
    phone,
    ...whereGiven({
      countryColumn: options.text('country-column'),
      prefix: pairsOption(options, 'prefix'),
    }),
  };
}
