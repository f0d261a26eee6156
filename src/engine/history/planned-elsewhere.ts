import type { VerificationService } from '../../client/client.js';
import type { BatchSummary } from '../../contract/bodies.js';
import { StateError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { type FileLock, lockFile } from '../../platform/files/file-lock.js';
import type { FileSystem } from '../../platform/files/file-system.js';
import { type Clock, systemClock } from '../../platform/waiting/clock.js';
import { AddressTable, type HashWords } from '../../platform/hashing/address-table.js';
import { counted } from '../../platform/text/shown-numbers.js';
import { parseBatchName } from '../batches/batch.js';
import { isLaunched } from '../batches/uploads/delete-uploads.js';
import { readList } from '../batches/uploads/list-uploads.js';
import { graceMs } from '../driver/batch-requests.js';
import { defaults } from '../driver/driver-options.js';
import type { LaunchedBatch, LookSettings } from '../plan/result-cache.js';
import type { PlannedRun } from './planned-runs.js';

/**
 * The processes of a shared run launch its batches while others have the history open. So its plan is noted
 * there before it begins, and each of its processes holds a lock beside the history, which ends with it: who has
 * the history knows which of its addresses a run may launch at any moment.
 */
interface SharedRunPresence {
  readonly files: FileSystem;
  readonly path: string;
  readonly id: string;
}

interface PresenceWait {
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Long enough for another's look, which takes the lock for a moment. */
const joiningMs = 10_000;
/** The same for one that looks, too, where the system lists no locks: whoever has it for longer is at work. */
const lookingMs = 1000;

/** This process works on the run, until it releases the lock or ends. */
export async function joinAtWork(
  { files, path, id }: SharedRunPresence,
  waiting: PresenceWait,
  waitLockMs = joiningMs,
): Promise<FileLock> {
  const target = { ...targetOf(path, id), isShared: true };
  return lockFile(files, target, { ...waiting, waitLockMs });
}

/** @returns nothing where it is not sure that processes are at work: who has the lock may look, too, as slowly */
export async function joinThoseAtWork(
  presence: SharedRunPresence,
  waiting: PresenceWait,
): Promise<FileLock | undefined> {
  const { files, path, id } = presence;
  const isShared = async (): Promise<boolean> =>
    files.isListedLocked(targetOf(path, id).path, 'READ');
  if (await isShared()) return joinAtWork(presence, waiting);
  if (!(await isAtWork(presence, waiting))) return undefined;
  const wasShared = await isShared();
  let lock: FileLock;
  try {
    lock = await joinAtWork(presence, waiting, 0);
  } catch (error) {
    if (isSluiceError(error, 'state_locked')) return undefined;
    throw error;
  }
  // The system lists this process's lock, and had none before: another that looked has just let go.
  if (wasShared || !(await isShared())) return lock;
  await lock.release();
  return undefined;
}

export async function isAtWork(
  { files, path, id }: SharedRunPresence,
  { signal, clock }: PresenceWait,
): Promise<boolean> {
  const target = targetOf(path, id);
  // Those at work share the lock, and who looks does not.
  if (await files.isListedLocked(target.path, 'READ')) return true;
  try {
    const lock = await lockFile(files, target, { signal, clock, waitLockMs: lookingMs });
    // Whoever waits for its lock finds it gone, and makes it again.
    try {
      await files.rm(target.path, { force: true });
    } finally {
      await lock.release();
    }
    return false;
  } catch (error) {
    if (isSluiceError(error, 'state_locked')) return true;
    throw error;
  }
}

interface RunHistory {
  readonly path: string;
  readonly seed: Uint8Array;
  plannedRuns(): readonly PlannedRun[];
  noteFound(
    launched: Omit<LaunchedBatch, 'addresses' | 'hashes'> & {
      readonly hashes: readonly HashWords[];
    },
  ): Promise<void>;
  dropPlan(id: string): Promise<void>;
}

/** The run has ended, or nobody works on it and its launches are noted. */
export async function dropPlan(history: RunHistory, files: FileSystem, id: string): Promise<void> {
  await history.dropPlan(id);
  await files.rm(targetOf(history.path, id).path, { force: true });
}

function targetOf(history: string, id: string): Parameters<typeof lockFile>[1] {
  return {
    name: `a run with the history ${history}`,
    path: `${history}.${id}`,
    option: 'history',
    canWait: false,
  };
}

/**
 * Notes what shared runs have launched that nobody works on any more: from then on it is found like launches of
 * any run.
 *
 * @param runId id of the run itself
 * @param replacedId id of a run that stays noted: until another has its place, a process may go on with it
 * @returns those that processes work on
 */
export async function noteStopped(
  history: RunHistory,
  client: VerificationService,
  {
    files,
    signal,
    clock = systemClock,
    batchDeadlineMs: deadlineMs = defaults.batchDeadlineMs,
  }: LookSettings & { readonly files: FileSystem },
  runId: string,
  replacedId?: string,
): Promise<readonly PlannedRun[]> {
  const atWork: PlannedRun[] = [];
  const stopped: PlannedRun[] = [];
  for (const run of history.plannedRuns()) {
    if (run.id === runId) continue;
    const { path } = history;
    ((await isAtWork({ files, path, id: run.id }, { signal, clock })) ? atWork : stopped).push(run);
  }
  if (stopped.length === 0) return atWork;
  const readUploads = async (): Promise<ReadonlyMap<string, readonly BatchSummary[]>> => {
    const found = new Map<string, BatchSummary[]>(stopped.map(({ id }) => [id, []]));
    await readList(client, { signal, clock, deadlineMs }, (item) => {
      for (const [id, ofRun] of found) if (parseBatchName(item.name, id)) ofRun.push(item);
    });
    return found;
  };
  let uploads = await readUploads();
  // The last of its processes may have been killed just now, with launches under way.
  if ([...uploads.values()].flat().some(({ status }) => status === 'ready_for_verification')) {
    await clock.sleep(graceMs, signal);
    uploads = await readUploads();
  }
  const account = await client.keyFingerprint?.(Buffer.from(history.seed).toString('hex'));
  for (const run of stopped) {
    const ofRun = uploads.get(run.id) ?? [];
    for (const upload of ofRun) await noteLaunched(history, run, upload, clock.wallNow());
    if (run.id === replacedId) continue;
    // What another account has launched is not in this one's list.
    if (ofRun.length > 0 || run.account === account) await dropPlan(history, files, run.id);
  }
  return atWork;
}

/** The same for a stream. @throws StateError `state_locked` while processes of a shared run are at work */
export async function noteBeforeStream(
  history: RunHistory,
  client: VerificationService,
  settings: LookSettings & { readonly files: FileSystem },
): Promise<void> {
  const atWork = await noteStopped(history, client, settings, '');
  if (atWork.length === 0) return;
  throw new StateError(
    `another run with this history may launch addresses of this list at any moment, which would be paid for twice: run again when it has ended (${atWork.map(({ run }) => run).join(', ')})`,
    { code: 'state_locked', option: 'history' },
  );
}

async function noteLaunched(
  history: RunHistory,
  { id, run, batches }: PlannedRun,
  { name, status, batch_uuid: batchUuid, created_at: createdAt }: BatchSummary,
  nowMs: number,
): Promise<void> {
  const upload = parseBatchName(name, id);
  const planned = batches.find(({ batch }) => batch === upload?.id);
  if (!planned || !isLaunched(status)) return;
  await history.noteFound({
    batchUuid,
    group: planned.group,
    run,
    // By the service's own clock, and text that may be none.
    launchedAtMs: Math.min(Date.parse(createdAt) || nowMs, nowMs),
    hashes: [...planned.hashes(upload?.lines)],
  });
}

/** Addresses that the processes of other shared runs may launch at any moment. */
export class AddressesAtWork {
  readonly #names: readonly string[];
  readonly #table: AddressTable;
  #count = 0;

  constructor({ seed }: RunHistory, runs: readonly PlannedRun[]) {
    this.#names = runs.map(({ run }) => run);
    this.#table = new AddressTable({ seed });
    for (const batch of runs.flatMap(({ batches }) => batches)) {
      for (const hash of batch.hashes()) this.#table.addHashed(hash);
    }
  }

  get isEmpty(): boolean {
    return this.#names.length === 0;
  }

  note(hash: HashWords): void {
    if (this.#table.findHashed(hash) !== -1) this.#count += 1;
  }

  refuse(): void {
    if (this.#count === 0) return;
    throw new StateError(
      `${counted(this.#count, 'address')} of this list may be launched at any moment by another run with this history, and would be paid for twice: run again when it has ended (${this.#names.join(', ')})`,
      { code: 'state_locked', option: 'history' },
    );
  }
}
