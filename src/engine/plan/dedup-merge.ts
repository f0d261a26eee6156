import { type BatchStorage, type LineBytes, wholeRecords } from './batch-cutter.js';

/** Precedes each stored line: the number of its batch group and, in the lower bits, its length. */
export const headBytes = 4;
export const lengthBits = 15;

/** Places a line that is the first with its address; returns its number. */
export type PlaceLine = (group: number, line: LineBytes) => number;

interface NumberedCellsParts {
  readonly place: PlaceLine;
  readonly lines: ReturnType<BatchStorage['open']>;
  readonly window: (window: number) => ReturnType<BatchStorage['open']>;
  readonly known: number;
  readonly cells: number;
  readonly windowCells: number;
}

export class DedupMerge {
  readonly #parts: NumberedCellsParts;
  readonly #pieces: AsyncGenerator<Buffer>;
  readonly #first: FirstCells;
  /** By cell of the window: the first cell with its address plus one, or 0 for the first itself. */
  readonly #before: Uint32Array;
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;
  #cell = 0;
  #windowEnd = 0;

  constructor(parts: NumberedCellsParts) {
    this.#parts = parts;
    this.#pieces = wholeRecords(parts.lines, headBytes, (bytes, at) => {
      return headBytes + (bytes.readUInt32LE(at) & ((1 << lengthBits) - 1));
    });
    this.#first = new FirstCells(parts.cells);
    this.#before = new Uint32Array(parts.windowCells);
  }

  async next(count: number): Promise<Uint32Array> {
    const numbers = new Uint32Array(count);
    for (let filled = 0; filled < count;) {
      if (this.#cell === this.#windowEnd) await this.#openWindow();
      if (this.#at === this.#piece.length) await this.#more();
      const most = Math.min(count, filled + this.#windowEnd - this.#cell);
      while (filled < most && this.#at < this.#piece.length) {
        numbers[filled] = this.#number();
        filled += 1;
      }
    }
    return numbers;
  }

  async close(): Promise<void> {
    await this.#pieces.return(undefined);
  }

  #number(): number {
    const { known, windowCells, place } = this.#parts;
    const bytes = this.#piece;
    const head = bytes.readUInt32LE(this.#at);
    const start = this.#at + headBytes;
    const end = start + (head & ((1 << lengthBits) - 1));
    const before = this.#before[this.#cell % windowCells] as number;
    this.#at = end;
    this.#cell += 1;
    this.#first.add(before === 0);
    if (before === 0) return place(head >>> lengthBits, { bytes, start, end });
    return before <= known ? before - 1 : known + this.#first.before(before - 1 - known);
  }

  async #openWindow(): Promise<void> {
    const { window, windowCells } = this.#parts;
    this.#before.fill(0);
    const recordBytes = 2 * Uint32Array.BYTES_PER_ELEMENT;
    const blocks = window(Math.floor(this.#cell / windowCells));
    for await (const piece of wholeRecords(blocks, recordBytes, () => recordBytes)) {
      const repeated = new Uint32Array(new Uint8Array(piece).buffer);
      for (let at = 0; at < repeated.length; at += 2) {
        this.#before[repeated[at] as number] = repeated[at + 1] as number;
      }
    }
    this.#windowEnd = this.#cell + windowCells;
  }

  async #more(): Promise<void> {
    const next = await this.#pieces.next();
    if (next.done === true) throw new Error('fewer lines were kept than cells were read');
    this.#piece = next.value;
    this.#at = 0;
  }
}

const blockBits = 9;
const wordBits = 5;

/** The cells of a list, in order, that are the first with their address, as bits; their number is the count before them. */
export class FirstCells {
  readonly #bits: Uint32Array;
  /** By block of cells: how many first cells precede it. */
  readonly #before: Uint32Array;
  #cells = 0;
  #first = 0;

  constructor(cells: number) {
    this.#bits = new Uint32Array((cells >>> wordBits) + 1);
    this.#before = new Uint32Array((cells >>> blockBits) + 1);
  }

  add(isFirst: boolean): void {
    const cell = this.#cells;
    if ((cell & ((1 << blockBits) - 1)) === 0) this.#before[cell >>> blockBits] = this.#first;
    if (isFirst) {
      this.#bits[cell >>> wordBits] =
        (this.#bits[cell >>> wordBits] as number) | (1 << (cell & 31));
      this.#first += 1;
    }
    this.#cells = cell + 1;
  }

  before(cell: number): number {
    const block = cell >>> blockBits;
    let count = this.#before[block] as number;
    const last = cell >>> wordBits;
    for (let word = block << (blockBits - wordBits); word < last; word += 1) {
      count += bitsIn(this.#bits[word] as number);
    }
    return count + bitsIn((this.#bits[last] as number) & ((1 << (cell & 31)) - 1));
  }
}

function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555);
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
