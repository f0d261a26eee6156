import { mayHaveLaunched } from '../batches/known-batch.js';
import type { VerificationService } from '../client/verification-service.js';
import { deleteBatch } from './delete-batches.js';
import { systemFiles, type FileSystem } from './file-system.js';
import { StateDirectory } from './state-directory.js';

export interface AbandonRunOptions {
  readonly stateDir: string;
  /** The service that has the run's batches; without it they are left there. */
  readonly client?: Pick<VerificationService, 'deleteBatch'>;
  readonly signal?: AbortSignal;
  readonly files?: FileSystem;
}

/**
 * Gives an unfinished run up: deletes the batches that were never launched from the service, and the
 * state directory. What was launched is paid, and stays on the service.
 *
 * @returns how many batches were deleted, and the uuids of those that could not be
 * @throws StateError `state_locked` while a run works in it; OutputError
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
    for (const { known } of state.known.batches.values()) {
      if (!options.client || !('uuid' in known) || known.uuid === undefined) continue;
      if (mayHaveLaunched(known)) continue;
      if (await deleteBatch(options.client, known.uuid, signal)) deleted += 1;
      else left.push(known.uuid);
    }
  } catch (error) {
    await state.close();
    throw error;
  }
  await state.remove();
  return { deleted, left };
}
