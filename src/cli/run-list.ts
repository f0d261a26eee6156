import {
  ConfigurationError,
  isSluiceError,
  readRunStatus,
  run,
  streamRun,
  type Summary,
} from '../index.js';
import type { ParsedOptions, Surroundings } from './command.js';
import { connect, type Connection, type Target } from './connect.js';
import { dropOldRun } from './drop-old-run.js';
import { waitLockOf } from './history-options.js';
import { Interruption } from './interruption.js';
import { preflightOf } from './launch-options.js';
import { choiceOption } from './option-values.js';
import type { Reporter } from './reporter.js';
import type { RunSettings } from './run-settings.js';
import type { VerifyOption } from './verify-options.js';
import { whereGiven } from './where-given.js';

/** What is to be done with a list. */
export interface Job {
  readonly shared: RunSettings;
  readonly target: Target;
  readonly options: ParsedOptions<VerifyOption>;
  readonly reporter: Reporter;
  readonly lastAct: Surroundings['lastAct'];
  /** Says what became of the run. @throws OutputError */
  readonly tell: (summary: Summary) => Promise<void>;
}

const onChangeWays = ['auto', 'carry', 'stop'] as const;

/** Options that mean something only where a state directory is kept. */
const durableOptions = [
  'fresh',
  'on-change',
  'moved',
  'retry-failed',
  'partial',
  'delete-batches',
  'preflight',
  'detach',
  'max-unknown',
] as const satisfies readonly VerifyOption[];

/** Verifies a list whose rows leave as they come: nothing is kept. */
export async function stream({ shared, target, options, reporter }: Job): Promise<Summary> {
  const durable = durableOptions.find((name) => options.has(name));
  if (durable !== undefined) {
    throw new ConfigurationError(
      `--${durable} needs a state directory: give the output a file with -o, or name one with --state`,
    );
  }
  reporter.target(target);
  reporter.streaming();
  // There is no earlier run that these could differ from.
  const { decides: _decides, ...streamed } = shared;
  const connection = await connect(target, options, undefined, reporter.trouble);
  try {
    return await streamRun({ ...streamed, client: connection.client });
  } catch (error) {
    reporter.paidInVain();
    throw error;
  } finally {
    await connection.close();
  }
}

/** Verifies a list, with all that is needed to go on in a state directory. */
export async function runDurably(
  { shared, target, options, reporter, tell, lastAct }: Job,
  stateDir: string,
): Promise<Summary> {
  const { signal = new AbortController().signal } = shared;
  const person = { input: process.stdin, output: process.stderr };
  const launch = preflightOf(options, person, signal);
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
      person,
      signal,
    });
  }
  let connection: Connection | undefined;
  let isWritten = false;
  try {
    return await run({
      ...shared,
      // The local service's data are in the state directory: it starts when this process holds it.
      client: async (servicePath) => {
        connection = await connect(target, options, servicePath, reporter.trouble);
        return connection.client;
      },
      stateDir,
      ...whereGiven({
        waitLockMs: waitLockOf(options),
        onChange: choiceOption(options, 'on-change', onChangeWays),
      }),
      fresh: options.has('fresh'),
      moved: options.has('moved'),
      ...launch,
      detach: options.has('detach'),
      retryFailed: options.has('retry-failed'),
      partial: options.has('partial'),
      deleteBatches: options.has('delete-batches'),
      onSummary: async (summary) => {
        isWritten = true;
        await tell(summary);
      },
      beforeRemoval: async () => connection?.close(),
      lastAct,
    });
  } catch (error) {
    if (error instanceof Interruption) reporter.resumable();
    const isOutputs =
      isSluiceError(error, 'output_failed') || isSluiceError(error, 'invalid_option');
    if (isOutputs && !isWritten) {
      await tellWhereResultsAre(stateDir, reporter);
    }
    throw error;
  } finally {
    await connection?.close();
  }
}

/** An output that cannot be written need not keep anybody from what is paid for. */
async function tellWhereResultsAre(stateDir: string, reporter: Reporter): Promise<void> {
  const status = await readRunStatus(stateDir).catch(() => undefined);
  const { email = 0, phone = 0 } = status?.launchedCredits ?? {};
  if (email + phone > 0) reporter.resultsAreIn(stateDir);
}
