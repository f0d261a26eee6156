import { collectLaunched } from '../../driver/collect-launched.js';
import type { Client } from '../../../client/client.js';
import type { History } from '../../history/history.js';
import type { ResolvedRun } from '../options/run-options.js';

/** Collects what a stream with this history has launched and left, before the list is looked up in it. */
export async function collectLeft(
  history: History,
  service: Client,
  { onProgress, ...settings }: Omit<ResolvedRun, 'history'> & { readonly signal: AbortSignal },
): Promise<void> {
  const owner = {};
  const launched = history.takeLaunched(owner);
  if (launched.length === 0) return;
  onProgress?.({
    stage: 'notice',
    message: `batches that an earlier stream has launched and left: ${launched.length}. Waiting for their results, which are paid for and used from the history`,
  });
  try {
    await collectLaunched(launched, { ...settings, history, service });
  } finally {
    history.release(owner);
  }
}
