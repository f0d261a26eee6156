import {
  ConfigurationError,
  readRunStatus,
  run,
  type SharedStore,
  streamRun,
  type Summary,
  describeStatus,
  estimateRun,
  type DoubtfulColumn,
  type Estimate,
  type RunReports,
} from '../../index.js';
import { omitUndefined, programName } from '../command.js';
import { connect, type Connection } from '../connect.js';
import { trialMessages, adviceMessages } from '../messages/end-messages.js';
import { message, type FieldsOf, type Message } from '../messages/catalogue.js';
import { progressMessage } from '../messages/progress-messages.js';
import { keepMessages } from '../endpoints/output.js';
import { waitLockOption } from '../options/store-options.js';
import {
  agreeBesideOthers,
  isAskedAboutPaid,
  paidAgain,
  type PaidOutput,
  withPaidAgain,
} from './paid-again.js';
import {
  askAboutCarrying,
  preflightOf,
  droppedMessage,
  dropOldRun,
  findStatus,
} from './questions.js';
import { givenOptionsOfKeptRuns } from '../options/library-options.js';
import { checkRules } from '../options/option-types.js';
import { verifyOptions } from '../options/verify-options.js';
import type { Job } from './prepare-job.js';
import { describeCredits } from '../../platform/text/shown-numbers.js';

const mostExamples = 3;

/** Reads and counts what a run would send; reported also with `--quiet`, as it was asked for. */
export async function dryRun(
  job: Job,
  place: { readonly stateDir?: string | undefined; readonly store?: SharedStore | undefined },
  reports: RunReports,
): Promise<Estimate> {
  const { estimate, more, before, doubtful } = await estimateJob(job, place, reports);
  const shared = place.store ? await sharedRun(place.store) : [];
  job.reporter.doubtful(doubtful);
  job.reporter.report([message('estimate', estimate), ...more, ...before, ...shared]);
  return estimate;
}

/** The list is not compared with it. Of a store that does not answer the estimate has given notice. */
async function sharedRun(store: SharedStore): Promise<readonly Message[]> {
  const status = await readRunStatus(store).catch(() => undefined);
  if (!status) return [];
  const { name } = store;
  if (status.isFinished) return [message('already_finished', { name })];
  const { soFar, next } = describeStatus(status);
  const { startedAt, launchedCredits } = status;
  return [
    message('shared_run', {
      name,
      started_at: startedAt,
      email_credits: launchedCredits.email,
      phone_credits: launchedCredits.phone,
      so_far: soFar,
      next,
    }),
  ];
}

type ChangedCell = FieldsOf<'changed_cells'>['cells'][number];

export interface EstimatedJob {
  readonly estimate: Estimate;
  /** Cells sent as something else, and what to correct. */
  readonly more: readonly Message[];
  /** What to know before it starts: rows left out, what is paid for twice, an unfinished run. */
  readonly before: readonly Message[];
  /** Whether it pays for all addresses of an output, or for those of another run, again. */
  readonly isPaidAgain: boolean;
  /** Whether `--max-credits` has no room for any batch of it. */
  readonly launchesNothing: boolean;
  readonly doubtful: readonly DoubtfulColumn[];
}

