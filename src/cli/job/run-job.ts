import { ConfigurationError, run, type SharedStore, streamRun, type Summary } from '../../index.js';
import {
  omitUndefined,
  type OptionDefinition,
  type ParsedOptions,
  programName,
} from '../command.js';
import { connect, type Connection } from '../connect.js';
import { mayHoldPassword } from '../endpoints/locations.js';
import { trialMessages } from '../messages/end-messages.js';
import { message } from '../messages/catalogue.js';
import { jsonLogOption } from '../options/config-file.js';
import { waitLockOption } from '../options/store-options.js';
import {
  agreeBesideOthers,
  isAskedAboutPaid,
  type PaidOutput,
  withPaidAgain,
} from './paid-again.js';
import { askAboutCarrying, preflightOf, dropOldRun } from './questions.js';
import { givenOptionsOfKeptRuns } from '../options/library-options.js';
import { checkRules } from '../options/option-types.js';
import { verifyOptions } from '../options/verify-options.js';
import type { Job } from './prepare-job.js';

/** A signal that also aborts when the work beside the run fails. */
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
  const losesPaid = target.kind === 'service' && !options.has('history');
  reporter.report([message('streaming', { output, loses_paid: losesPaid })]);
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

const definitions: readonly OptionDefinition[] = [...verifyOptions, jsonLogOption];

/** What a command that resumes the run decides again; where the output is, the run knows. */
const notResumed: ReadonlySet<string> = new Set([
  'output',
  ...definitions.filter(({ decides }) => decides === 'this process').map(({ name }) => name),
]);

/** The options that whoever resumes the run gives again; what may hold a password is not written down. */
function optionsToResume(options: Pick<ParsedOptions, 'given'>): [string, string | true | null][] {
  return options
    .given()
    .flatMap(([name, values]) =>
      notResumed.has(name)
        ? []
        : values.map((value): [string, string | true | null] => [
            name,
            value !== true && mayHoldPassword(value) ? null : value,
          ]),
    );
}

/** Verifies a list with a state directory. */
export async function runDurably(job: Job, stateDir: string): Promise<Summary> {
  const { shared, target, person, reporter, rowsBefore } = job;
  const { options, lastAct } = job.input;
  const { signal, onFailure } = failingSignal(shared.signal);
  const dialogue = { person, reporter, signal };
  const launch = preflightOf(options, dialogue);
  reporter.target(target);
  const isAsked = isAskedAboutPaid(options);
  await agreeBesideOthers(await job.findElsewhere(stateDir), !isAsked, dialogue);
  if (options.has('fresh')) await dropOldRun(stateDir, { target, options, ...dialogue });
  let connection: Connection | undefined;
  let paid: PaidOutput | undefined;
  try {
    return await run({
      ...shared,
      signal,
      onProgress: withPaidAgain(shared.onProgress, () => paid, { reporter, isAgreed: !isAsked }),
      // The local service's data are in the state directory: it starts once this process holds it.
      client: async (servicePath) => {
        await job.begin();
        // The process that held it before may have written the output.
        paid = await job.findPaid();
        connection = await connect(target, options, servicePath, {
          onOutage: reporter.outage,
          onFailure,
        });
        return connection.client;
      },
      stateDir,
      command: optionsToResume(options),
      ...givenOptionsOfKeptRuns(options),
      ...options.libraryValues([waitLockOption]),
      ...launch,
      ...askAboutCarrying(options, dialogue),
      rowsBefore,
      onSummary: job.reportSummary,
      beforeRemoval: async () => connection?.close(),
      lastAct,
    });
  } finally {
    await connection?.close();
  }
}

export async function runShared(
  { shared, target, input, person, reporter, findPaid, rowsBefore, begin, reportSummary }: Job,
  {
    store,
    isHeldBack,
    workers,
  }: {
    readonly store: SharedStore;
    readonly isHeldBack: boolean;
    /** Processes started once the run is begun, and ended with it. @default none */
    readonly workers?: { start(): void; stop(): Promise<void> };
  },
): Promise<void> {
  if (target.kind === 'local') {
    throw new ConfigurationError(
      `--store needs a service that all processes can reach: set SLUICE_BASE_URL and SLUICE_API_KEY (${programName(input)} serve starts a local one)`,
      { option: 'baseUrl', fault: 'missing' },
    );
  }
  if (!isHeldBack) {
    throw new ConfigurationError(
      'with --store the output is a file, a folder of parts, a table or an s3:// URL, which appears whole: name one with -o',
      { option: 'sink' },
    );
  }
  const { options, signal } = input;
  const launch = preflightOf(options, { person, reporter, signal });
  reporter.target(target);
  const paid = await findPaid();
  let connection: Connection | undefined;
  const isAgreed = !isAskedAboutPaid(options);
  const onProgress = withPaidAgain(shared.onProgress, () => paid, { reporter, isAgreed });
  try {
    await run({
      ...shared,
      // The reports of a finished run stay.
      client: async () => {
        await begin();
        connection = await connect(target, options, undefined, { onOutage: reporter.outage });
        return connection.client;
      },
      onProgress: (progress) => {
        onProgress(progress);
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
