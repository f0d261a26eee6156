import { InputError } from '../../platform/errors/errors.js';
import { CsvChunk, type CsvColumns } from './csv-chunk.js';
import { readCsvHead, type CsvHead, emptyInput } from './csv-format.js';
import { RowScan, guardBytes } from './csv-row-scan.js';
import { markBytesOf, detectSignature } from '../files/file-signature.js';

/** Buffers are whole pages: a piece fits into the buffer of a previous one of its length. */
const pageBytes = 4096;

export interface CsvScannerOptions {
  readonly name: string;
  readonly delimiter: number;
  /** Whether the first row names the columns; otherwise positions do. */
  readonly hasHeader: boolean;
  /** Most bytes of a row, its line feed not counted. */
  readonly maxRowBytes: number;
  /** Line number of the first row in the file. @default 1 */
  readonly firstLine?: number;
  /** Chooses, once, the columns whose cells are located: positions in the header. */
  wanted(names: readonly string[]): readonly number[];
}

/** Cuts the bytes of a CSV file, fed in pieces of any size, into chunks of rows. */
export class CsvScanner {
  readonly #options: CsvScannerOptions;
  readonly #scan: RowScan;
  /** What was fed and is in no chunk yet is from `#from` to `#filled`. */
  #bytes = Buffer.alloc(guardBytes);
  readonly #free: Buffer<ArrayBuffer>[] = [];
  #from = 0;
  #filled = 0;
  #rows = 0;
  /** Length of the mark before the first row; `undefined` until known. */
  #markBytes: number | undefined;
  #head: CsvHead | undefined;
  #columns: CsvColumns | undefined;

  constructor(options: CsvScannerOptions) {
    this.#options = options;
    this.#scan = new RowScan(options);
  }

  get head(): CsvHead | undefined {
    return this.#head;
  }

  /** Copies the next bytes, and returns the rows that they complete. */
  feed(piece: Uint8Array): CsvChunk | undefined {
    this.#hold(piece);
    return this.#advance(false);
  }

  /** Returns the last row, if it has no line end. */
  end(): CsvChunk | undefined {
    this.#hold(new Uint8Array(0));
    return this.#advance(true);
  }

  /** Puts a piece after what is held, in a buffer that no chunk has. */
  #hold(piece: Uint8Array): void {
    const held = this.#filled - this.#from;
    const needed = held + piece.length + guardBytes;
    if (this.#from > 0 || needed > this.#bytes.length) {
      // A row across many pieces doubles its buffer, or copying would be quadratic.
      const room = held > piece.length ? Math.max(needed, 2 * held) : needed;
      const free = this.#free.pop();
      const bytes =
        free !== undefined && free.length >= room
          ? free
          : Buffer.allocUnsafeSlow(Math.ceil(room / pageBytes) * pageBytes);
      bytes.set(this.#bytes.subarray(this.#from, this.#filled));
      this.#bytes = bytes;
      this.#scan.moved(this.#from);
      this.#from = 0;
    }
    this.#bytes.set(piece, held);
    this.#filled = held + piece.length;
  }

  #advance(isLast: boolean): CsvChunk | undefined {
    if (this.#markBytes === undefined) {
      this.#markBytes = this.#measureMark(isLast);
      if (this.#markBytes === undefined) return undefined;
      this.#scan.begin(this.#markBytes, undefined);
    }
    if (this.#columns === undefined) {
      if (isLast && this.#filled === this.#markBytes) {
        throw emptyInput(this.#options.name, this.#options.firstLine);
      }
      this.#scan.scan(this.#bytes, this.#filled, isLast);
      const table = this.#scan.take();
      if (table === undefined) return undefined;
      this.#takeHead(table, this.#markBytes);
    }
    this.#scan.scan(this.#bytes, this.#filled, isLast);
    const table = this.#scan.take();
    if (table === undefined || this.#columns === undefined) return undefined;
    this.#from = this.#scan.rowStart;
    const room = this.#bytes;
    const bytes = room.subarray(0, this.#from);
    const returnBuffer = (): void => void this.#free.push(room);
    const { firstLine = 1, hasHeader } = this.#options;
    const number = firstLine + (hasHeader ? 1 : 0) + this.#rows;
    const chunk = new CsvChunk(bytes, table, this.#columns, this.#markBytes, returnBuffer, number);
    this.#rows += chunk.length;
    this.#markBytes = 0;
    return chunk;
  }

  /** Length of a leading byte-order mark, once there are enough bytes. */
  #measureMark(isLast: boolean): number | undefined {
    const first = this.#bytes.subarray(0, this.#filled);
    const signature = detectSignature(first);
    if (typeof signature === 'object') {
      throw new InputError(
        `${this.#options.name} is not CSV: it is ${signature.is}; make it CSV in UTF-8 first`,
        { line: 1, fault: 'other_format' },
      );
    }
    if (signature === 'undecided' && !isLast) return undefined;
    return markBytesOf(first);
  }

  /** Reads the first row; if it is not a header it is scanned again as data. */
  #takeHead(table: Uint32Array, markBytes: number): void {
    const { hasHeader, delimiter } = this.#options;
    const [, end = 0, , lineEnd = 0] = table;
    const head = readCsvHead(this.#bytes, { markBytes, end, lineEnd }, this.#options);
    this.#head = head;
    const wanted = [...new Set(this.#options.wanted(head.names))];
    const slots = new Int32Array(head.names.length).fill(-1);
    for (const [slot, column] of wanted.entries()) {
      if (slots[column] === undefined) throw new RangeError(`there is no column ${String(column)}`);
      slots[column] = slot;
    }
    this.#columns = { count: head.names.length, delimiter, slots, wanted: wanted.length };
    if (hasHeader) {
      this.#scan.expect(this.#columns);
      this.#from = this.#scan.rowStart;
      this.#markBytes = 0;
    } else {
      this.#scan.begin(markBytes, this.#columns);
    }
  }
}
