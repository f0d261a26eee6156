import type { Kind } from '../values/kinds.js';
import { orAborted } from '../../../platform/waiting/promises.js';

/** A cell whose bytes are invalid in the input's encoding. */
export const invalidText: unique symbol = Symbol('invalid text');

/** A cell for the line rules: its text, nothing (absent or null), or invalid text. */
export type CellText = string | undefined | typeof invalidText;

/** How a workbook shows the number, date or time in a cell. */
export interface CellFormat {
  /** As in `0000000000`; nothing for the general format. */
  readonly code: string | undefined;
  /** The number of a format that every workbook has. */
  readonly builtIn?: number | undefined;
  /** The number itself, where the cell's value is its text: a date, a time. */
  readonly serial?: number;
  /** What the text stands for then. */
  readonly kind?: 'date' | 'time' | 'timestamp';
}

/**
 * Bounds of cells in bytes: a cell is from `cellStart` to `cellEnd`, without the surrounding quotes; an inner
 * quote is doubled. An absent cell, one whose bytes are not its text, and one that was not located because
 * nobody wanted its column, end before they start.
 */
export interface RawCells {
  readonly bytes: Uint8Array;
  cellStart(row: number, column: number): number;
  cellEnd(row: number, column: number): number;
}

/**
 * Some rows of one source, in order. A CSV chunk keeps the raw bytes and parses a cell when it is read; a
 * chunk of objects keeps the objects.
 */
export interface RowChunk {
  /** Number of rows. */
  readonly length: number;
  /** Approximate memory of the chunk in bytes, for bounds on waiting rows. */
  readonly byteSize: number;
  /** Text of one cell; `column` is a position in the source's header. */
  text(row: number, column: number): CellText;
  /** A cell's typed value: a number, a boolean, a date, a nested value. Absent where all cells are text. */
  value?(row: number, column: number): unknown;
  /**
   * The kind of a cell's value, where neither the column nor the value shows it: a date in a workbook is text
   * that only its cell marks as a date.
   */
  kind?(row: number, column: number): Kind | undefined;
  /** How a workbook shows a cell. Absent where the source is no workbook. */
  format?(row: number, column: number): CellFormat | undefined;
  /** The bytes of the cells, if any. */
  readonly raw?: RawCells;
  /** Names of the objects around a column's value, and its own; JSON rows are written by it. */
  path?(column: number): readonly string[];
  /** All cells of a row, where that is cheaper than one by one. */
  cells?(row: number): readonly unknown[];
  /**
   * Number of a row in its sheet or file, as a spreadsheet shows it, counting the header and the rows above
   * it. Absent where unknown.
   */
  number?(row: number): number;
  /** Name of a workbook's sheet. */
  readonly sheetName?: string;
  /** Whether a row comes from the same row of the input as the one before. Absent where none does. */
  isSplitOff?(row: number): boolean;
  /** All addresses of the input's cell, where a row has one of them. Absent where none does. */
  parts?(row: number, column: number): readonly string[] | undefined;
  /** Name of a cell beside those of the header. Absent where rows cannot have one. */
  unlisted?(row: number): string | undefined;
  /**
   * Lets the memory of the rows be reused. Only for the last holder of the chunk, which must not be read
   * afterwards.
   */
  release?(): void;
}

/**
 * Chunks whose source is closed when they end, fail, or are abandoned; even before the first is read, where a
 * generator's `finally` would not run.
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
      // First: a pending read may never end.
      await close();
      await chunks.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The chunks of another reading, each changed as it passes. @param atEnd called after the last one */
export function changedChunks<From extends RowChunk, To extends RowChunk>(
  chunks: AsyncIterator<From, unknown>,
  change: (chunk: From) => To,
  atEnd?: () => void,
): AsyncIterableIterator<To> {
  const all = async function* (): AsyncGenerator<To> {
    for (let step = await chunks.next(); step.done !== true; step = await chunks.next()) {
      yield change(step.value);
    }
    atEnd?.();
  };
  return closableChunks(all(), async () => void (await chunks.return?.()));
}

/** Enough rows for a chunk; more would only wait. */
const mostRows = 512;

/** Gathers single items into lists without delaying them: a list is passed on once the event loop has turned. */
export async function* gatherRows<Item>(
  items: AsyncIterable<Item>,
  signal?: AbortSignal,
): AsyncGenerator<Item[]> {
  const iterator = items[Symbol.asyncIterator]();
  let isOver = false;
  try {
    let next = iterator.next();
    for (;;) {
      const step = await orAborted(next, signal);
      if (step.done === true) break;
      const gathered = [step.value];
      next = iterator.next();
      const turn = turnOfLoop();
      let more = await Promise.race([next, turn]);
      while (more !== undefined && more.done !== true) {
        gathered.push(more.value);
        next = iterator.next();
        if (gathered.length >= mostRows) break;
        more = await Promise.race([next, turn]);
      }
      // An error that arrives while the list is processed belongs to the next one.
      next.catch(() => undefined);
      // Where rows and output are always ready, the event loop would never turn: timers and aborts would
      // wait.
      if (gathered.length >= mostRows) await turn;
      yield gathered;
    }
    isOver = true;
  } finally {
    // Not awaited: it may be in a wait of its own.
    if (!isOver) iterator.return?.().catch(() => undefined);
  }
}

function turnOfLoop(): Promise<undefined> {
  return new Promise((resolve) => {
    setImmediate(resolve, undefined);
  });
}
