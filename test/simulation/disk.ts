import type { Random } from './random.js';

let inodes = 0;

/** A file: what programs read, and what of it would outlast a power cut for certain. */
export class DiskFile {
  readonly ino = (inodes += 1);
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #synced: Buffer = Buffer.alloc(0);
  /** So many bytes at the beginning have not been touched since the last sync: no power cut takes them. */
  #untouched = 0;

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
    this.#untouched = Math.min(this.#untouched, length);
    // A copy: the snapshot of the last sync must not be written over.
    this.#replace(Buffer.from(this.bytes.subarray(0, length)));
  }

  sync(): void {
    this.#synced = this.bytes;
    this.#untouched = this.#length;
  }

  /** The power is cut: what was not synced is there, or not, or in part. */
  crash(random: Random): void {
    const { bytes } = this;
    const how = random.next();
    if (how < 0.4) this.#replace(Buffer.from(this.#synced));
    else if (how < 0.6) this.#replace(Buffer.from(bytes));
    else {
      const torn = Buffer.from(bytes);
      const cut = random.between(this.#untouched, bytes.length);
      // The size may be on the disk before the bytes are.
      const isFilled = random.chance(0.2);
      this.#replace(isFilled ? torn.fill(0, cut) : torn.subarray(0, cut));
    }
    this.sync();
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

  /** The power is cut: of the changes since the last sync the first few are there, in their order. */
  crash(random: Random): void {
    const kept = random.pick([0, this.#changes.length, random.between(0, this.#changes.length)]);
    this.#entries = new Map(this.#synced);
    for (const change of this.#changes.slice(0, kept)) change(this.#entries);
    this.sync();
    for (const entry of this.#entries.values()) entry.crash(random);
  }

  #change(change: (entries: Map<string, DiskEntry>) => void): void {
    change(this.#entries);
    this.#changes.push(change);
  }
}
