import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StateError } from '../../platform/errors/errors.js';
import { lockFile } from '../../platform/files/file-lock.js';
import { systemFiles, move, writeWhole } from '../../platform/files/file-system.js';
import { checkPrivateFolder, readPrivateFileIfExists } from '../../platform/files/private-files.js';
import { makePrivateFolder } from '../../platform/files/private-folder.js';
import {
  damagedLog,
  EventLog,
  parseServiceEvent,
  parseStoreHeader,
  type ServiceEvent,
  type StoreHeader,
  storeVersion,
} from './events.js';
import { ServiceState } from './service-state.js';
import { batchFiles, type BatchFiles, removeOrphans } from './batch.js';

interface Folders {
  readonly root: string;
  readonly batches: string;
  readonly caches: string;
  readonly arriving: string;
}

/** The service's data: a folder with a log of events, and files of batches. State changes by {@link Store.commit} alone. */
export class Store {
  readonly state: ServiceState;
  /** Keys the hashes of addresses: without it, neither keys nor caches reveal an address. */
  readonly salt: string;
  readonly #folders: Folders;
  readonly #log: EventLog;
  readonly #leave: () => Promise<void>;
  readonly #isPrivate: boolean;

  private constructor(
    folders: Folders,
    opened: { state: ServiceState; salt: string; log: EventLog; leave: () => Promise<void> },
    isPrivate: boolean,
  ) {
    this.#folders = folders;
    this.state = opened.state;
    this.salt = opened.salt;
    this.#log = opened.log;
    this.#leave = opened.leave;
    this.#isPrivate = isPrivate;
  }

  /** Opens the folder, created when missing; without one, a private folder that `close` removes. */
  static async open(dataDir: string | undefined): Promise<Store> {
    const { path: root, leave } = await (dataDir === undefined
      ? takePrivateFolder()
      : takeFolder(dataDir));
    const folders = {
      root,
      batches: join(root, 'batches'),
      caches: join(root, 'caches'),
      arriving: join(root, 'arriving'),
    };
    try {
      for (const folder of Object.values(folders)) {
        await mkdir(folder, { recursive: true, mode: 0o700 });
      }
      return new Store(
        folders,
        { ...(await load(folders, dataDir)), leave },
        dataDir === undefined,
      );
    } catch (error) {
      await leave();
      throw error;
    }
  }

  /**
   * Adds an event to the state. The state has changed when this returns; the promise resolves once the event
   * is safe on disk, before which no answer may reveal it.
   */
  commit(event: ServiceEvent): Promise<void> {
    this.#log.append(event);
    this.state.apply(event);
    return this.#log.settle();
  }

  files(batch: { readonly uuid: string; readonly revision: number }): BatchFiles {
    return batchFiles(this.#folders.batches, batch);
  }

  get cacheFolder(): string {
    return this.#folders.caches;
  }

  /** Whether files must be synced before an event names them. */
  get isDurable(): boolean {
    return !this.#isPrivate;
  }

  /** A path for arriving content; the next start removes what is not adopted. */
  newArrival(): string {
    return join(this.#folders.arriving, randomUUID());
  }

  /** Moves arrived content to its place as a batch's upload. */
  async adopt(arrival: string, uuid: string): Promise<void> {
    const names = { from: arrival, to: this.files({ uuid, revision: 0 }).upload };
    await move(systemFiles, names, { durable: this.isDurable });
  }

  /** Reads the key made for this folder, or makes and stores one. */
  async madeKey(): Promise<{ readonly key: string; readonly isNew: boolean }> {
    const path = join(this.#folders.root, 'api-key');
    const kept = (await readPrivateFileIfExists(path)).toString('utf8').trim();
    if (kept !== '') return { key: kept, isNew: false };
    const key = `sluice_${randomBytes(32).toString('base64url')}`;
    await writeWhole(systemFiles, path, async (file) => file.writeFile(`${key}\n`));
    return { key, isNew: true };
  }

  async close(): Promise<void> {
    await this.#log.close();
    await this.#leave();
  }
}

/** The service's own names in its folder, beside others' files. */
const storeName = /^(?:batches|caches|arriving|lock|service\.log|api-key(?:\.part)?)$/;

interface TakenFolder {
  readonly path: string;
  readonly leave: () => Promise<void>;
}

async function takePrivateFolder(): Promise<TakenFolder> {
  const { path, remove } = await makePrivateFolder();
  return { path, leave: remove };
}

async function takeFolder(path: string): Promise<TakenFolder> {
  const isUsed = (name: string): boolean => storeName.test(name);
  await checkPrivateFolder(path, isUsed);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await checkPrivateFolder(path, isUsed);
  const lock = await lockFile(systemFiles, {
    name: `the local service's data in ${path}`,
    path: join(path, 'lock'),
    option: 'dataDir',
    canWait: false,
  });
  return { path, leave: async () => lock.release() };
}

async function load(
  folders: Folders,
  dataDir: string | undefined,
): Promise<{ state: ServiceState; salt: string; log: EventLog }> {
  const path = join(folders.root, 'service.log');
  const { events, log } = await EventLog.open(path, { durable: dataDir !== undefined });
  try {
    const [first, ...rest] = events;
    const { salt } = first === undefined ? begin(log) : checkHeader(first, path);
    const state = new ServiceState();
    replay(rest, state, path);
    await rm(folders.arriving, { recursive: true, force: true });
    await mkdir(folders.arriving, { mode: 0o700 });
    await removeOrphans(folders.batches, state.batches.values(), state.ledger);
    return { state, salt, log };
  } catch (error) {
    await log.close();
    throw error;
  }
}

function replay(events: readonly unknown[], state: ServiceState, path: string): void {
  for (const [index, event] of events.entries()) {
    try {
      state.apply(parseServiceEvent(event));
    } catch (cause) {
      throw damagedLog(path, `makes no sense at event ${index + 1}`, cause);
    }
  }
}

function begin(log: EventLog): StoreHeader {
  const header: StoreHeader = {
    store: 'sluice-service',
    version: storeVersion,
    salt: randomBytes(16).toString('hex'),
  };
  log.append(header);
  return header;
}

function checkHeader(first: unknown, path: string): StoreHeader {
  const header = readHeader(first, path);
  if (header.version !== storeVersion) {
    throw new StateError(
      `${path} was written by version ${header.version} of the store, this is version ${storeVersion}`,
      { code: 'state_mismatch', file: path },
    );
  }
  return header;
}

function readHeader(first: unknown, path: string): StoreHeader {
  try {
    return parseStoreHeader(first);
  } catch (cause) {
    throw damagedLog(path, 'does not begin as a log of this service does', cause);
  }
}
