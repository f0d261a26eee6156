import { DeadlineError } from '../../../platform/errors/errors.js';
import { beforeDeadline } from '../../../platform/waiting/clock.js';
import { orAborted } from '../../../platform/waiting/promises.js';
import { type BatchState, isLaunchInDoubt, mayHaveLaunched } from '../batch-state.js';
import { isExportWrong } from '../export-check.js';
import { type Batch, batchLabel, parseBatchName, uploadLabel, uuidKey } from '../batch.js';
import {
  type Deleting,
  deleteUnwanted,
  type ListedUpload,
  longestCheckMs,
} from './delete-uploads.js';
import type { ListOptions } from './list-uploads.js';
import type { Keys, UploadRegistry } from './upload-registry.js';

export interface LeftBatch {
  readonly batch: Batch;
  readonly state: BatchState;
  readonly name?: string | undefined;
  /** Names of its uploads that nothing has confirmed: the service may list them later. */
  readonly unconfirmed?: readonly string[] | undefined;
}

/** Names of useless uploads that were not deleted. */
export interface LeftUploads {
  readonly left: readonly string[];
  /** Those that the list does not show: they may be there all the same. */
  readonly unconfirmed: readonly string[];
}

/**
 * Whether a batch may have a useless upload on the service: a repeated or searched one may be there twice; a
 * split one, one that failed before its launch, and, when the run is abandoned, one that was never launched
 * are useless.
 */
export function mayHaveOrphans(
  state: BatchState,
  isGivenUp: boolean,
  keepsFailed = false,
): boolean {
  if (state.stage === 'split' && state.uuid !== undefined) return true;
  if (!keepsFailed && hasFailedUnlaunched(state)) return true;
  if (isGivenUp && isBeforeLaunch(state)) return true;
  return state.attempt > 1 || ('isFound' in state && state.isFound);
}

/**
 * Deletes the useless uploads of a run: those that were sent again after a lost answer, those refused later
 * for their size or failed before their launch, and, when the run is abandoned, those never launched.
 * Launched ones stay, whoever launched them.
 *
 * @param batches the batches that may have orphans; with `surplus` all of the run, but for those that are `kept`
 * @returns those that may still be there
 */
export async function deleteOrphans(
  service: Deleting,
  runId: string,
  batches: readonly LeftBatch[],
  options: {
    readonly isGivenUp: boolean;
    /** Names of uploads beside those of the batches, as far as known; absent where there are none. */
    readonly surplus?: readonly string[] | undefined;
    /** Uploads of batches that are not given. @default none */
    readonly kept?: Keys;
    /** Whether batches that failed before their launch stay. */
    readonly keepsFailed?: boolean;
    /** Whether uploads were cut off just now: they may be listed later. */
    readonly isCutOff?: boolean;
    /** Keys of the uuids that the service says to have deleted: whether that is true, its list shows. */
    readonly deleted?: ReadonlySet<string>;
  } & ListOptions,
): Promise<LeftUploads> {
  const { isGivenUp, surplus, keepsFailed = false, isCutOff = false } = options;
  const { deleted = new Set() } = options;
  const suspects = batches.filter(({ state }) => mayHaveOrphans(state, isGivenUp, keepsFailed));
  if (!surplus && suspects.length + deleted.size === 0) return { left: [], unconfirmed: [] };
  /** By label: the upload that stays. */
  const kept = new Map(
    batches.map(({ batch, state }) => [batchLabel(batch), keptKey(state, isGivenUp, keepsFailed)]),
  );
  const listed = new Set<string>();
  const isUnwanted = ({ batch_uuid, name }: ListedUpload): boolean => {
    const upload = parseBatchName(name, runId);
    if (!upload) return false;
    const label = uploadLabel(upload);
    listed.add(label).add(name);
    if (deleted.has(uuidKey(batch_uuid))) return true;
    if (kept.has(label)) return kept.get(label) !== uuidKey(batch_uuid);
    return surplus !== undefined && options.kept?.has(uuidKey(batch_uuid)) !== true;
  };
  const isDeleted = (uuid: string): boolean => deleted.has(uuidKey(uuid));
  // A list that is read for what is deleted alone is not worth a long wait.
  const timeoutMs = surplus || suspects.length > 0 ? undefined : longestCheckMs;
  const read = { ...options, timeoutMs };
  const lost = suspects.flatMap(({ unconfirmed = [] }) => unconfirmed);
  const unread = [...new Set([...namesOf(suspects, runId), ...lost, ...(surplus ?? [])])];
  const left = await deleteUnwanted(service, isUnwanted, read, unread, isDeleted);
  const isAwaited = ({ batch, state }: LeftBatch): boolean =>
    isCutOff && state.stage === 'uploading' && !listed.has(batchLabel(batch));
  const unlisted = lost.filter((name) => !listed.has(name));
  const unseen = [...namesOf(suspects.filter(isAwaited), runId), ...unlisted];
  return { left, unconfirmed: unseen.filter((name) => !left.includes(name)) };
}

