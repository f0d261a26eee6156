import { CalledBack } from '../../platform/waiting/promises.js';
import type { RunSettings } from './options/run-options.js';
import { observedProgress } from './reporting/run-progress.js';

/**
 * What a run takes in place of the caller's own: whatever fails in them, what is paid for is written first.
 */
export interface WatchedCalls {
  readonly signal: AbortSignal;
  readonly onProgress: ReturnType<typeof observedProgress>;
  watch: CalledBack['watch'];
  settled: CalledBack['settled'];
}

export function watchCalls(options: Pick<RunSettings, 'signal' | 'onProgress'>): WatchedCalls {
  const calledBack = new CalledBack();
  const { signal = new AbortController().signal } = options;
  return {
    signal,
    onProgress: observedProgress(calledBack.watch(options.onProgress)),
    watch: (call) => calledBack.watch(call),
    settled: async () => calledBack.settled(),
  };
}
