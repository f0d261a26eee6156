import {
  describeStatus,
  isSluiceError,
  type RunStatus,
  type FilePermissions,
  type RunReports,
  type SharedStore,
} from '../../index.js';
import { shellQuote } from '../../platform/text/printable.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import { Interruption, exitCodeOf, exitCodes } from '../exit-code.js';
import type { Reporter } from '../terminal/reporter.js';
import { errorText } from './describe-error.js';
import { statusFields } from './progress-messages.js';
import type { Said } from './run-lines.js';

/**
 * What is said after the error that stopped a run: where the run is, and what to do.
 *
 * @param status of the run; `undefined` where nothing of it is kept
 */
function stopLines(
  error: unknown,
  {
    status,
    next,
    store,
    output,
    program,
  }: {
    readonly status: RunStatus | undefined;
    readonly next: string;
    /** Where other processes share the run. */
    readonly store?: string | undefined;
    /** Where the rows were to go, as messages call it. */
    readonly output: string;
    /** What a person types to run this program again. */
    readonly program: string;
  },
): readonly Said[] {
  // What is wrong with a command or a state directory, the error says with what to do.
  if (exitCodeOf(error) === exitCodes.usage) {
    return status && store === undefined ? keptLines(error, status, output) : [];
  }
  if (!status) {
    if (store !== undefined) return [{ event: 'resumable', line: next }];
    const line = 'no progress is saved: the same command starts from the beginning';
    return error instanceof Interruption ? [{ event: 'resumable', line }] : [];
  }
  const { stateDir } = status;
  const state = shellQuote(stateDir);
  const { email, phone } = status.launchedCredits;
  const lost = email + phone > 0 ? ', and what it has paid for' : '';
  const hint = `${program} status ${state} shows the run, ${program} abandon ${state} gives it up${lost}`;
  // Other processes may go on with it, and no folder has its results.
  const isOwn = store === undefined;
  return [
    {
      event: 'so_far',
      fields: statusFields(status),
      line: `so far: ${describeStatus(status).soFar}`,
    },
    {
      event: 'resumable',
      fields: { state: stateDir, message: next },
      line: next,
    },
    // Whoever stops a run may have done with it.
    ...(isOwn && error instanceof Interruption ? [{ event: 'hint', line: hint }] : []),
    ...(isOwn ? keptLines(error, status, output) : []),
  ];
}

/** An output that cannot be written need not keep anybody from what is paid for: said even when quiet. */
function keptLines(error: unknown, status: RunStatus, output: string): readonly Said[] {
  // Of a wrong option only one that names the output is of it: a missing key is not.
  const isOutputs =
    isSluiceError(error, 'output_failed') ||
    (isSluiceError(error, 'invalid_option') && error.message.includes(output));
  const { stateDir, launchedCredits, isFinished } = status;
  if (!isOutputs || isFinished || launchedCredits.email + launchedCredits.phone === 0) return [];
  return [
    {
      event: 'results_kept',
      fields: { state: stateDir },
      line: `what was paid is kept in ${stateDir}: to write it elsewhere, add --state ${stateDir} and give another -o`,
      isUrgent: true,
    },
  ];
}

/** A run that streams has failed: what it paid is lost, and said even when quiet. */
export function paidInVainLines({
  batches,
  launched,
}: {
  readonly batches: number;
  readonly launched: RunStatus['launchedCredits'];
}): readonly Said[] {
  if (batches === 0) return [];
  return [
    {
      event: 'paid_in_vain',
      fields: { batches, email_credits: launched.email, phone_credits: launched.phone },
      line: `launched before it failed: ${counted(batches, 'batch')}, ${grouped(launched.email)} email and ${counted(launched.phone, 'phone credit')} before refunds`,
      isUrgent: true,
    },
  ];
}

/** What is known of a run while it goes; a run that stops has not come to all of it. */
export interface RunContext {
  readonly input: string;
  readonly output: string;
  /** Its state directory, or where one is likely to be. */
  stateDir: string | undefined;
  /** Where other processes share it; `undefined` where none do. */
  store: SharedStore | undefined;
  /** Whether it keeps nothing. */
  isStreaming: boolean;
  noMoreOpenThan: FilePermissions | undefined;
}

/**
 * Says why a run stopped, what it has come to and what to do, and writes its reports.
 *
 * @returns the exit code
 */
export async function sayStopped(
  error: unknown,
  run: RunContext,
  {
    reporter,
    reports,
    program,
  }: {
    readonly reporter: Reporter;
    readonly reports: RunReports;
    /** What a person types to run this program again. */
    readonly program: string;
  },
): Promise<number> {
  const exitCode = exitCodeOf(error);
  reporter.failed(error);
  const { batches, launched } = reporter.launched();
  const { input, output, noMoreOpenThan } = run;
  const end = { exit_code: exitCode, reason: reasonOf(error), message: messageOf(error) };
  const { unwritten, ...stopped } = await reports.stopped(end, {
    input,
    output,
    noMoreOpenThan,
    ...whatIsKept(run, launched),
  });
  reporter.tell([
    ...unwritten.map((cause) => ({ event: 'no_papers', line: errorText(cause), isWarning: true })),
    ...(run.isStreaming
      ? []
      : stopLines(error, { ...stopped, store: run.store?.name, output, program })),
    // Nothing can be read of a run whose state is gone.
    ...(run.isStreaming || (stopped.status === undefined && run.store === undefined)
      ? paidInVainLines({ batches, launched })
      : []),
  ]);
  // Where nothing was sent, the message is the last line.
  if (exitCode !== exitCodes.usage) reporter.stopped(input, end);
  return exitCode;
}

function whatIsKept(
  { isStreaming, store, stateDir }: RunContext,
  launchedCredits: RunStatus['launchedCredits'],
): Partial<Pick<Parameters<RunReports['stopped']>[1], 'stateDir' | 'store' | 'launchedCredits'>> {
  if (store) return { store, launchedCredits };
  return isStreaming ? { launchedCredits } : { stateDir };
}

function reasonOf(error: unknown): string {
  if (isSluiceError(error)) return error.code;
  if (!(error instanceof Interruption)) return 'defect';
  return error.exitCode === 130 ? 'interrupted' : 'terminated';
}

/** The trace of a defect is for standard error: who knows what is in it. */
function messageOf(error: unknown): string {
  if (exitCodeOf(error) !== exitCodes.defect) return errorText(error);
  return 'this is a defect in Sluice; standard error has its trace';
}
