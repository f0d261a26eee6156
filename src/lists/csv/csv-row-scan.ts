import type { InputError } from '../../platform/errors/errors.js';
import { rowStride, type CsvColumns } from './csv-chunk.js';
import {
  carriageReturnByte,
  lineFeedByte,
  quoteByte,
  csvError,
  type CsvErrorDetails,
} from './csv-format.js';
import { delimiterScanner } from './delimiter-scanner.js';

/** Room that must be after the bytes: the loops run until they meet a byte that stops them. */
export const guardBytes = 2;

interface RowScanOptions {
  readonly name: string;
  readonly delimiter: number;
  readonly maxRowBytes: number;
  /** Line number of the first row. @default 1 */
  readonly firstLine?: number;
}

/**
 * The loop over the bytes. It is somewhere in a row, may be halted at any byte and goes on there
 * when there are more; what it finds is written in the row table (see CsvChunk).
 */
export class RowScan {
  readonly #options: RowScanOptions;
  #columns: CsvColumns | undefined;
  #rowStart = 0;
  #cellStart = 0;
  #at = 0;
  #inQuotes = false;
  /** Cells of the current row so far. */
  #cell = 0;
  /** Line of the row's start, and line feeds within its quotes. */
  #line = 1;
  #lineFeeds = 0;
  #table = new Uint32Array(1024);
  #used = 0;

  constructor(options: RowScanOptions) {
    this.#options = options;
  }

  get rowStart(): number {
    return this.#rowStart;
  }

  /** Starts at the first row; `markBytes` of a byte-order mark are not part of its first cell. */
  begin(markBytes: number, columns: CsvColumns | undefined): void {
    this.#columns = columns;
    this.#rowStart = 0;
    this.#at = this.#cellStart = markBytes;
    this.#line = this.#options.firstLine ?? 1;
    this.#used = 0;
  }

  /** The columns are known: rows after the header are scanned for them. */
  expect(columns: CsvColumns): void {
    this.#columns = columns;
    this.#used = 0;
  }

