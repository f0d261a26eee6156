import type { Kind } from '../values/kinds.js';

/** Stands for a cell whose bytes are no valid text in the input's encoding. */
export const invalidText: unique symbol = Symbol('invalid text');

/** What a cell holds for the line rules: its text, nothing (absent or null), or no valid text. */
export type CellText = string | undefined | typeof invalidText;

/**
 * Where the bytes of cells are: those of one cell from `cellStart` to `cellEnd`, without the quotes around
 * it; a quote inside is doubled. A cell that is absent, or whose bytes are not its text, ends before it
 * starts. Only for columns that were wanted.
 */
export interface RawCells {
  readonly bytes: Uint8Array;
  cellStart(row: number, column: number): number;
  cellEnd(row: number, column: number): number;
}

/**
 * Some rows of one source, in order. Rows travel inside as chunks: a CSV chunk keeps the raw bytes and
 * parses a cell only when it is asked for, a chunk of objects keeps the objects.
 */
export interface RowChunk {
  /** Number of rows. */
  readonly length: number;
  /** About how many bytes of memory the chunk holds, for bounds on what waits. */
  readonly byteSize: number;
  /** Text of one cell; `column` is a position in the source's header. */
  text(row: number, column: number): CellText;
  /**
   * What the source itself has in a cell, where that is more than text: a number, a boolean, a date, a
   * nested value. Absent where all cells are text.
   */
  value?(row: number, column: number): unknown;
  /**
   * What kind of value a cell holds, where neither its column nor the value itself says it: a date in a
   * workbook is text that only its cell distinguishes from other text.
   */
  kind?(row: number, column: number): Kind | undefined;
  /** The bytes that hold the cells, where there are any. */
  readonly raw?: RawCells;
  /** All cells of a row, where that costs less than asking for them one by one. */
  cells?(row: number): readonly unknown[];
  /**
   * Number of a row in its sheet or file, as a spreadsheet shows it: the header's own row counts, and what
   * is above it. Absent where it is not known.
   */
  number?(row: number): number;
  /** Of a workbook: the sheet that its rows are in. */
  readonly sheetName?: string;
  /**
   * Name of a cell that the row has beside those of the header. Absent where rows cannot have one.
   */
  unlisted?(row: number): string | undefined;
  /**
   * Gives the memory of the rows back to anyone who reads on. Only for the last who has the chunk:
   * nothing of it may be asked for afterwards.
   */
  release?(): void;
}

/**
 * Chunks whose source is closed when they end, fail, or are not wanted any more; even when they were
 * never asked for, where a generator's own `finally` would not run.
 */
export function closableChunks<Chunk extends RowChunk>(
  chunks: AsyncIterator<Chunk, unknown>,
  close: () => Promise<void>,
): AsyncIterableIterator<Chunk> {
  return {
    async next() {
      let step;
      try {
        step = await chunks.next();
      } catch (error) {
        await close();
        throw error;
      }
      if (step.done !== true) return { done: false, value: step.value };
      await close();
      return { done: true, value: undefined };
    },
    async return() {
      // First: anyone who waits for bytes that may never come is not to be waited for.
      await close();
      await chunks.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
