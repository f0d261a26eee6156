import type { FileHandle } from 'node:fs/promises';
import type { OutputFiles } from '../../../../src/lists/files/outputs/output-path.js';
import type { FileSystem } from '../../../../src/platform/files/file-system.js';
import { DiskDirectory, DiskFile, type DiskEntry } from './disk.js';
import type { FileCall, FilePlace } from '../faults/fault.js';
import { Life, never, type World } from '../world.js';

/** Asked before each call: the code of the error it fails with. */
export type FileTrouble = (place: FilePlace, call: FileCall) => string | undefined;

/** What of the disk every process shares. */
export interface Disk {
  readonly root: DiskDirectory;
  /** By the file: the open files that hold its lock, by their processes, which may share it. */
  readonly locks: Map<DiskEntry, { readonly isShared: boolean; readonly by: Map<object, Life> }>;
  /** Files that are open. */
  readonly opened: Set<object>;
  /** Whether locks are shown to those who only look, as Linux does. */
  listsLocks: boolean;
}

export function createDisk(): Disk {
  const root = new DiskDirectory();
  const disk = new DiskDirectory();
  root.add('disk', disk);
  root.sync();
  disk.add('out', new DiskDirectory());
  disk.sync();
  return { root, locks: new Map(), opened: new Set(), listsLocks: true };
}

/** What is read of a file. */
export function textOf(disk: Disk, path: string): string | undefined {
  const entry = find(disk, path);
  return entry instanceof DiskFile ? entry.bytes.toString() : undefined;
}

/** What would be read of a file after a power cut at the worst moment. */
export function durableText(disk: Disk, path: string): string {
  let entry: DiskEntry | undefined = disk.root;
  for (const name of namesOf(path)) {
    entry = entry instanceof DiskDirectory ? entry.synced.get(name) : undefined;
  }
  return entry instanceof DiskFile ? entry.synced.toString() : '';
}

export function exists(disk: Disk, path: string): boolean {
  return find(disk, path) !== undefined;
}

function find(disk: Disk, path: string): DiskEntry | undefined {
  let entry: DiskEntry | undefined = disk.root;
  for (const name of namesOf(path)) {
    entry = entry instanceof DiskDirectory ? entry.entries.get(name) : undefined;
  }
  return entry;
}

/** Reads the disk as a process that only looks at it. */
export async function lookAtDisk<Value>(
  world: World,
  disk: Disk,
  read: (files: FileSystem) => Promise<Value>,
): Promise<Value> {
  const life = new Life(world, 0, () => undefined);
  let isRead = false;
  const reading = read(memoryFiles(disk, life, () => undefined));
  const note = (): void => void (isRead = true);
  reading.then(note, note);
  await world.runUntil(() => isRead);
  return reading;
}

/** The calls that a run and its output make on the disk, for one process. */
export function memoryFiles(
  disk: Disk,
  life: Life,
  trouble: FileTrouble,
): FileSystem & OutputFiles {
  const calls = new Calls(disk, life, trouble);
  // Of the many forms of Node's calls only those that runs use are there.
  return {
    mkdir: calls.mkdir,
    open: calls.open,
    openLocked: calls.openLocked,
    isListedLocked: calls.isListedLocked,
    readFile: calls.readFile,
    readdir: calls.readdir,
    rename: calls.rename,
    rm: calls.rm,
    stat: calls.stat,
    statfs: calls.statfs,
    access: calls.access,
    realpath: calls.realpath,
    readlink: calls.readlink,
    // Nobody else works on this disk, and it has no links.
    checkPrivateFile: async () => undefined,
    checkPrivateFolder: async () => undefined,
  } as unknown as FileSystem & OutputFiles;
}

class Calls {
  readonly #disk: Disk;
  readonly #life: Life;
  readonly #trouble: FileTrouble;

  constructor(disk: Disk, life: Life, trouble: FileTrouble) {
    this.#disk = disk;
    this.#life = life;
    this.#trouble = trouble;
  }