/**
 * The same after an abort, for unlaunched batches, once no request is under way. A service may refuse to
 * delete a batch that it is preparing: that is retried until the time is over. An upload that was cut off is
 * searched a few times.
 *
 * @param left the remaining batches once no request is under way
 * @returns those that may still be there
 */
export async function deleteCutOff(
  service: Deleting,
  runId: string,
  left: () => readonly LeftBatch[],
  {
    clock,
    deadlineMs: ms,
    idle,
    uploads,
  }: Omit<ListOptions, 'signal'> & {
    readonly idle: () => Promise<unknown>;
    readonly uploads: UploadRegistry;
  },
): Promise<LeftUploads> {
  const suspects = (): readonly LeftBatch[] =>
    left().filter(({ state }) => mayHaveOrphans(state, true));
  let isWorthAnotherTry = false;
  const watched: Deleting = {
    listBatches: async (query, options) => service.listBatches(query, options),
    deleteBatch: async (uuid, options) => service.deleteBatch(uuid, options),
    async batchStatus(uuid, options) {
      const answer = await service.batchStatus(uuid, options);
      isWorthAnotherTry ||= answer.status === 'parsing_content';
      return answer;
    },
  };
  let end: LeftUploads | undefined;
  const work = async (signal: AbortSignal): Promise<void> => {
    await orAborted(idle(), signal);
    const found = suspects();
    const isCutOff = found.some(({ state }) => state.stage === 'uploading');
    const which = { isGivenUp: true, isCutOff: true };
    const options = { ...which, ...copiesIn(uploads), signal, clock, deadlineMs: ms };
    for (let pauseMs = 50; ; pauseMs *= 2) {
      isWorthAnotherTry = isCutOff && pauseMs < 400;
      end = await orAborted(deleteOrphans(watched, runId, found, options), signal);
      if (end.left.length + end.unconfirmed.length === 0 || !isWorthAnotherTry) return;
      await clock.sleep(pauseMs, signal);
    }
  };
  const toError = (): Error => new DeadlineError(`not all was deleted within ${ms} ms`);
  // Its failure is dropped: the work has ended for a reason of its own.
  await beforeDeadline(work, { clock, ms, toError }).catch(() => undefined);
  return end ?? { left: namesOf(suspects(), runId), unconfirmed: [] };
}

/** The copies that the list has shown of uploads of a run that remembers no batch at its end. */
export function copiesIn(uploads: UploadRegistry): {
  readonly surplus: readonly string[] | undefined;
  readonly kept: Keys;
} {
  const copies = uploads.copies();
  return { surplus: copies.length > 0 ? copies : undefined, kept: uploads.taken };
}

export function namesInDoubt(batches: readonly LeftBatch[], runId: string): readonly string[] {
  return namesOf(
    batches.filter(({ state }) => isInDoubt(state)),
    runId,
  );
}

/** Whether a launch was requested with an unknown result. A batch that broke since may have been launched. */
export function isInDoubt(state: BatchState): boolean {
  if (state.stage === 'failed') return state.launched && !isExportWrong(state.reason);
  return isLaunchInDoubt(state);
}

/** Names of uploads; where the name is unknown, whatever identifies it. */
function namesOf(batches: readonly LeftBatch[], runId: string): readonly string[] {
  return batches.map(({ name, batch }) => name ?? `${runId}-${batchLabel(batch)}`);
}

function keptKey(state: BatchState, isGivenUp: boolean, keepsFailed: boolean): string | undefined {
  if (state.stage === 'split' || (!keepsFailed && hasFailedUnlaunched(state))) return undefined;
  if (isGivenUp && isBeforeLaunch(state)) return undefined;
  return 'uuid' in state && state.uuid !== undefined ? uuidKey(state.uuid) : undefined;
}

function hasFailedUnlaunched(state: BatchState): boolean {
  return state.stage === 'failed' && !state.launched;
}

export function isBeforeLaunch(state: BatchState): boolean {
  switch (state.stage) {
    case 'uploading':
    case 'uploaded':
    case 'parsing':
    case 'ready':
      return !mayHaveLaunched(state);
    default:
      return false;
  }
}
