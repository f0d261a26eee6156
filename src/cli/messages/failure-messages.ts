import {
  isSluiceError,
  type RunStatus,
  type FilePermissions,
  type RunReports,
  type SharedStore,
} from '../../index.js';
import { Interruption, exitCodeOf, exitCodes } from '../process/exit-code.js';
import type { Reporter } from '../terminal/reporter.js';
import { message, type Message } from './message.js';
import { codeOf, errorText } from './describe-error.js';
import { statusFields } from './progress-messages.js';

/** @param status `undefined` where no state is kept */
function stopMessages(
  error: unknown,
  status: RunStatus | undefined,
  next: string,
  { store, output, program, isBegun = false }: RunContext,
): readonly Message[] {
  // Errors of commands and state directories say themselves what to do.
  if (exitCodeOf(error) === exitCodes.usage) {
    return status && !store ? keptMessages(error, status, output) : [];
  }
  if (!status) {
    if (store) return [message('resumable', { state: null, message: next })];
    return error instanceof Interruption && isBegun ? [message('not_resumable', {})] : [];
  }
  const { stateDir: state, launchedCredits } = status;
  const is_paid = launchedCredits.email + launchedCredits.phone > 0;
  return [
    message('so_far', statusFields(status)),
    message('resumable', { state, message: next }),
    // A person who stops a run may be done with it; a shared run may go on elsewhere.
    ...(!store && error instanceof Interruption
      ? [message('hint', { state, program, is_paid })]
      : []),
    // A shared run has no folder with results.
    ...(store ? [] : keptMessages(error, status, output)),
  ];
}

/** An output that cannot be written does not block access to paid results: reported also with `--quiet`. */
function keptMessages(error: unknown, status: RunStatus, output: string): readonly Message[] {
  // A usage error concerns the output only if it names it; a missing key does not.
  const isOutputs =
    isSluiceError(error, 'output_failed') ||
    (isSluiceError(error, 'invalid_option') && error.message.includes(output));
  const { stateDir, launchedCredits, isFinished } = status;
  if (!isOutputs || isFinished || launchedCredits.email + launchedCredits.phone === 0) return [];
  return [message('results_kept', { state: stateDir })];
}

/** A failed streaming run loses what it paid, others may not: reported also with `--quiet`. */
export function paidInVainMessages({
  batches,
  launched: { email: email_credits, phone: phone_credits },
}: ReturnType<Reporter['launched']>): readonly Message[] {
  return batches === 0 ? [] : [message('paid_in_vain', { batches, email_credits, phone_credits })];
}

/** What is learned about a run as it proceeds; incomplete where it stops. */
export interface RunState {
  /** Present for shared runs. */
  store?: SharedStore | undefined;
  /** Whether it has begun: before, it has nothing to lose. */
  isBegun?: boolean;
  /** Whether no state is kept. */
  isStreaming?: boolean;
  noMoreOpenThan?: FilePermissions | undefined;
}

export interface RunContext extends RunState {
  readonly input: string;
  readonly output: string;
  /** The command that runs this program again. */
  readonly program: string;
  /** Its state directory, or where it would be. */
  readonly stateDir: string | undefined;
}

export async function reportStopped(
  error: unknown,
  run: RunContext,
  reporter: Reporter,
  reports: RunReports,
): Promise<number> {
  const exitCode = exitCodeOf(error);
  reporter.failed(error);
  const launched = reporter.launched();
  const { input, output, noMoreOpenThan, isStreaming } = run;
  const end = { exit_code: exitCode, reason: reasonOf(error), message: messageOf(error) };
  const { unwritten, status, creditsBefore, next } = await reports.stopped(end, {
    input,
    output,
    noMoreOpenThan,
    ...whatIsKept(run, launched.launched),
  });
  reporter.report([
    ...unwritten.map((cause) =>
      message('no_report', { code: codeOf(cause), message: errorText(cause) }),
    ),
    ...(isStreaming ? [] : stopMessages(error, status, next, run)),
    ...(creditsBefore ? [message('credits_before', creditsBefore)] : []),
    // Without a state that can be read, only this process knows what it has launched.
    ...(isStreaming || !status ? paidInVainMessages(launched) : []),
  ]);
  // Where nothing was sent, the error is the last line.
  const hasNoRun = error instanceof Interruption && run.isBegun !== true && !status;
  if (exitCode !== exitCodes.usage && !hasNoRun) reporter.stopped(input, end);
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

/** The trace of a defect goes to standard error alone: it may contain anything. */
function messageOf(error: unknown): string {
  if (exitCodeOf(error) !== exitCodes.defect) return errorText(error);
  return 'this is a defect in Sluice; standard error has its trace';
}
