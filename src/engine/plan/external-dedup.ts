import {
  AddressTable,
  shardCount as partitionCount,
  type HashWords,
} from '../../platform/hashing/address-table.js';
import { InputError } from '../../platform/errors/errors.js';
import { type BatchStorage, type LineBytes, wholeRecords } from './batch-cutter.js';
import { NumberList } from './address-book.js';
import { headBytes, lengthBits, DedupMerge, type PlaceLine } from './dedup-merge.js';

/** Words of a record in a partition: three of the hash, then the cell plus one, as in a table's slots. */
const slotWords = 4;
const blockWords = 16 * 1024;
const blockBytes = 64 * 1024;

type Words = [number, number, number];

const linesStream = partitionCount;
const firstWindow = linesStream + 1;

/** Cells of a window, whose predecessors are in memory at once: four bytes each. */
const usualWindow = 2 ** 22;

/** Addresses for which a partition has room from the beginning. */
const mostReserved = 2 ** 20;

/**
 * Numbers the addresses of a list that is too large for one table. Each cell's hash is written to one of 128
 * partitions, and its line to a common stream. When the list is read to its end, each partition in turn has a
 * table, which finds repeated addresses; these are sorted back into list order, window by window, and then
 * the lines are read once.
 *
 * Cells are counted on from the addresses numbered before, so that both have the same records.
 */
export class ExternalDedup {
  readonly #storage: BatchStorage;
  readonly #known: number;
  readonly #windowCells: number;
  readonly #blocks: Int32Array[] = Array.from({ length: partitionCount }, () => new Int32Array(0));
  readonly #used = new Uint32Array(partitionCount);
  readonly #records = new Uint32Array(partitionCount);
  readonly #begun = new Set<number>();
  #lines = Buffer.alloc(0);
  #lineBytes = 0;
  #cells = 0;
  #allLines = 0;

  /** @param options.known addresses numbered before */
  constructor(options: {
    readonly storage: BatchStorage;
    readonly known: number;
    /** @default 4,194,304 */
    readonly windowCells?: number | undefined;
  }) {
    this.#storage = options.storage;
    this.#known = options.known;
    this.#windowCells = options.windowCells ?? usualWindow;
  }

  get lineBytes(): number {
    return this.#allLines;
  }

  addKnown(partition: number, slots: Int32Array): void {
    for (let at = 0; at < slots.length; at += slotWords) {
      const entry = slots[at + 3] as number;
      if (entry === 0) continue;
      const [word0, word1, word2] = [slots[at], slots[at + 1], slots[at + 2]] as Words;
      this.#put(partition, { word0, word1, word2 }, entry);
    }
  }

  add(hash: HashWords, group: number, line: string | LineBytes): void {
    const cell = this.#known + this.#cells;
    if (cell >= 0xffff_fffe) throw new InputError('the list has more cells than can be counted');
    this.#put(hash.word3 & (partitionCount - 1), hash, cell + 1);
    this.#putLine(group, line);
    this.#cells += 1;
  }

