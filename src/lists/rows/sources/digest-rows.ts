import type { Hash } from 'node:crypto';
import { invalidText, type RowChunk } from '../chunks/row-chunk.js';

/** Where the bytes of a source cannot be compared, as not all of them are seen, cells are. */
export function digestRows(hash: Hash, chunk: RowChunk, columns: readonly number[]): void {
  for (let row = 0; row < chunk.length; row += 1) {
    let text = '';
    for (const column of columns) {
      const cell = chunk.text(row, column);
      if (cell === undefined) text += '-';
      else text += cell === invalidText ? '!' : `${cell.length}:${cell}`;
    }
    hash.update(`${text}\n`);
  }
}
