import {
  describeStatus,
  estimateRun,
  type DoubtfulColumn,
  type Estimate,
  type RunReports,
} from '../../index.js';
import { connect } from '../connect.js';
import { findStatus, paidAgain } from './confirm-discard.js';
import { type FieldsOf, message, type Message } from '../messages/message.js';
import { adviceMessages, trialMessages } from '../messages/end-messages.js';
import type { Job } from './run-list.js';
import { describeCredits } from '../../platform/text/shown-numbers.js';

const mostExamples = 3;
/** Reads and counts what a run would send, and says it: also when it is quiet, for it was asked for. */
export async function dryRun(
  job: Job,
  stateDir: string | undefined,
  reports: RunReports,
): Promise<Estimate> {
  const { estimate, more, doubtful } = await estimateJob(job, stateDir, reports);
  job.reporter.doubtful(doubtful);
  job.reporter.report([message('estimate', estimate), ...more]);
  return estimate;
}

export interface EstimatedJob {
  readonly estimate: Estimate;
  /** Cells that would be sent as something else, what to put right, and what is paid for twice. */
  readonly more: readonly Message[];
  /** Whether it writes an output again and pays for all addresses, whatever was paid for that. */
  readonly isPaidAgain: boolean;
  readonly doubtful: readonly DoubtfulColumn[];
}

export async function estimateJob(
  { shared, target, input: { options }, reporter, findPaid }: Job,
  stateDir: string | undefined,
  reports: RunReports,
): Promise<EstimatedJob> {
  reporter.target(target);
  const connection =
    target.kind === 'service'
      ? await connect(target, options, undefined, { onOutage: reporter.outage })
      : undefined;
  try {
    const examples = new Map<string, FieldsOf<'changed_cells'>['cells'][number]>();
    const doubtful: DoubtfulColumn[] = [];
    // A preview of cells is for the person who asks; logs hold none.
    const isShown = !options.has('quiet') && !options.has('json-log');
    const estimate = await estimateRun({
      ...shared,
      onDoubtfulColumns: (columns) => {
        doubtful.push(...columns);
        return true;
      },
      onChangedCell: ({ column, cell, submitted }) => {
        if (!isShown || examples.size >= mostExamples) return;
        examples.set(JSON.stringify([column, cell]), { column, cell, submitted });
      },
      ...(connection && { client: connection.client }),
    });
    const unfinished = stateDir === undefined ? undefined : await unfinishedRun(stateDir);
    const addresses = (estimate.email?.credits ?? 0) + (estimate.phone?.credits ?? 0);
    const paid = await findPaid();
    const isPaidAgain = paid !== undefined && unfinished === undefined && addresses > 0;
    const before = isPaidAgain ? paidAgain(paid, addresses) : unfinished;
    const more = [
      ...(examples.size === 0 ? [] : [message('changed_cells', { cells: [...examples.values()] })]),
      ...adviceMessages(reports.adviceOn(estimate), 'notice'),
      ...trialMessages(estimate, options.has('history'), 'notice'),
      ...(before === undefined ? [] : [before]),
    ];
    return { estimate, more, isPaidAgain, doubtful };
  } finally {
    await connection?.close();
  }
}

/** What is paid already is not paid again, and the estimate does not know of it. */
async function unfinishedRun(stateDir: string): Promise<Message | undefined> {
  const status = await findStatus(stateDir);
  if (!status || status.isFinished) return undefined;
  return message('unfinished_run', {
    state: stateDir,
    paid: describeCredits(status.launchedCredits) ?? null,
    next: describeStatus(status).next,
  });
}