  mkdir = async (path: string): Promise<string | undefined> => {
    await this.enter(path, 'mkdir');
    let made: string | undefined;
    let directory = this.#disk.root;
    for (const name of namesOf(path)) {
      let next = directory.entries.get(name);
      if (!next) {
        directory.add(name, (next = new DiskDirectory()));
        made ??= path.slice(0, path.indexOf(name) + name.length);
      }
      if (!(next instanceof DiskDirectory)) throw systemError('ENOTDIR', path);
      directory = next;
    }
    await this.#life.pass();
    return made;
  };

  open = async (path: string, flags: string): Promise<FileHandle> => {
    await this.enter(path, 'open');
    const there = find(this.#disk, path);
    if (flags === 'r') {
      if (!there) throw systemError('ENOENT', path);
      return this.#handle(path, there);
    }
    if (there instanceof DiskDirectory) throw systemError('EISDIR', path);
    if (there && flags === 'wx') throw systemError('EEXIST', path);
    const file = there ?? this.#create(path);
    if (flags.startsWith('w')) file.truncate(0);
    await this.#life.pass();
    return this.#handle(path, file);
  };

  openLocked = async (path: string, isShared = false): Promise<FileHandle | undefined> => {
    await this.enter(path, 'open');
    const there = find(this.#disk, path) ?? this.#create(path);
    const held = this.#disk.locks.get(there);
    // A lock ends with its process.
    for (const [handle, life] of held?.by ?? []) if (life.isDead) held?.by.delete(handle);
    const isFree = !held || held.by.size === 0;
    if (!isFree && !(isShared && held.isShared)) return undefined;
    const handle = this.#handle(path, there);
    const by = isFree ? new Map<object, Life>() : held.by;
    this.#disk.locks.set(there, { isShared, by: by.set(handle, this.#life) });
    return handle;
  };

  isListedLocked = async (path: string, access?: 'READ'): Promise<boolean> => {
    await this.#life.pass();
    const there = find(this.#disk, path);
    const held = there && this.#disk.locks.get(there);
    const isHeld = [...(held?.by.values() ?? [])].some(({ isDead }) => !isDead);
    return this.#disk.listsLocks && isHeld && (access === undefined || held?.isShared === true);
  };

  readFile = async (path: string): Promise<Buffer> => {
    await this.enter(path, 'read');
    const there = find(this.#disk, path);
    if (!(there instanceof DiskFile)) throw systemError('ENOENT', path);
    return Buffer.from(there.bytes);
  };

  readdir = async (path: string): Promise<string[]> => {
    await this.enter(path, 'readdir');
    const there = find(this.#disk, path);
    if (!(there instanceof DiskDirectory)) throw systemError('ENOENT', path);
    return [...there.entries.keys()];
  };

  rename = async (from: string, to: string): Promise<void> => {
    await this.enter(from, 'rename');
    const there = find(this.#disk, from);
    if (!there) throw systemError('ENOENT', from);
    this.#parent(from).rename(nameOf(from), nameOf(to), there);
    await this.#life.pass();
  };

  rm = async (path: string): Promise<void> => {
    await this.enter(path, 'rm');
    const there = find(this.#disk, path);
    if (there instanceof DiskDirectory) empty(there);
    if (there) this.#parent(path).remove(nameOf(path));
    await this.#life.pass();
  };

  stat = async (path: string): Promise<Stats> => {
    await this.enter(path, 'stat');
    const there = find(this.#disk, path);
    if (!there) throw systemError('ENOENT', path);
    return statOf(there);
  };

  access = async (path: string): Promise<void> => {
    await this.stat(path);
  };

  realpath = async (path: string): Promise<string> => {
    await this.stat(path);
    return path;
  };

  readlink = async (path: string): Promise<never> => {
    await this.stat(path);
    throw systemError('EINVAL', path);
  };

  statfs = async (path: string): Promise<{ bavail: number; bsize: number }> => {
    await this.enter(path, 'stat');
    return { bavail: 1_000_000, bsize: 4096 };
  };

  /** Before every call: the process may die here, or the call fail. */
  async enter(path: string, call: FileCall): Promise<void> {
    await this.#life.pass();
    const code = this.#trouble(placeOf(path), call);
    const { world } = this.#life;
    if (world.isTraced) world.tell(`${call} ${path}${code === undefined ? '' : ` -> ${code}`}`);
    if (code !== undefined) throw systemError(code, path);
  }

  async leave(): Promise<void> {
    if (!this.#life.step()) await never();
  }

  close(handle: object, entry: DiskEntry): void {
    this.#disk.opened.delete(handle);
    this.#disk.locks.get(entry)?.by.delete(handle);
  }

  #create(path: string): DiskFile {
    const file = new DiskFile();
    this.#parent(path).add(nameOf(path), file);
    return file;
  }

  #parent(path: string): DiskDirectory {
    const parent = find(this.#disk, path.slice(0, path.lastIndexOf('/')));
    if (!(parent instanceof DiskDirectory)) throw systemError('ENOENT', path);
    return parent;
  }

  #handle(path: string, entry: DiskEntry): FileHandle {
    const handle = new OpenFile(this, path, entry);
    this.#disk.opened.add(handle);
    return handle as unknown as FileHandle;
  }
}

/** An open file, with the calls that runs make on one. */
class OpenFile {
  readonly path: string;
  readonly #calls: Calls;
  readonly #entry: DiskEntry;
  #position = 0;

  constructor(calls: Calls, path: string, entry: DiskEntry) {
    this.#calls = calls;
    this.path = path;
    this.#entry = entry;
  }

  async appendFile(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    try {
      await this.#calls.enter(this.path, 'write');
    } catch (error) {
      // A disk that is full has often taken a part.
      this.#file().append(bytes.subarray(0, bytes.length >> 1));
      throw error;
    }
    this.#file().append(bytes);
    await this.#calls.leave();
  }

  async writeFile(data: string | Uint8Array): Promise<void> {
    await this.appendFile(data);
  }

  async chmod(): Promise<void> {
    await this.#calls.enter(this.path, 'stat');
  }

  async read(buffer: Buffer): Promise<{ bytesRead: number; buffer: Buffer }> {
    await this.#calls.enter(this.path, 'read');
    const bytesRead = this.#file().bytes.copy(buffer, 0, this.#position);
    this.#position += bytesRead;
    return { bytesRead, buffer };
  }

  async readFile(): Promise<Buffer> {
    await this.#calls.enter(this.path, 'read');
    return Buffer.from(this.#file().bytes);
  }

  async truncate(length: number): Promise<void> {
    await this.#calls.enter(this.path, 'truncate');
    this.#file().truncate(length);
    await this.#calls.leave();
  }

  async sync(): Promise<void> {
    await this.#calls.enter(this.path, 'sync');
    this.#entry.sync();
    await this.#calls.leave();
  }

  async datasync(): Promise<void> {
    return this.sync();
  }

  async stat(): Promise<Stats> {
    await this.#calls.enter(this.path, 'stat');
    return statOf(this.#entry);
  }

  async close(): Promise<void> {
    // Whatever close(2) says, the descriptor is gone.
    this.#calls.close(this, this.#entry);
    await this.#calls.enter(this.path, 'close');
  }

  #file(): DiskFile {
    if (this.#entry instanceof DiskFile) return this.#entry;
    throw systemError('EISDIR', this.path);
  }
}

/** Of what Node says of a file, what is looked at. */
interface Stats {
  readonly ino: number;
  readonly dev: number;
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

function statOf(entry: DiskEntry): Stats {
  const isFile = entry instanceof DiskFile;
  return {
    ino: entry.ino,
    dev: 1,
    size: isFile ? entry.bytes.length : 0,
    mode: isFile ? 0o100600 : 0o40700,
    uid: 0,
    gid: 0,
    isFile: () => isFile,
    isDirectory: () => !isFile,
  };
}

/** As the system does it: name by name, of which a power cut may leave any. */
function empty(directory: DiskDirectory): void {
  for (const [name, entry] of directory.entries) {
    if (entry instanceof DiskDirectory) empty(entry);
    directory.remove(name);
  }
}

function namesOf(path: string): string[] {
  return path.split('/').slice(1);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Which part of a state directory a path belongs to. */
function placeOf(path: string): FilePlace {
  const [, folder, ...inside] = namesOf(path);
  if (folder === 'out') return 'sink';
  switch (inside[0]) {
    case 'lock':
    case 'journal':
    case 'tickets':
      return inside[0];
    case 'batches':
    case 'results':
      return inside.length > 1 ? inside[0] : 'folder';
    default:
      return 'folder';
  }
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, syscall: 'simulated', path });
}
