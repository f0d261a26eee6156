import { isUtf8 } from 'node:buffer';
import { invalidText, type CellText, type RowChunk } from '../rows/chunks/row-chunk.js';
import { lineEnd, type Lines } from '../files/bytes/line-feed.js';

/** Some lines of a TXT file: each is a row of one cell. */
export class TxtChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  readonly #lines: Lines;

  constructor(lines: Lines) {
    this.#lines = lines;
    this.length = lines.starts.length - 1;
    this.byteSize = lines.bytes.length + lines.starts.byteLength;
  }

  text(row: number, column: number): CellText {
    if (column !== 0) throw new RangeError(`there is no column ${String(column)}`);
    const { bytes, starts } = this.#lines;
    const [start, next] = [starts[row], starts[row + 1]];
    if (start === undefined || next === undefined) {
      throw new RangeError(`there is no row ${String(row)}`);
    }
    const line = bytes.subarray(start, lineEnd(bytes, start, next));
    return isUtf8(line) ? line.toString('utf8') : invalidText;
  }

  /** The bytes of some rows, their line ends included. */
  bytesOf(from: number, to: number): Uint8Array {
    return this.#lines.bytes.subarray(this.#lines.starts[from], this.#lines.starts[to]);
  }
}
