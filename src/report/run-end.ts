import { describeStatus } from '../engine/runs/reporting/describe-status.js';
import type { RunStatus } from '../engine/stores/run-status.js';
import { type Estimate, hasFailed, type RunEnd, type Summary } from '../engine/summary/summary.js';
import type { Sink } from '../lists/rows/sink.js';
import { withMembers } from '../lists/rows/port-checks.js';
import { optionName } from '../platform/text/option-name.js';
import { adviceOf, dutiesOf, isNotFinished } from './advice.js';
import { adviceOnEstimate, type AdviceOptions } from './cell-advice.js';
import { ListFigures } from './page/list-figures.js';
import { type Advice, remedyForCredits } from './sentences/advice-catalogue.js';

/** What can be done after a run, or before one. */
export function adviceOn(
  figures: Summary | Estimate,
  options: AdviceOptions = {},
): readonly Advice[] {
  return 'dry_run' in figures ? adviceOnEstimate(figures) : adviceOf(figures, options);
}

/** How a run ended that went to its end. */
export function endOf(figures: Summary | Estimate, options: AdviceOptions = {}): RunEnd {
  const advice = adviceOn(figures, options).map(({ message }) => message);
  if ('dry_run' in figures) {
    return { exit_code: 0, reason: null, message: null, next: null, advice };
  }
  // What can be put right in the list is no reason to wake anybody.
  const next = dutiesOf(figures, options)[0]?.message ?? null;
  if (figures.suspect) {
    const message = `too many verdicts are unknown: the output is untouched, the rows are in ${figures.output}`;
    return { exit_code: 8, reason: 'suspect', message, next, advice };
  }
  if (!hasFailed(figures)) return { exit_code: 0, reason: null, message: null, next, advice };
  return isNotFinished(figures)
    ? {
        exit_code: 3,
        reason: 'not_finished',
        message: 'the output is written, but some addresses are not finished',
        next,
        advice,
      }
    : {
        exit_code: 3,
        reason: 'rows_failed',
        message: 'the output is written, but some rows failed',
        next,
        advice,
      };
}

/** What has to be there before the same command gets further. */
const conditions: ReadonlyMap<number, string> = new Map([
  [4, 'once the key is accepted'],
  [6, 'once that is fixed'],
  [7, 'once it works again'],
]);

/** What to do after a run that stopped, and what the same command will do then. */
export function nextAfter(
  { exit_code: exitCode, reason }: Pick<RunEnd, 'exit_code' | 'reason'>,
  status: RunStatus | undefined,
  store?: string,
): string {
  if (reason === 'state_locked') {
    return `run again when the other process is done, or wait for it with ${optionName('waitLockMs')}`;
  }
  if (reason === 'input_suspect') return 'check what makes the list, then run again';
  if (exitCode === 2) return 'change what the message names, then run again';
  const unknown = store === undefined ? 'starts over' : `resumes ${store}`;
  const next = `run the same command again: it ${status ? describeStatus(status).next : unknown}`;
  if (reason === 'input_malformed') {
    return `once the list is right, or with the option that the message names, ${next.replace(' same', '')}`;
  }
  const condition =
    reason === 'processes_lost'
      ? "once the processes' logs and memory are looked at"
      : (remedyForCredits(reason) ?? conditions.get(exitCode));
  return condition === undefined ? next : `${condition}, ${next}`;
}

/** The same sink, whose rows are counted on their way into it. */
export function watchSink(sink: Sink, onFigures: (figures: ListFigures) => void): Sink {
  return withMembers(sink, {
    async open(opening) {
      const figures = new ListFigures(opening);
      const writing = await sink.open(opening);
      onFigures(figures);
      return withMembers(writing, {
        async write(rows) {
          figures.add(rows);
          await writing.write(rows);
        },
      });
    },
  });
}
