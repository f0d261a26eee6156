import { describeStatus } from '../runs/describe-status.js';
import type { RunStatus } from '../runs/run-status.js';
import { hasFailed, type Estimate, type RunEnd, type Summary } from '../runs/summary.js';

/** How a run ended that went to its end. */
export function endOf(figures: Summary | Estimate): RunEnd {
  if ('dry_run' in figures) return { exit_code: 0, reason: null, message: null, next: null };
  if (figures.suspect) {
    return {
      exit_code: 8,
      reason: 'suspect',
      message: `too many verdicts are unknown: the output is untouched, the rows are in ${figures.output}`,
      next: 'the next run starts over; what a history (--history) knows is not paid again',
    };
  }
  if (!hasFailed(figures)) return { exit_code: 0, reason: null, message: null, next: null };
  const isPartial = [figures.email, figures.phone].some(
    (type) => (type?.reasons['not_finished'] ?? 0) > 0,
  );
  return isPartial
    ? {
        exit_code: 3,
        reason: 'not_finished',
        message: 'the output is written, and some addresses are not finished',
        next: 'run the same command again: it goes on and completes the output',
      }
    : {
        exit_code: 3,
        reason: 'rows_failed',
        message: 'the output is written, and some rows are failed',
        next: 'add --retry-failed to send again only what failed; without it the next run starts over',
      };
}

/** What has to be there before the same command gets further. */
const conditions: ReadonlyMap<number, string> = new Map([
  [4, 'once the key is accepted'],
  [5, 'once there are credits, or a higher --max-credits'],
  [6, 'once that is fixed'],
  [7, 'once the service answers'],
]);

/** What to do after a run that stopped, and what the same command will do then. */
export function nextAfter(exitCode: number, status: RunStatus | undefined): string {
  if (exitCode === 2) return 'change what the message names, then run again';
  const next = `run the same command again: it ${status ? describeStatus(status).next : 'starts over'}`;
  const condition = conditions.get(exitCode);
  return condition === undefined ? next : `${condition}, ${next}`;
}