export async function estimateJob(
  { shared, target, input: { options }, reporter, findPaid, findElsewhere }: Job,
  {
    stateDir,
    store,
    isOffline = false,
  }: {
    readonly stateDir?: string | undefined;
    readonly store?: SharedStore | undefined;
    /** Whether the service is not asked for the balance. @default false */
    readonly isOffline?: boolean;
  },
  reports: RunReports,
): Promise<EstimatedJob> {
  reporter.target(target);
  const connection =
    target.kind === 'service' && !isOffline
      ? await connect(target, options, undefined, { onOutage: reporter.outage })
      : undefined;
  try {
    const changed = new ChangedCells();
    const doubtful: DoubtfulColumn[] = [];
    // The guide counts a list several times, and shows the last count.
    const emails: Message[] = [];
    const unaffordable = new Set<string>();
    const { fresh, onChange, moved, retryFailed, partial } = givenOptionsOfKeptRuns(options);
    // Cells are previewed only to the person at the terminal; logs hold none.
    const isShown = !options.has('quiet') && !options.has('json-log');
    const estimate = await estimateRun({
      ...shared,
      onProgress: (progress) => {
        const isOfEmails = progress.stage === 'notice' && progress.code === 'emails_of_countries';
        if (progress.stage === 'notice' && progress.code === 'budget_short') {
          const { type, used, smallest, allowed } = progress.fields;
          if (Number(used) + Number(smallest) > Number(allowed)) unaffordable.add(String(type));
        }
        if (isOfEmails) emails.push(progressMessage(progress));
        else shared.onProgress?.(progress);
      },
      onDoubtfulColumns: (columns) => {
        doubtful.push(...columns);
        return true;
      },
      onChangedCell: (cell) => {
        if (isShown) changed.add(cell);
      },
      ...(connection && { client: connection.client }),
      ...(target.kind === 'service' && { serviceName: target.baseUrl }),
      ...omitUndefined({ stateDir, store, fresh, onChange, moved, retryFailed, partial }),
    });
    const unfinished = await unfinishedRun(estimate, stateDir);
    const addresses = (estimate.email?.credits ?? 0) + (estimate.phone?.credits ?? 0);
    const paid = await findPaid();
    const known = (estimate.email?.from_history ?? 0) + (estimate.phone?.from_history ?? 0);
    const hasPaid = describeCredits(estimate.unfinished?.paid ?? { email: 0, phone: 0 });
    const isReplaced = paid !== undefined && hasPaid === undefined && addresses > 0 && known === 0;
    const elsewhere = addresses > 0 ? await findElsewhere(stateDir) : [];
    const isDropped = options.has('fresh') && stateDir !== undefined;
    const old = isDropped ? await findStatus(stateDir) : undefined;
    const dropped = old && droppedMessage('--fresh', old);
    const before = [
      ...keepMessages(options, estimate.columns),
      ...emails,
      ...(dropped ? [dropped] : []),
      ...(isReplaced ? [paidAgain(paid, addresses)] : []),
      ...(unfinished ? [unfinished] : []),
      ...elsewhere,
    ];
    const isPaidAgain = isReplaced || elsewhere.length > 0;
    const more = [
      ...changed.messages(),
      ...adviceMessages(reports.adviceOn(estimate), 'notice'),
      ...trialMessages(estimate, options.has('history'), 'notice'),
    ];
    const types = (['email', 'phone'] as const).filter((type) => estimate[type]?.credits);
    // A resumed run collects what it has launched.
    const launchesNothing =
      !estimate.unfinished && types.length > 0 && types.every((type) => unaffordable.has(type));
    return { estimate, more, before, isPaidAgain, launchesNothing, doubtful };
  } finally {
    await connection?.close();
  }
}

/** Examples of cells that are sent as something else. */
class ChangedCells {
  readonly #examples = new Map<string, ChangedCell>();

  add({ column, cell, submitted }: ChangedCell): void {
    const isTrimmed = cell.trim() === submitted;
    // One for each calling code of a column.
    const like = JSON.stringify([column, /^\+(?:1|7|\d\d)/.exec(submitted)?.[0]]);
    if (isTrimmed || this.#examples.has(like) || this.#examples.size >= mostExamples) return;
    this.#examples.set(like, { column, cell, submitted });
  }

  messages(): readonly Message[] {
    const cells = [...this.#examples.values()];
    return cells.length === 0 ? [] : [message('changed_cells', { cells })];
  }
}

async function unfinishedRun(
  { unfinished }: Estimate,
  stateDir = '',
): Promise<Message | undefined> {
  if (!unfinished) return undefined;
  const { paid, ...judged } = unfinished;
  const status = judged.action === 'resume' ? await findStatus(stateDir) : undefined;
  return message('unfinished_run', {
    ...judged,
    state: stateDir,
    paid: describeCredits(paid) ?? null,
    next: status ? describeStatus({ ...status, stopped: null }).next : null,
  });
}

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
      onProgress: withPaidAgain(shared.onProgress, () => paid, reporter),
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
  const onProgress = withPaidAgain(shared.onProgress, () => paid, reporter);
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
