import { publish } from '../../../platform/observability/channels.js';
import { currentScope } from '../../../platform/observability/scope.js';
import type { ObservedEnd } from '../../../platform/observability/observe-run.js';
import { printKind } from '../../../lists/rows/values/kinds.js';
import type { RunProgress } from './run-progress.js';
import { hasFailed, type Summary } from '../../summary/summary.js';

/** What takes a run's progress, and tells it to those who listen to the process, too. */
export function observedProgress(
  onProgress: ((progress: RunProgress) => void) | undefined,
): (progress: RunProgress) => void {
  return (progress) => {
    const { run } = currentScope();
    if (run !== undefined && isCounted(progress)) {
      publish('sluice:run:stage', { run, stage: progress.stage, rows: progress.rows });
    }
    if (run !== undefined && progress.stage === 'text_column') {
      const { column, kind, output } = progress;
      publish('sluice:run:column', { run, column, kind: kind && printKind(kind), output });
    }
    onProgress?.(progress);
  };
}

/** Batches are told where they are driven. */
function isCounted(
  progress: RunProgress,
): progress is Extract<
  RunProgress,
  { readonly stage: 'reading' | 'read' | 'writing' | 'written' }
> {
  return ['reading', 'read', 'writing', 'written'].includes(progress.stage);
}

/** What is told of a run's end. */
export function observedEnd(summary: Summary): ObservedEnd {
  return { rows: summary.rows, hasFailed: hasFailed(summary) };
}
