import type { BatchLister } from '../../../client/batch-list.js';
import type { CallOptions } from '../../../client/client-options.js';
import type { VerificationService } from '../../../client/client.js';
import type { BatchStatus } from '../../../contract/enums.js';
import { DeadlineError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { beforeDeadline } from '../../../platform/waiting/clock.js';
import { orAborted } from '../../../platform/waiting/promises.js';
import {
  type BatchState,
  isExportWrong,
  isLaunchInDoubt,
  mayHaveLaunched,
} from '../batch-state.js';
import { type Batch, batchLabel, parseBatchName, uploadLabel, uuidKey } from '../batch.js';
import { isVisible, type ListOptions, readList, type StatusReader } from './list-uploads.js';

interface Deleting extends BatchLister, StatusReader {
  deleteBatch: VerificationService['deleteBatch'];
}

/** How long a request may take that only shows whether what the service said is true. */
export const longestCheckMs = 10_000;

interface ListedUpload {
  readonly batch_uuid: string;
  readonly name: string;
  readonly status: string;
}

/** Deleted uploads, and the names of the others. */
export interface Deletions {
  readonly deleted: number;
  /** Not deleted by the service, or broken there: whether they were paid is unknown. */
  readonly left: readonly string[];
  /** Launched, and so paid: no deletion was requested. */
  readonly launched: readonly string[];
}

const neverLaunched: ReadonlySet<string> = new Set<BatchStatus>([
  'parsing_content',
  'ready_for_verification',
  'internal_error',
]);

/** Whether a batch of this status may have been paid for; an unknown status may. */
export function isLaunched(status: string): boolean {
  return !neverLaunched.has(status);
}

/**
 * Why a batch of this status is kept until its results are safe. A broken one may have been launched, and
 * support needs its uuid.
 */
function keptFor(status: string): 'launched' | 'left' | undefined {
  if (isLaunched(status)) return 'launched';
  return status === 'internal_error' ? 'left' : undefined;
}

/**
 * Deletes a batch from the service, as far as that goes: one that was launched only when its results
 * are safe. All deletions of a run go through here. The status is read right before, because a process that
 * asks may know an old one, or another process may have launched the batch since.
 *
 * @throws the signal's reason
 */
export async function deleteBatch(
  service: Deleting,
  uuid: string,
  call: CallOptions & { readonly signal: AbortSignal },
  areResultsSafe = false,
): Promise<'gone' | 'left' | 'launched'> {
  const end = await tryToDelete(service, uuid, areResultsSafe, call);
  return end === 'not_found' ? 'gone' : end;
}

/** @returns `not_found` where nothing was deleted, as the service does not find it */
async function tryToDelete(
  service: Deleting,
  uuid: string,
  areResultsSafe: boolean,
  call: CallOptions & { readonly signal: AbortSignal },
): Promise<'gone' | 'left' | 'launched' | 'not_found'> {
  let isAsked = false;
  try {
    if (!areResultsSafe) {
      const { status } = await service.batchStatus(uuid, call);
      const kept = keptFor(status);
      if (kept) return kept;
    }
    isAsked = true;
    const { status } = await service.deleteBatch(uuid, call);
    // The answer's content is not shown: all other operations answer `error` where nothing was done.
    return status === 'error' ? 'left' : 'gone';
  } catch (error) {
    call.signal.throwIfAborted();
    if (isSluiceError(error, 'not_found')) return isAsked ? 'gone' : 'not_found';
    if (isSluiceError(error)) return 'left';
    throw error;
  }
}

/**
 * Deletes uploads that are in the list of batches, except launched ones.
 *
 * @param areResultsSafe batches whose launched uploads are deleted, too. @default none
 * @throws when the list cannot be read to its end; the signal's reason
 */
export async function deleteListed(
  service: Deleting,
  isUnwanted: (upload: ListedUpload) => boolean,
  options: ListOptions,
  areResultsSafe: (uuid: string) => boolean = () => false,
): Promise<Deletions> {
  const { signal } = options;
  const unwanted = new Map<string, ListedUpload>();
  await readList(service, options, (upload) => {
    if (isUnwanted(upload)) unwanted.set(uuidKey(upload.batch_uuid), upload);
  });
  const names = { left: [] as string[], launched: [] as string[] };
  /** By key: whether the service was asked to delete it; else its status did not find it. */
  const gone = new Map<string, boolean>();
  for (const { batch_uuid: uuid, name, status } of unwanted.values()) {
    const isSafe = areResultsSafe(uuid);
    const kept = isSafe ? undefined : keptFor(status);
    const end = kept ?? (await tryToDelete(service, uuid, isSafe, { signal }));
    if (end === 'gone' || end === 'not_found') gone.set(uuidKey(uuid), end === 'gone');
    else names[end].push(name);
  }
  if (gone.size === 0) return { deleted: 0, ...names };
  // The service may not find what it has, or not do what it says: what it lists is there, unless the list is late.
  const stillListed: ListedUpload[] = [];
  await readList(service, options, (upload) => {
    if (gone.has(uuidKey(upload.batch_uuid))) stillListed.push(upload);
  });
  for (const { batch_uuid: uuid, name } of stillListed) {
    const wasAsked = gone.get(uuidKey(uuid));
    if (wasAsked === true && !(await isVisible(service, uuid, signal))) continue;
    if (gone.delete(uuidKey(uuid))) names.left.push(name);
  }
  return { deleted: gone.size, ...names };
}

/**
 * Deletes uploads that are no longer needed.
 *
 * @param unread names of what may be there if the list cannot be read to its end; what it had shown by then is
 * added
 * @returns the names of those that may still be there
 * @throws the signal's reason
 */
export async function deleteUnwanted(
  service: Deleting,
  isUnwanted: (upload: ListedUpload) => boolean,
  options: ListOptions,
  unread: readonly string[],
  areResultsSafe?: (uuid: string) => boolean,
): Promise<readonly string[]> {
  const shown = new Set<string>();
  const isShown = (upload: ListedUpload): boolean => {
    if (!isUnwanted(upload)) return false;
    shown.add(upload.name);
    return true;
  };
  try {
    const { left, launched } = await deleteListed(service, isShown, options, areResultsSafe);
    return [...left, ...launched];
  } catch (error) {
    options.signal.throwIfAborted();
    if (isSluiceError(error)) return [...shown, ...unread.filter((name) => !shown.has(name))];
    throw error;
  }
}

/** A batch that was let go, and its state. */
export interface LeftBatch {
  readonly batch: Batch;
  readonly state: BatchState;
  /** Name of its elected or latest upload, where known. */
  readonly name?: string | undefined;
  /** Names of uploads that were not answered and not listed: the service may list them later. */
  readonly unanswered?: readonly string[] | undefined;
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
 * @param batches the batches that may have orphans; with `hasSurplus` all of the run
 * @returns the names of those that may still be there
 * @throws the signal's reason
 */
export async function deleteOrphans(
  service: Deleting,
  runId: string,
  batches: readonly LeftBatch[],
  options: {
    /** Whether no process will continue the unlaunched batches. */
    readonly isGivenUp: boolean;
    /** Whether uploads of other processes are known to exist. */
    readonly hasSurplus: boolean;
    /** Whether batches that failed before their launch stay. */
    readonly keepsFailed?: boolean;
    /** Whether uploads were cut off just now: they may be listed later. */
    readonly isCutOff?: boolean;
    /** Keys of the uuids that the service says to have deleted: whether that is true, its list shows. */
    readonly deleted?: ReadonlySet<string>;
  } & ListOptions,
): Promise<readonly string[]> {
  const { isGivenUp, hasSurplus, keepsFailed = false, isCutOff = false } = options;
  const { deleted = new Set() } = options;
  const suspects = batches.filter(({ state }) => mayHaveOrphans(state, isGivenUp, keepsFailed));
  if (!hasSurplus && suspects.length + deleted.size === 0) return [];
  /** By label: the upload that stays. */
  const kept = new Map(
    batches.map(({ batch, state }) => [batchLabel(batch), keptKey(state, isGivenUp, keepsFailed)]),
  );
  /** Labels and names in the list. */
  const listed = new Set<string>();
  const isUnwanted = ({ batch_uuid, name }: ListedUpload): boolean => {
    const upload = parseBatchName(name, runId);
    if (!upload) return false;
    const label = uploadLabel(upload);
    listed.add(label).add(name);
    if (deleted.has(uuidKey(batch_uuid))) return true;
    return kept.has(label) ? kept.get(label) !== uuidKey(batch_uuid) : hasSurplus;
  };
  const isDeleted = (uuid: string): boolean => deleted.has(uuidKey(uuid));
  // A list that is read for what is deleted alone is not worth a long wait.
  const timeoutMs = hasSurplus || suspects.length > 0 ? undefined : longestCheckMs;
  const read = { ...options, timeoutMs };
  const unread = namesOf(suspects, runId);
  const left = await deleteUnwanted(service, isUnwanted, read, unread, isDeleted);
  const isAwaited = ({ batch, state }: LeftBatch): boolean =>
    isCutOff && state.stage === 'uploading' && !listed.has(batchLabel(batch));
  const unanswered = suspects
    .flatMap(({ unanswered: names = [] }) => names)
    .filter((name) => !listed.has(name));
  const unseen = [...namesOf(suspects.filter(isAwaited), runId), ...unanswered];
  return [...left, ...unseen.filter((name) => !left.includes(name))];
}

/**
 * The same after an abort, for unlaunched batches, once no request is under way. A service may refuse to
 * delete a batch that it is preparing: that is retried until the time is over. An upload that was cut off is
 * searched a few times.
 *
 * @param left the remaining batches once no request is under way
 * @returns the names of those that may still be there
 */
export async function deleteCutOff(
  service: Deleting,
  runId: string,
  left: () => readonly LeftBatch[],
  {
    clock,
    deadlineMs: ms,
    idle,
  }: Omit<ListOptions, 'signal'> & { readonly idle: () => Promise<unknown> },
): Promise<readonly string[]> {
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
  let names: readonly string[] | undefined;
  const work = async (signal: AbortSignal): Promise<void> => {
    await orAborted(idle(), signal);
    const found = suspects();
    const isCutOff = found.some(({ state }) => state.stage === 'uploading');
    const which = { isGivenUp: true, hasSurplus: false, isCutOff: true };
    const options = { ...which, signal, clock, deadlineMs: ms };
    for (let pauseMs = 50; ; pauseMs *= 2) {
      isWorthAnotherTry = isCutOff && pauseMs < 400;
      names = await orAborted(deleteOrphans(watched, runId, found, options), signal);
      if (names.length === 0 || !isWorthAnotherTry) return;
      await clock.sleep(pauseMs, signal);
    }
  };
  const toError = (): Error => new DeadlineError(`not all was deleted within ${ms} ms`);
  // Its failure is dropped: the work has ended for a reason of its own.
  await beforeDeadline(work, { clock, ms, toError }).catch(() => undefined);
  return names ?? namesOf(suspects(), runId);
}

/** Names of batches whose launch was requested with an unknown result: none is deleted. */
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

/** Whether something was sent and no launch requested. */
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