  /** The bytes have moved towards the front by this many. */
  moved(by: number): void {
    this.#rowStart -= by;
    this.#cellStart -= by;
    this.#at -= by;
    // Cells found so far of the row it is in.
    const end = this.#used + rowStride(this.#columns?.wanted ?? 0);
    for (let at = this.#used; at < end; at += 1) this.#table[at] = (this.#table[at] ?? 0) - by;
  }

  /** The table of the rows found since the last call; `undefined` without rows. */
  take(): Uint32Array | undefined {
    if (this.#used === 0) return undefined;
    const table = this.#table.slice(0, this.#used + 1);
    // The current row stays, with the cells found so far.
    this.#table.copyWithin(0, this.#used, this.#used + rowStride(this.#columns?.wanted ?? 0));
    this.#used = 0;
    return table;
  }

  /**
   * Goes on through `bytes` up to `filled`. Stops after the first row as long as the columns are not
   * known. When these are the last bytes, a row without line end is complete.
   */
  scan(bytes: Uint8Array, filled: number, isLast: boolean): void {
    const { delimiter, maxRowBytes } = this.#options;
    const isHead = this.#columns === undefined;
    const count = this.#columns?.count ?? 0;
    const slots = this.#columns?.slots ?? noSlots;
    const stride = rowStride(this.#columns?.wanted ?? 0);
    let table = this.#table;
    let used = this.#used;
    let rowStart = this.#rowStart;
    let cellStart = this.#cellStart;
    let at = this.#at;
    let inQuotes = this.#inQuotes;
    let cell = this.#cell;
    let line = this.#line;
    let lineFeeds = this.#lineFeeds;
    if (stride >= table.length) table = this.#table = grown(table, stride);

    // Guards: among the last bytes a line feed ends the last row, and a quote after it a cell that is
    // never closed; else a quote stops all loops. So none of them has to look where the bytes end.
    bytes[filled] = isLast ? lineFeedByte : quoteByte;
    bytes[filled + 1] = quoteByte;
    table[used] = rowStart;
    const base = at;
    /** The first carriage return in or after the cell; those that end lines are passed over. */
    let carriageReturn = indexOfReturn(bytes, cellStart, filled);
    const stops = delimiterScanner().find(bytes, base, filled + guardBytes, delimiter);
    /** The first of them that is at `at` or after. */
    let stop = 0;

    scanning: while (at < filled || (isLast && rowStart < filled)) {
      let byte = bytes[at] as number;
      let cellEnd: number;
      if (inQuotes || (byte === quoteByte && at === cellStart)) {
        if (!inQuotes) {
          inQuotes = true;
          at += 1;
          stop += 1;
        }
        for (;;) {
          at = base + (stops[stop] as number);
          byte = bytes[at] as number;
          while (byte !== quoteByte) {
            if (byte === lineFeedByte) lineFeeds += 1;
            stop += 1;
            at = base + (stops[stop] as number);
            byte = bytes[at] as number;
          }
          if (at + 1 >= filled) {
            if (!isLast) break scanning;
            if (at >= filled)
              throw this.#trouble(
                'unclosed_quote',
                line + countLineFeeds(bytes, rowStart, cellStart),
              );
          }
          if (bytes[at + 1] !== quoteByte) break;
          at += 2;
          stop += 2;
        }
        cellEnd = at + 1;
        byte = bytes[cellEnd] as number;
        if (byte === carriageReturnByte) {
          at = cellEnd + 1;
          while (at < filled && bytes[at] === carriageReturnByte) at += 1;
          if (at >= filled && !isLast) {
            at = cellEnd - 1;
            break;
          }
          if (bytes[at] !== lineFeedByte) {
            throw this.#trouble('lone_carriage_return', line + lineFeeds);
          }
          byte = lineFeedByte;
        } else if (byte === delimiter || byte === lineFeedByte) {
          at = cellEnd;
        } else {
          throw this.#trouble(
            'text_after_quote',
            line + countLineFeeds(bytes, rowStart, cellStart),
          );
        }
        inQuotes = false;
        stop += 2;
      } else {
        at = base + (stops[stop] as number);
        byte = bytes[at] as number;
        stop += 1;
        // An inch mark (`5" pipe`) is a part of its cell.
        while (byte === quoteByte && at < filled) {
          if (isBlank(bytes, cellStart, at))
            throw this.#trouble('stray_quote', line + countLineFeeds(bytes, rowStart, cellStart));
          at = base + (stops[stop] as number);
          byte = bytes[at] as number;
          stop += 1;
        }
        if (at >= filled && !isLast) break;
        cellEnd = at;
        if (carriageReturn < cellEnd) {
          // Programs that write line ends as text end lines with several.
          while (
            byte === lineFeedByte &&
            cellEnd > cellStart &&
            bytes[cellEnd - 1] === carriageReturnByte
          ) {
            cellEnd -= 1;
          }
          if (carriageReturn < cellStart) {
            carriageReturn = indexOfReturn(bytes, cellStart, filled);
          }
          // Other programs see two rows here, and would find the results in the second.
          if (carriageReturn < cellEnd)
            throw this.#trouble('lone_carriage_return', line + lineFeeds);
        }
      }

      if (cell < count) {
        const slot = slots[cell] as number;
        if (slot >= 0) {
          table[used + 3 + 2 * slot] = cellStart;
          table[used + 4 + 2 * slot] = cellEnd;
        }
      }
      cell += 1;
      if (byte === delimiter) {
        at += 1;
        cellStart = at;
        continue;
      }

      if (at - rowStart > maxRowBytes)
        throw this.#trouble('too_long', line, `over ${String(maxRowBytes)} bytes`);
      table[used + 1] = cellEnd;
      table[used + 2] = 0;
      if (cell !== count && !isHead) {
        if (cell > count) {
          const figures = `${String(cell)} cells, expected ${String(count)}`;
          throw this.#trouble('too_many_cells', line, figures);
        }
        if (endsInQuote(bytes, rowStart, cellEnd, delimiter))
          throw this.#trouble('stray_quote', line);
        table[used + 2] = count - cell;
        markMissing(table, used + 3, slots, cell);
      }
      used += stride;
      if (used + stride >= table.length) table = this.#table = grown(table, stride);
      at = at < filled ? at + 1 : filled;
      rowStart = cellStart = at;
      table[used] = at;
      cell = 0;
      line += 1 + lineFeeds;
      lineFeeds = 0;
      if (isHead) break;
    }

    this.#used = used;
    this.#rowStart = rowStart;
    this.#cellStart = cellStart;
    this.#at = at;
    this.#inQuotes = inQuotes;
    this.#cell = cell;
    this.#line = line;
    this.#lineFeeds = lineFeeds;
    if (filled - rowStart > maxRowBytes && !(isHead && used > 0)) {
      throw this.#trouble('too_long', line, `over ${String(maxRowBytes)} bytes`);
    }
  }

  #trouble(kind: CsvErrorDetails, line: number, figures?: string): InputError {
    return csvError(kind, { name: this.#options.name, line, figures });
  }
}

function indexOfReturn(bytes: Uint8Array, from: number, to: number): number {
  const at = bytes.indexOf(carriageReturnByte, from);
  return at === -1 || at >= to ? Infinity : at;
}

const noSlots = new Int32Array(0);

function grown(table: Uint32Array, stride: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * table.length + stride);
  larger.set(table);
  return larger;
}

/** Marks the wanted cells from `cell` on as ones that the row lacks: they start after their end. */
function markMissing(table: Uint32Array, at: number, slots: Int32Array, cell: number): void {
  for (const slot of slots.subarray(cell)) {
    if (slot < 0) continue;
    table[at + 2 * slot] = 1;
    table[at + 2 * slot + 1] = 0;
  }
}

/** Whether nothing but blanks is there, which other programs pass over in front of a quoted cell. */
function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    if (bytes[at] !== 0x20 && bytes[at] !== 0x09) return false;
  }
  return true;
}

/**
 * Whether an unquoted cell of a row ends in a quote. Where the row lacks cells, its opening quote was lost, and what
 * the cell held is in several cells or rows: a person's address would not be in its column.
 */
function endsInQuote(bytes: Uint8Array, from: number, to: number, delimiter: number): boolean {
  let inQuotes = false;
  let start = from;
  for (let at = from; at <= to; at += 1) {
    const isQuoted = start < to && bytes[start] === quoteByte;
    if (at === to || (bytes[at] === delimiter && !inQuotes)) {
      if (at > start && !isQuoted && bytes[at - 1] === quoteByte) return true;
      start = at + 1;
    } else if (isQuoted && bytes[at] === quoteByte) inQuotes = !inQuotes;
  }
  return false;
}

function countLineFeeds(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (bytes[at] === lineFeedByte) count += 1;
  return count;
}
