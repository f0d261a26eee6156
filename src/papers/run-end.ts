import { describeStatus } from '../runs/describe-status.js';
import type { RunStatus } from '../runs/run-status.js';
import { hasFailed, type Estimate, type RunEnd, type Summary } from '../runs/summary.js';
import { adviceOf, isNotFinished, type AdviceOptions } from './advice.js';

/** How a run ended that went to its end. */
export function endOf(figures: Summary | Estimate, options: AdviceOptions = {}): RunEnd {
  if ('dry_run' in figures) return { exit_code: 0, reason: null, message: null, next: null };
  const [next = null] = adviceOf(figures, options);
  if (figures.suspect) {
    const message = `too many verdicts are unknown: the output is untouched, the rows are in ${figures.output}`;
    return { exit_code: 8, reason: 'suspect', message, next };
  }
  if (!hasFailed(figures)) return { exit_code: 0, reason: null, message: null, next };
  return isNotFinished(figures)
    ? {
        exit_code: 3,
        reason: 'not_finished',
        message: 'the output is written, but some addresses are not finished',
        next,
      }
    : {
        exit_code: 3,
        reason: 'rows_failed',
        message: 'the output is written, but some rows failed',
        next,
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
export function nextAfter(exitCode: number, status: RunStatus | undefined, store?: string): string {
  if (exitCode === 2) return 'change what the message names, then run again';
  const unknown = store === undefined ? 'starts over' : `resumes ${store}`;
  const next = `run the same command again: it ${status ? describeStatus(status).next : unknown}`;
  const condition = conditions.get(exitCode);
  return condition === undefined ? next : `${condition}, ${next}`;
}
