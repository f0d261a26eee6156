import type { BatchStorage, LineBytes } from './batch-cutter.js';
import { FirstCells } from './first-cells.js';
import { wholeRecords } from './whole-records.js';

/** Before each line that is kept: the number of its batch group, and, in the lower bits, its length. */
export const headBytes = 4;
export const lengthBits = 15;

/** Where a line goes that is the first with its address; its number comes back. */
export type PlaceLine = (group: number, line: LineBytes) => number;

interface NumberedCellsParts {
  readonly place: PlaceLine;
  readonly lines: ReturnType<BatchStorage['open']>;
  readonly window: (window: number) => ReturnType<BatchStorage['open']>;
  readonly known: number;
  readonly cells: number;
  readonly windowCells: number;
}

/** Goes through the cells in the order of the list, each of which gets its number. */
export class NumberedCells {
  readonly #parts: NumberedCellsParts;
  readonly #pieces: AsyncGenerator<Buffer>;
  readonly #first: FirstCells;
  /** By cell of the window: the cell that had its address first plus one, or 0 where it is the first. */
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

  /** The numbers of so many further cells. */
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

  /** The number of the next cell, whose line is at hand. */
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
