import {
  readRunStatus,
  type SharedStore,
  describeStatus,
  estimateRun,
  type DoubtfulColumn,
  type Estimate,
  type RunReports,
} from '../../index.js';
import { omitUndefined } from '../command.js';
import { connect } from '../connect.js';
import { trialMessages, adviceMessages } from '../messages/end-messages.js';
import { message, type FieldsOf, type Message } from '../messages/catalogue.js';
import { progressMessage } from '../messages/progress-messages.js';
import { keepMessages } from '../endpoints/output.js';
import { isAskedAboutPaid, paidAgain } from './paid-again.js';
import { droppedMessage, findStatus } from './questions.js';
import { givenOptionsOfKeptRuns } from '../options/library-options.js';
import type { Job } from './prepare-job.js';
import { describeCredits } from '../../platform/text/shown-numbers.js';

const mostExamples = 3;

interface RunPlace {
  readonly stateDir: string | undefined;
  readonly store?: SharedStore | undefined;
}

export interface EstimateForm {
  /** Whether the service is not asked for the balance. @default false */
  readonly isOffline?: boolean;
  /** Whether `--country-from` is given, and not assumed to count the list. @default true */
  readonly namesCodes?: boolean;
  /** Whether `--suppress` is given, and not proposed. @default true */
  readonly namesLists?: boolean;
}

/** Reads and counts what a run would send; reported also with `--quiet`, as it was asked for. */
export async function dryRun(job: Job, place: RunPlace, reports: RunReports): Promise<Estimate> {
  const { estimate, more, before, doubtful, isReplaced } = await estimateJob(job, place, reports);
  const shared = place.store && !isReplaced ? await sharedRun(place.store) : [];
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
  /** Whether another run takes the place of the shared one. */
  readonly isReplaced: boolean;
}

/** Of both types: `from_history` are those that a history has results of. */
export function totalOf(
  { estimate: { email, phone } }: { readonly estimate: Estimate },
  what: 'addresses' | 'credits' | 'from_history',
): number {
  return (email?.[what] ?? 0) + (phone?.[what] ?? 0);
}

export async function estimateJob(
  { shared, target, input: { options }, reporter, findPaid, findElsewhere, rowsBefore }: Job,
  { stateDir, store }: RunPlace,
  reports: RunReports,
  { isOffline = false, namesCodes = true, namesLists = true }: EstimateForm = {},
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
    let isReplaced = false;
    const { fresh, onChange, moved, retryFailed, partial, minRows, maxShrink } =
      givenOptionsOfKeptRuns(options);
    // Cells are previewed only to the person at the terminal; logs hold none.
    const isShown = !options.has('quiet') && !options.has('json-log');
    const estimate = await estimateRun({
      ...shared,
      onProgress: (progress) => {
        const isOfEmails = progress.stage === 'notice' && progress.code === 'emails_of_countries';
        const isUnnamed =
          progress.stage === 'notice' &&
          ((!namesCodes && progress.code === 'no_calling_codes') ||
            (!namesLists && progress.code === 'nothing_suppressed'));
        if (isUnnamed) return;
        if (progress.stage === 'notice' && progress.code === 'budget_short') {
          const { type, used, smallest, allowed } = progress.fields;
          if (Number(used) + Number(smallest) > Number(allowed)) unaffordable.add(String(type));
        }
        if (progress.stage === 'notice' && progress.code === 'run_replaced') isReplaced = true;
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
      ...omitUndefined({ minRows, maxShrink }),
      rowsBefore,
    });
    const unfinished = await unfinishedRun(estimate, stateDir);
    const addresses = totalOf({ estimate }, 'credits');
    const paid = await findPaid();
    const known = totalOf({ estimate }, 'from_history');
    const hasPaid = describeCredits(estimate.unfinished?.paid ?? { email: 0, phone: 0 });
    const isPaidNow = paid !== undefined && hasPaid === undefined && addresses > 0 && known === 0;
    const elsewhere = addresses > 0 ? await findElsewhere(stateDir) : [];
    const isDropped = options.has('fresh') && stateDir !== undefined;
    const old = isDropped ? await findStatus(stateDir) : undefined;
    const dropped = old && droppedMessage('--fresh', old);
    const before = [
      ...keepMessages(options, estimate.columns),
      ...emails,
      ...(dropped ? [dropped] : []),
      ...(isPaidNow ? [paidAgain(paid, addresses, !isAskedAboutPaid(options))] : []),
      ...(unfinished ? [unfinished] : []),
      ...elsewhere,
    ];
    const isPaidAgain = isPaidNow || elsewhere.length > 0;
    const more = [
      ...changed.messages(),
      ...adviceMessages(reports.adviceOn(estimate), 'notice'),
      ...trialMessages(estimate, options.has('history'), 'notice'),
    ];
    const types = (['email', 'phone'] as const).filter((type) => estimate[type]?.credits);
    // A resumed run collects what it has launched.
    const launchesNothing =
      !estimate.unfinished && types.length > 0 && types.every((type) => unaffordable.has(type));
    return { estimate, more, before, isPaidAgain, launchesNothing, doubtful, isReplaced };
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
