import { DetachedError } from '../../../platform/errors/errors.js';
import type { SluiceError } from '../../../platform/errors/sluice-error.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import type { DriveRunOptions } from './driver-options.js';
import { readPreflight, type Preflight } from '../credits.js';
import type { StoppedEntry } from '../../stores/journal-entries.js';
import { stopForAll, stopOfOthers } from '../../stores/stop-reasons.js';

/**
 * Asks whether what is prepared may be launched. Where processes share the run, the one that has its last
 * step asks, once for all: the others wait for the answer.
 *
 * @returns what stops the run
 */
export async function askBeforeLaunch(
  { run, client, store, join }: DriveRunOptions,
  {
    onPrepared,
    ready,
    stoppedByOthers,
  }: {
    readonly onPrepared: (preflight: Preflight) => boolean | Promise<boolean>;
    readonly ready: () => readonly DrivenBatch[];
    readonly stoppedByOthers: () => StoppedEntry | undefined;
  },
): Promise<SluiceError | undefined> {
  while (!store.state.isApproved) {
    const stopped = stoppedByOthers();
    if (stopped) return stopOfOthers(stopped);
    if (!join || (await join())) {
      const mayLaunch = await onPrepared(await readPreflight(client, ready(), run));
      if (mayLaunch) {
        if (store.isShared) await store.record?.({ entry: 'approved' });
        return undefined;
      }
      const refusal = new DetachedError(
        'the batches are prepared and not launched, so nothing is paid; run again to go on',
        { retryable: false },
      );
      const stopped = store.isShared && stopForAll(refusal);
      if (stopped) await store.record?.(stopped);
      return refusal;
    }
    await store.waitForUpdates?.(run.signal);
  }
  return undefined;
}
