import { describeStart, describeStatus, isSluiceError, type RunStatus } from '../../index.js';
import { Interruption, exitCodeOf, exitCodes } from '../exit-code.js';
import type { Said } from './run-lines.js';
import { shellQuote } from '../../platform/text/shell-quote.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';

/** What an unfinished run has come to, before it goes on. */
export function goingOnLine(status: RunStatus): Said {
  return {
    event: 'going_on',
    fields: fieldsOf(status),
    line: `resuming the run of ${describeStart(status)}: ${describeStatus(status).soFar}`,
  };
}

/**
 * What is said after the error that stopped a run: where the run is, and what to do.
 *
 * @param status of the run; `undefined` where nothing of it is kept
 */
export function stopLines(
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
  if (exitCodeOf(error) === exitCodes.usage) return status ? keptLines(error, status, output) : [];
  if (store !== undefined) return [{ event: 'resumable', line: next }];
  if (!status) {
    const line = 'nothing is kept of this run: the same command starts over';
    return error instanceof Interruption ? [{ event: 'resumable', line }] : [];
  }
  const { stateDir } = status;
  const state = shellQuote(stateDir);
  const hint = `${program} status ${state} shows the run, ${program} abandon ${state} gives it up`;
  return [
    { event: 'so_far', fields: fieldsOf(status), line: `so far: ${describeStatus(status).soFar}` },
    {
      event: 'resumable',
      fields: { state: stateDir, message: next },
      line: next,
    },
    // Whoever stops a run may have done with it.
    ...(error instanceof Interruption ? [{ event: 'hint', line: hint }] : []),
    ...keptLines(error, status, output),
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

function fieldsOf({
  stateDir,
  startedAt,
  batches,
  done,
  running,
  inDoubt,
  launchedCredits,
  doubtfulCredits,
}: RunStatus): Record<string, unknown> {
  return {
    state: stateDir,
    started_at: startedAt,
    batches,
    done,
    running,
    in_doubt: inDoubt,
    email_credits: launchedCredits.email,
    phone_credits: launchedCredits.phone,
    doubtful_email_credits: doubtfulCredits.email,
    doubtful_phone_credits: doubtfulCredits.phone,
  };
}
