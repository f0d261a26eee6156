import { deleteBatch } from '../batches/delete-uploads.js';
import { mayHaveLaunched } from '../batches/known-batch.js';
import type { Client } from '../client/client.js';
import { StateError } from '../errors/family.js';
import { checkAccount } from './account.js';
import { systemFiles, type FileSystem } from '../system/file-system.js';
import type { RunStore } from './run-store.js';
import { StateDirectory } from './state-directory.js';

export interface AbandonRunOptions {
  readonly stateDir: string;
  /** The service that has the run's batches; without it they are left there. */
  readonly client?: Client;
  /** Whether batches that were launched, and paid, are deleted, too. @default false */
  readonly launchedToo?: boolean;
  readonly signal?: AbortSignal;
  readonly files?: FileSystem;
}

/**
 * Gives an unfinished run up: deletes the batches that were never launched from the service, and the
 * state directory. What was launched is paid, and stays on the service unless `launchedToo` is set.
 *
 * @returns how many batches were deleted, and the uuids of those that could not be
 * @throws StateError `state_locked` while a run works in it, `state_mismatch` when its batches are on
 *   another service or in another account; OutputError
 */
export async function abandonRun(
  options: AbandonRunOptions,
): Promise<{ readonly deleted: number; readonly left: readonly string[] }> {
  const files = options.files ?? systemFiles;
  const signal = options.signal ?? new AbortController().signal;
  const state = await StateDirectory.open(files, options.stateDir, { fresh: false });
  const left: string[] = [];
  let deleted = 0;
  try {
    await checkService(options.client, state, signal);
    for (const { known } of state.known.batches.values()) {
      if (!options.client || !('uuid' in known) || known.uuid === undefined) continue;
      if (options.launchedToo !== true && mayHaveLaunched(known)) continue;
      if (await deleteBatch(options.client, known.uuid, signal)) deleted += 1;
      else left.push(known.uuid);
    }
  } catch (error) {
    await state.close();
    throw error;
  }
  await state.clear();
  await state.remove();
  return { deleted, left };
}

/** Under another service or key every batch looks deleted. */
async function checkService(
  client: Client | undefined,
  state: RunStore,
  signal: AbortSignal,
): Promise<void> {
  const { run } = state.known;
  if (!client || !run) return;
  if (run.service !== client.baseUrl) {
    throw new StateError(`the run's batches are on ${run.service}, not on ${client.baseUrl}`, {
      code: 'state_mismatch',
    });
  }
  await checkAccount(client, run, state, signal);
}