  /** Finds the repeated cells, once all have come. @param flush called when much was written to the storage */
  async findRepeated(flush: () => Promise<void>): Promise<void> {
    for (let partition = 0; partition < partitionCount; partition += 1) this.#endBlock(partition);
    this.#endLines();
    await flush();
    for (let partition = 0; partition < partitionCount; partition += 1) {
      if (!this.#begun.has(partition)) continue;
      await this.#findRepeatedIn(partition);
      await flush();
    }
  }

  numbered(place: PlaceLine): DedupMerge {
    return new DedupMerge({
      place,
      lines: this.#begun.has(linesStream) ? this.#storage.open(linesStream) : [],
      window: (window) =>
        this.#begun.has(firstWindow + window) ? this.#storage.open(firstWindow + window) : [],
      known: this.#known,
      cells: this.#cells,
      windowCells: Math.min(this.#windowCells, this.#cells),
    });
  }

  async #findRepeatedIn(partition: number): Promise<void> {
    // The hashes are known: nothing is hashed by it.
    const table = new AddressTable({ seed: new Uint8Array(32) });
    table.reserve(partition, Math.min(this.#records[partition] as number, mostReserved));
    const cells = new NumberList();
    const hash = { word0: 0, word1: 0, word2: 0, word3: partition };
    let [window, repeated]: [number, number[]] = [0, []];
    const end = (): void => {
      if (repeated.length > 0) this.#store(firstWindow + window, Uint32Array.from(repeated));
      repeated = [];
    };
    const recordBytes = slotWords * Int32Array.BYTES_PER_ELEMENT;
    const blocks = this.#storage.open(partition);
    for await (const piece of wholeRecords(blocks, recordBytes, () => recordBytes)) {
      const slots = new Int32Array(new Uint8Array(piece).buffer);
      for (let at = 0; at < slots.length; at += slotWords) {
        hash.word0 = slots[at] as number;
        hash.word1 = slots[at + 1] as number;
        hash.word2 = slots[at + 2] as number;
        const entry = (slots[at + 3] as number) >>> 0;
        const { size } = table;
        const found = table.addHashed(hash);
        if (found === size) {
          cells.push(entry);
          continue;
        }
        const cell = entry - 1 - this.#known;
        const windowOf = Math.floor(cell / this.#windowCells);
        if (windowOf !== window || repeated.length >= blockWords) end();
        window = windowOf;
        repeated.push(cell % this.#windowCells, cells.at(found));
      }
    }
    end();
  }

  #put(
    partition: number,
    { word0, word1, word2 }: Pick<HashWords, 'word0' | 'word1' | 'word2'>,
    entry: number,
  ): void {
    let block = this.#blocks[partition] as Int32Array;
    if (this.#used[partition] === block.length) {
      this.#endBlock(partition);
      block = new Int32Array(blockWords);
      this.#blocks[partition] = block;
    }
    const at = this.#used[partition] as number;
    block[at] = word0;
    block[at + 1] = word1;
    block[at + 2] = word2;
    block[at + 3] = entry;
    this.#used[partition] = at + slotWords;
    this.#records[partition] = (this.#records[partition] as number) + 1;
  }

  #endBlock(partition: number): void {
    const used = this.#used[partition] as number;
    if (used > 0) this.#store(partition, (this.#blocks[partition] as Int32Array).subarray(0, used));
    this.#used[partition] = 0;
    this.#blocks[partition] = new Int32Array(0);
  }

  #putLine(group: number, line: string | LineBytes): void {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    const most = typeof line === 'string' ? line.length * 3 : line.end - line.start;
    if (this.#lineBytes + headBytes + most > this.#lines.length) {
      this.#endLines();
      this.#lines = Buffer.allocUnsafe(Math.max(blockBytes, headBytes + most));
    }
    const lines = this.#lines;
    const from = this.#lineBytes + headBytes;
    let length = most;
    if (typeof line === 'string') length = lines.write(line, from, 'utf8');
    else {
      const { bytes, start } = line;
      for (let at = 0; at < length; at += 1) lines[from + at] = bytes[start + at] as number;
    }
    lines.writeUInt32LE(((group << lengthBits) | length) >>> 0, this.#lineBytes);
    this.#lineBytes = from + length;
  }

  #endLines(): void {
    this.#allLines += this.#lineBytes;
    if (this.#lineBytes > 0) this.#store(linesStream, this.#lines.subarray(0, this.#lineBytes));
    this.#lineBytes = 0;
    this.#lines = Buffer.alloc(0);
  }

  #store(stream: number, { buffer, byteOffset, byteLength }: ArrayBufferView): void {
    this.#begun.add(stream);
    this.#storage.append(stream, new Uint8Array(buffer, byteOffset, byteLength));
  }
}
