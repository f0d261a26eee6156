import { verificationTypes } from '../contract/enums.js';
import type { RunStatus } from '../engine/stores/run-status.js';
import { type Estimate, hasFailed, type RunEnd, type Summary } from '../engine/summary/summary.js';
import { adviceOf, dutiesOf, isNotFinished } from './advice.js';
import { adviceOnEstimate } from './cell-advice.js';
import type { AdviceOptions } from './report-options.js';
import type { Advice } from './sentences/advice-catalogue.js';
import {
  type Condition,
  conditionOfCredits,
  runSentence,
  type RunSentence,
} from './sentences/run-sentences.js';

export function adviceOn(
  figures: Summary | Estimate,
  options: AdviceOptions = {},
): readonly Advice[] {
  return 'dry_run' in figures ? adviceOnEstimate(figures) : adviceOf(figures, options);
}

export function endOf(figures: Summary | Estimate, options: AdviceOptions = {}): RunEnd {
  const advice = adviceOn(figures, options).map(({ message }) => message);
  if ('dry_run' in figures) {
    return { exit_code: 0, reason: null, message: null, next: null, advice };
  }
  // Hints about the list are no reason to wake anybody.
  const next = dutiesOf(figures, options)[0]?.message ?? null;
  if (figures.suspect) {
    const { output, max_unknown: most = 0 } = figures;
    const types = verificationTypes.flatMap((type) => {
      const { unknown } = figures[type]?.verdicts ?? { unknown: 0 };
      const { verified } = figures[type]?.buckets ?? { verified: 0 };
      return unknown * 100 > verified * most ? [{ type, unknown, verified }] : [];
    });
    const { message } = runSentence('suspect', { output, max_unknown: most, types });
    return { exit_code: 8, reason: 'suspect', message, next, advice };
  }
  if (!hasFailed(figures)) return { exit_code: 0, reason: null, message: null, next, advice };
  const { code: reason, message } = runSentence(
    isNotFinished(figures) ? 'not_finished' : 'rows_failed',
    {},
  );
  return { exit_code: 3, reason, message, next, advice };
}

/** An unfinished run as text. */
export interface DescribedRun {
  /** Its progress: `6 of 18 batches done, 2 being verified, at most 240,000 email credits spent`. */
  readonly soFar: string;
  /** What the same command does next. */
  readonly next: string;
}

/**
 * Describes a stopped or running run, and what is left of it.
 *
 * @example
 * ```ts
 * const status = await readRunStatus('verified.csv.sluice').catch(() => undefined);
 * if (status) console.log(describeStatus(status).soFar, describeStatus(status).next);
 * ```
 */
export function describeStatus(status: RunStatus): DescribedRun {
  return { soFar: soFar(status).message, next: nextOf(status).message };
}

const noCredits = { email: 0, phone: 0 };

export function soFar(status: RunStatus): RunSentence {
  const { rows, batches, done, inDoubt, isFinished } = status;
  const { launchedCredits: launched, doubtfulCredits } = status;
  // Processes at work await the answers.
  const isAwaited = 'state' in status && status.state === 'working';
  const doubtful = isAwaited ? noCredits : doubtfulCredits;
  if (isFinished) return runSentence('status_written', { launched, doubtful });
  if (rows === null) return runSentence('status_unread', { launched, doubtful });
  const verified = status.stages['done'] ?? 0;
  const verifying = status.running - inDoubt - verified;
  const open = isAwaited
    ? { launching: inDoubt, in_doubt: 0 }
    : { launching: 0, in_doubt: inDoubt };
  const places = { done, batches, verifying, verified, ...open };
  return runSentence('status_underway', { ...places, launched, doubtful });
}

export function nextOf(status: RunStatus): RunSentence {
  const { rows, batches, done, running, inDoubt, openCredits, isFinished, retry, stopped } = status;
  if (isFinished && !status.isEnded) return runSentence('reports', {});
  if (isFinished) {
    const { exports, addresses, paidTwice: paid_twice } = retry;
    return runSentence('retries', { exports, addresses, paid_twice });
  }
  if (rows === null) return runSentence('starts_over', {});
  return runSentence('goes_on', {
    // The processes of a shared run leave what has failed.
    paid_batches: running - inDoubt + ('workers' in status ? 0 : retry.exports),
    in_doubt: inDoubt,
    waiting: batches - done - running,
    open_credits: openCredits,
    condition: lackingOf(stopped?.code, 'workers' in status ? undefined : status) ?? null,
    enough: enoughCredits(status),
  });
}

/** The `maxCredits` that is enough for all of the run. */
function enoughCredits({ budgetCredits: used, openCredits: open }: RunStatus): number {
  return Math.max(used.email + open.email, used.phone + open.phone);
}

/** @param status of a run whose batch size may change */
function lackingOf(
  reason: string | null | undefined,
  status: RunStatus | undefined,
): Condition | undefined {
  const condition = conditionOfCredits(reason);
  if (condition !== 'higher_budget' || !status) return condition;
  const { email, phone } = status.launchedCredits;
  return email + phone === 0 ? 'budget_for_a_batch' : condition;
}

/** What is needed before the same command can continue, by exit code. */
const conditions: ReadonlyMap<number, Condition> = new Map([
  [4, 'accepted_key'],
  [6, 'fixed'],
  [7, 'working_service'],
]);

/** What to do after a run that stopped, and what the same command then does. */
export function nextAfter(
  { exit_code: exitCode, reason }: Pick<RunEnd, 'exit_code' | 'reason'>,
  status: RunStatus | undefined,
  {
    store,
    maxCredits,
  }: { readonly store?: string | undefined; readonly maxCredits?: number | undefined } = {},
): RunSentence {
  if (reason === 'state_locked') return runSentence('wait_for_lock', {});
  if (reason === 'input_suspect') return runSentence('check_list', {});
  if (exitCode === 2) return runSentence('change_command', {});
  const unread = () =>
    store === undefined ? runSentence('starts_over', {}) : runSentence('resumes', { store });
  // The condition is said in front.
  const { message: next } = status ? nextOf({ ...status, stopped: null }) : unread();
  const mayShrink = store === undefined && maxCredits !== 0;
  const condition = conditionOf(exitCode, reason, mayShrink ? status : undefined);
  const enough = status && status.rows !== null ? enoughCredits(status) : null;
  return runSentence('repeat', { condition, enough, next });
}

function conditionOf(
  exitCode: number,
  reason: string | null,
  status: RunStatus | undefined,
): Condition | null {
  if (reason === 'input_malformed') return 'right_list';
  if (reason === 'processes_lost') return 'processes_looked_at';
  if (reason === 'store_restored') return null;
  return lackingOf(reason, status) ?? conditions.get(exitCode) ?? null;
}
