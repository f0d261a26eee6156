import { CalledBack } from '../../platform/options/called-back.js';
import type { RunSettings } from './options/run-options.js';
import { observedProgress } from './reporting/run-progress.js';

/** What a run takes in place of the caller's own: a promise of theirs that is rejected aborts it. */
export interface WatchedCalls {
  readonly signal: AbortSignal;
  readonly onProgress: ReturnType<typeof observedProgress>;
  watch: CalledBack['watch'];
  settled: CalledBack['settled'];
}

export function watchCalls(options: Pick<RunSettings, 'signal' | 'onProgress'>): WatchedCalls {
  const failed = new AbortController();
  const calledBack = new CalledBack((error) => failed.abort(error));
  const { signal } = options;
  return {
    signal: signal ? AbortSignal.any([signal, failed.signal]) : failed.signal,
    onProgress: observedProgress(calledBack.watch(options.onProgress)),
    watch: (call) => calledBack.watch(call),
    settled: async () => calledBack.settled(),
  };
}
