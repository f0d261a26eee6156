import type { Random } from '../random.js';

let inodes = 0;

/** What a disk writes at once, in bytes: either a sector is written or it is not. */
const blockSizes = [512, 4096] as const;

/** A file: what programs read, and what of it would outlast a power cut for certain. */
export class DiskFile {
  readonly ino = (inodes += 1);
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #synced: Buffer = Buffer.alloc(0);

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  get synced(): Buffer {
    return this.#synced;
  }

  append(added: Uint8Array): void {
    const length = this.#length + added.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(256, length * 2));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(added, this.#length);
    this.#length = length;
  }

  truncate(length: number): void {
    if (length >= this.#length) return;
    // A copy: the snapshot of the last sync must not be written over.
    this.#replace(Buffer.from(this.bytes.subarray(0, length)));
  }

  sync(): void {
    this.#synced = this.bytes;
  }

  /** The power is cut: what was not synced is there, or not, or in any of its blocks. */
  crash(random: Random): void {
    const how = random.next();
    if (how < 0.3) this.#replace(Buffer.from(this.#synced));
    else if (how < 0.45) this.#replace(Buffer.from(this.bytes));
    else this.#replace(this.#torn(random));
    this.sync();
  }

  /**
   * Of the blocks any are written; in the place of the others is what was there at the last sync, or zeros
   * where there was nothing. The length of the file is the old one, the new one, or one between.
   */
  #torn(random: Random): Buffer {
    const [before, after] = [this.#synced, this.bytes];
    const [least, most] = [before.length, after.length].toSorted((a, b) => a - b) as [
      number,
      number,
    ];
    const disk = Buffer.alloc(random.pick([most, most, random.between(least, most)]));
    before.copy(disk);
    const blockBytes = random.pick(blockSizes);
    const chance = random.pick([0.1, 0.5, 0.9, 1]);
    for (let at = 0; at < disk.length; at += blockBytes) {
      const [old, written] = [before, after].map((bytes) =>
        bytes.subarray(at, at + blockBytes),
      ) as [Buffer, Buffer];
      if (old.equals(written) || !random.chance(chance)) continue;
      disk.fill(0, at, Math.min(at + blockBytes, disk.length));
      written.copy(disk, at);
    }
    return disk;
  }

  #replace(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#length = bytes.length;
  }
}

export type DiskEntry = DiskFile | DiskDirectory;

/** A directory: its names as programs see them, and those that would outlast a power cut. */
export class DiskDirectory {
  readonly ino = (inodes += 1);
  #entries = new Map<string, DiskEntry>();
  #synced: ReadonlyMap<string, DiskEntry> = new Map();
  #changes: ((entries: Map<string, DiskEntry>) => void)[] = [];

  get entries(): ReadonlyMap<string, DiskEntry> {
    return this.#entries;
  }

  get synced(): ReadonlyMap<string, DiskEntry> {
    return this.#synced;
  }

  add(name: string, entry: DiskEntry): void {
    this.#change((entries) => void entries.set(name, entry));
  }

  remove(name: string): void {
    this.#change((entries) => void entries.delete(name));
  }

  rename(from: string, to: string, entry: DiskEntry): void {
    this.#change((entries) => {
      entries.delete(from);
      entries.set(to, entry);
    });
  }

  sync(): void {
    this.#synced = new Map(this.#entries);
    this.#changes = [];
  }

  /** All that programs have written lasts: the machine had time for it. */
  settle(): void {
    this.sync();
    for (const entry of this.#entries.values()) {
      if (entry instanceof DiskDirectory) entry.settle();
      else entry.sync();
    }
  }

  /** The power is cut: of the changes since the last sync any are there, as if the others had not been. */
  crash(random: Random): void {
    const all = this.#changes.length;
    const first = random.pick([0, all, random.between(0, all)]);
    const chance = random.pick([0, 0, 0.5]);
    this.#entries = new Map(this.#synced);
    for (const [index, change] of this.#changes.entries()) {
      if (index < first !== random.chance(chance)) change(this.#entries);
    }
    this.sync();
    for (const entry of this.#entries.values()) entry.crash(random);
  }

  #change(change: (entries: Map<string, DiskEntry>) => void): void {
    change(this.#entries);
    this.#changes.push(change);
  }
}
