import {
  isSluiceError,
  type FilePermissions,
  type RunPapers,
  type RunStatus,
  type SharedStore,
} from '../../index.js';
import { errorText } from './describe-error.js';
import { exitCodeOf, exitCodes, Interruption } from '../exit-code.js';
import type { Reporter } from '../terminal/reporter.js';
import { paidInVainLines, stopLines } from './failure-messages.js';

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
 * Says why a run stopped, what it has come to and what to do, and writes its papers.
 *
 * @returns the exit code
 */
export async function sayStopped(
  error: unknown,
  run: RunContext,
  {
    reporter,
    papers,
    program,
  }: {
    readonly reporter: Reporter;
    readonly papers: RunPapers;
    /** What a person types to run this program again. */
    readonly program: string;
  },
): Promise<number> {
  const exitCode = exitCodeOf(error);
  reporter.failed(error);
  const { batches, launched } = reporter.launched();
  const { input, output, noMoreOpenThan } = run;
  const end = { exit_code: exitCode, reason: reasonOf(error), message: messageOf(error) };
  const { unwritten, ...stopped } = await papers.stopped(end, {
    input,
    output,
    noMoreOpenThan,
    ...whatIsKept(run, launched),
  });
  reporter.tell([
    ...unwritten.map((cause) => ({ event: 'no_papers', line: errorText(cause), isWarning: true })),
    ...(run.isStreaming
      ? paidInVainLines({ batches, launched })
      : stopLines(error, { ...stopped, store: run.store?.name, output, program })),
  ]);
  // Where nothing was sent, the message is the last line.
  if (exitCode !== exitCodes.usage) reporter.stopped(input, end);
  return exitCode;
}

function whatIsKept(
  { isStreaming, store, stateDir }: RunContext,
  launchedCredits: RunStatus['launchedCredits'],
): Partial<Pick<Parameters<RunPapers['stopped']>[1], 'stateDir' | 'store' | 'launchedCredits'>> {
  if (store) return { store: store.name, launchedCredits };
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
