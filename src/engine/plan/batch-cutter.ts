import { crc32 } from 'node:zlib';
import type { BatchGroup } from '../addresses/address.js';
import type { Batch } from '../batches/batch.js';

const blockBytes = 64 * 1024;
const lineEnd = 0x0a;
const lastAscii = 0x7f;

/** Stores the blocks of a batch's TXT file as they fill, and reads them back as often as asked. */
export interface BatchStorage {
  /** The storage keeps `block`. */
  append(batch: number, block: Uint8Array): void;
  open(batch: number): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

export interface LineBytes {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

interface OpenBatch {
  readonly id: number;
  readonly group: BatchGroup;
  readonly openedAt: number;
  block: Buffer;
  used: number;
  addresses: number;
  sizeBytes: number;
  checksum: number;
}

/** Collects unique addresses into one open batch a group, and closes it at the limit; numbered in order of opening. */
export class BatchCutter {
  readonly #batchSize: number;
  readonly #storage: BatchStorage;
  /** In the order of opening: the first holds up the oldest row. */
  readonly #open = new Map<number, OpenBatch>();
  #closed: Batch[] = [];
  #opened = 0;

  constructor(options: { readonly batchSize: number; readonly storage: BatchStorage }) {
    this.#batchSize = options.batchSize;
    this.#storage = options.storage;
  }

  /**
   * Adds an address to its group's open batch.
   *
   * @param key the batch group's number
   * @param line as text or UTF-8
   * @param now the opening time of a new batch
   * @returns the number of the batch
   */
  add(key: number, group: BatchGroup, line: string | LineBytes, now: number): number {
    const batch = this.#open.get(key) ?? this.#openBatch(key, group, now);
    if (typeof line === 'string') this.#write(batch, line);
    else this.#copy(batch, line);
    batch.addresses += 1;
    if (batch.addresses >= this.#batchSize) this.#close(key, batch);
    return batch.id;
  }

  oldestOpenedAt(): number | undefined {
    for (const batch of this.#open.values()) return batch.openedAt;
    return undefined;
  }

  closeOldest(): void {
    for (const [key, batch] of this.#open) {
      this.#close(key, batch);
      return;
    }
  }

  closeAll(): void {
    for (const [key, batch] of this.#open) this.#close(key, batch);
  }

  get count(): number {
    return this.#opened;
  }

  /** The batches closed since the last call, in the order of their closing. */
  take(): readonly Batch[] {
    const closed = this.#closed;
    this.#closed = [];
    return closed;
  }

  #openBatch(key: number, group: BatchGroup, now: number): OpenBatch {
    const batch: OpenBatch = {
      id: this.#opened,
      group,
      openedAt: now,
      block: Buffer.allocUnsafe(0),
      used: 0,
      addresses: 0,
      sizeBytes: 0,
      checksum: 0,
    };
    this.#opened += 1;
    this.#open.set(key, batch);
    return batch;
  }

  #write(batch: OpenBatch, line: string): void {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    this.#makeRoom(batch, line.length * 3 + 1);
    const { block, used } = batch;
    // Most lines are short ASCII: for them the call of a general encoder takes longest.
    for (let at = 0; at < line.length; at += 1) {
      const unit = line.charCodeAt(at);
      if (unit > lastAscii) {
        this.#endLine(batch, block.write(line, used, 'utf8'));
        return;
      }
      block[used + at] = unit;
    }
    this.#endLine(batch, line.length);
  }

  #copy(batch: OpenBatch, { bytes, start, end }: LineBytes): void {
    this.#makeRoom(batch, end - start + 1);
    const { block, used } = batch;
    for (let at = start; at < end; at += 1) block[used + at - start] = bytes[at] as number;
    this.#endLine(batch, end - start);
  }

  #makeRoom(batch: OpenBatch, bytes: number): void {
    if (batch.used + bytes <= batch.block.length) return;
    this.#flush(batch);
    // The first block is small: most of hundreds of batch groups hold a handful of addresses.
    const size = batch.addresses === 0 ? 1024 : blockBytes;
    batch.block = Buffer.allocUnsafe(Math.max(size, bytes));
  }

  #endLine(batch: OpenBatch, bytes: number): void {
    batch.block[batch.used + bytes] = lineEnd;
    batch.used += bytes + 1;
    batch.sizeBytes += bytes + 1;
  }

  #flush(batch: OpenBatch): void {
    if (batch.used === 0) return;
    const block = batch.block.subarray(0, batch.used);
    batch.checksum = crc32(block, batch.checksum);
    this.#storage.append(batch.id, block);
    batch.used = 0;
  }

  #close(key: number, batch: OpenBatch): void {
    this.#flush(batch);
    this.#open.delete(key);
    const { id, group, addresses, sizeBytes, checksum } = batch;
    const storage = this.#storage;
    const open = (): ReturnType<BatchStorage['open']> => storage.open(id);
    this.#closed.push({ id, group, addresses, sizeBytes, checksum, open });
  }
}

export class MemoryStorage implements BatchStorage {
  readonly #blocks = new Map<number, Uint8Array[]>();

  append(batch: number, block: Uint8Array): void {
    const blocks = this.#blocks.get(batch);
    if (blocks) blocks.push(block);
    else this.#blocks.set(batch, [block]);
  }

  open(batch: number): Iterable<Uint8Array> {
    return this.#blocks.get(batch) ?? [];
  }

  has(batch: number): boolean {
    return this.#blocks.has(batch);
  }

  drop(batch: number): void {
    this.#blocks.delete(batch);
  }
}

/**
 * Cuts a stream of bytes into pieces of whole records. A piece is valid until the next is requested.
 *
 * @param lengthAt the length of the record at a position with at least `headBytes`
 */
export async function* wholeRecords(
  blocks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  headBytes: number,
  lengthAt: (bytes: Buffer, at: number) => number,
): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const block of blocks) {
    const bytes =
      rest.length > 0
        ? Buffer.concat([rest, block])
        : Buffer.from(block.buffer, block.byteOffset, block.byteLength);
    let end = 0;
    while (end + headBytes <= bytes.length) {
      const next = end + lengthAt(bytes, end);
      if (next > bytes.length) break;
      end = next;
    }
    if (end > 0) yield bytes.subarray(0, end);
    rest = Buffer.from(bytes.subarray(end));
  }
  if (rest.length > 0) throw new Error('a stream of records ends within a record');
}
