import { printValue } from '../rows/print-value.js';
import type { JoinedRows, OutputCell } from '../rows/sink.js';
import type { ByteOutput } from './byte-output.js';
import { CsvChunk } from './csv-chunk.js';
import { parseDelimiter } from './csv-dialect.js';
import { cellText, neutralizeFormula, quoteCell } from './csv-text.js';
import { TableRows } from './table-rows.js';

export interface CsvWriterOptions {
  readonly output: ByteOutput;
  readonly delimiter: string;
  /** The input's header row as it is to be written, and its line end; `undefined` for none. */
  readonly header: { readonly bytes: Uint8Array; readonly lineEnd: Uint8Array } | undefined;
  /** Number of the input's columns. */
  readonly columns: number;
  /**
   * Whether quotes are characters like any other, and no cell holds a delimiter or a line end.
   * @default false
   */
  readonly isBare?: boolean;
  /** Names of the columns to add, for each verified column. */
  readonly added: readonly (readonly string[])[];
  /** Cells to add for an outcome in the k-th verified column. */
  cellsOf(outcome: number, column: number): readonly OutputCell[];
  /** Whether text in the added cells is kept from being a formula in a spreadsheet. */
  readonly neutralizeFormulas: boolean;
}

/** How much is collected before it is written. */
const blockBytes = 256 * 1024;
/** New cells that are kept for the rows to come: operators can make outcomes by the million. */
const mostSuffixBytes = 16 * 1024 * 1024;
/** What an object takes beside its bytes, about. */
const suffixOverheadBytes = 100;

/**
 * Writes joined rows as CSV. The rows of a CSV input with the same delimiter are copied as they stand;
 * behind each go its new cells, prepared once for each outcome.
 */
export class CsvWriter {
  readonly #options: CsvWriterOptions;
  readonly #rows: TableRows;
  readonly #delimiterByte: number;
  readonly #lineEnd: Uint8Array;
  /** New cells by verified column and outcome, a delimiter in front of each. */
  readonly #suffixes: readonly Buffer[][];
  #suffixBytes = 0;
  #block = Buffer.allocUnsafeSlow(blockBytes);
  #filled = 0;
  /** The block before, on its way out. */
  #underway: Promise<void> | undefined;
  #hasRows = false;
  /** The row before had no line end, as a file's last row may: one is due if another row follows. */
  #owesLineEnd = false;

  constructor(options: CsvWriterOptions) {
    const { header, added } = options;
    this.#options = options;
    this.#rows = new TableRows(options.columns);
    this.#delimiterByte = parseDelimiter(options.delimiter);
    this.#lineEnd = header && header.lineEnd.length > 0 ? header.lineEnd : Buffer.from('\n');
    this.#suffixes = added.map(() => []);
    if (header === undefined) return;
    const names = added.map((columns) => this.#encode(columns));
    this.#put(Buffer.concat([header.bytes, ...names, header.lineEnd]));
    this.#owesLineEnd = header.lineEnd.length === 0;
  }

  /**
   * Resolves when more rows may come. What is collected goes out when a block is full, and as soon as
   * nothing else is on its way: the rows of a slow input do not wait for those behind them.
   *
   * @throws OutputError
   */
  async write(rows: JoinedRows): Promise<void> {
    const { chunk, from, to } = rows;
    const isCopied = chunk instanceof CsvChunk && chunk.delimiter === this.#delimiterByte;
    let row = from;
    while (row < to) {
      row = isCopied ? this.#copyRows(chunk, rows, row) : this.#encodeRows(rows, row);
      if (row < to) await this.#sendBlock();
    }
    if (this.#underway === undefined) await this.#sendBlock();
  }

  /**
   * Writes what is left.
   *
   * @throws OutputError
   */
  async end(): Promise<void> {
    await this.#sendBlock();
    await this.#underway;
  }

  /** Copies rows from `from` on until the block is full; gives the first row that is still to be copied. */
  #copyRows(chunk: CsvChunk, rows: JoinedRows, from: number): number {
    const { outcomes, width, to } = rows;
    const source = chunk.bytes;
    for (let row = from; row < to; row += 1) {
      // A byte-order mark is the start of a file, and this row may be from the middle of the output.
      const start = chunk.rowStart(row) + (row === 0 && this.#hasRows ? chunk.markBytes : 0);
      const end = chunk.rowEnd(row);
      const next = chunk.lineEnd(row);
      const missing = chunk.missingCells(row);
      const first = (row - rows.from) * width;

      let size = next - start + missing + this.#lineEnd.length;
      for (let column = 0; column < width; column += 1) {
        size += this.#suffix(column, outcomes[first + column]).length;
      }
      if (!this.#makeRoom(size)) return row;

      if (this.#owesLineEnd) this.#put(this.#lineEnd);
      const block = this.#block;
      block.set(source.subarray(start, end), this.#filled);
      let at = this.#filled + end - start;
      // A short row is filled up, or the new cells would stand in the wrong columns.
      for (let cell = 0; cell < missing; cell += 1) {
        block[at] = this.#delimiterByte;
        at += 1;
      }
      for (let column = 0; column < width; column += 1) {
        const suffix = this.#suffix(column, outcomes[first + column]);
        block.set(suffix, at);
        at += suffix.length;
      }
      for (let byte = end; byte < next; byte += 1) {
        block[at] = source[byte] as number;
        at += 1;
      }
      this.#filled = at;
      this.#hasRows = true;
      this.#owesLineEnd = next === end;
    }
    return to;
  }

  /** The same for rows of any kind, which are written again. */
  #encodeRows(rows: JoinedRows, from: number): number {
    const { chunk, outcomes, width, to } = rows;
    for (let row = from; row < to; row += 1) {
      const cells = this.#rows.read(chunk, row);
      const texts = Array.from({ length: this.#options.columns }, (_, column) =>
        this.#quote(printValue(cells[column]) ?? ''),
      );
      const parts: Uint8Array[] = [Buffer.from(texts.join(this.#options.delimiter))];
      for (let column = 0; column < width; column += 1) {
        parts.push(this.#suffix(column, outcomes[(row - rows.from) * width + column]));
      }
      const bytes = Buffer.concat([
        ...(this.#owesLineEnd ? [this.#lineEnd] : []),
        ...parts,
        this.#lineEnd,
      ]);
      if (!this.#makeRoom(bytes.length)) return row;
      this.#put(bytes);
    }
    return to;
  }

  /** The new cells of an outcome as they stand in the output. */
  #suffix(column: number, outcome = -1): Buffer {
    const known = this.#suffixes[column]?.[outcome];
    if (known !== undefined) return known;
    const [suffixes, names] = [this.#suffixes[column], this.#options.added[column]];
    const cells = this.#options.cellsOf(outcome, column);
    if (suffixes === undefined || cells.length !== names?.length || outcome < 0) {
      throw new RangeError(`no cells for outcome ${String(outcome)} of column ${String(column)}`);
    }
    const suffix = this.#encode(
      this.#options.neutralizeFormulas ? cells.map((cell) => neutralizeFormula(cell)) : cells,
    );
    this.#suffixBytes += suffix.length + suffixOverheadBytes;
    if (this.#suffixBytes > mostSuffixBytes) {
      for (const kept of this.#suffixes) kept.length = 0;
      this.#suffixBytes = 0;
    }
    suffixes[outcome] = suffix;
    return suffix;
  }

  #encode(cells: readonly OutputCell[]): Buffer {
    const { delimiter } = this.#options;
    return Buffer.from(cells.map((cell) => delimiter + this.#quote(cellText(cell))).join(''));
  }

  #quote(text: string): string {
    const { delimiter, isBare = false } = this.#options;
    if (!isBare) return quoteCell(text, delimiter);
    // Only what the service says can hold one of them here.
    return text.replaceAll(/[\r\n]/g, ' ').replaceAll(delimiter, ' ');
  }

  /** Whether so many bytes fit into the block; into an empty one anything does. */
  #makeRoom(bytes: number): boolean {
    if (this.#filled + bytes <= this.#block.length) return true;
    if (this.#filled > 0) return false;
    this.#block = Buffer.allocUnsafeSlow(bytes);
    return true;
  }

  #put(bytes: Uint8Array): void {
    if (!this.#makeRoom(bytes.length)) throw new Error('a block is too small for its rows');
    this.#block.set(bytes, this.#filled);
    this.#filled += bytes.length;
    this.#owesLineEnd = false;
  }

  /** Sends the block on its way as soon as the one before has arrived. */
  async #sendBlock(): Promise<void> {
    await this.#underway;
    if (this.#filled === 0) return;
    const underway = this.#options.output
      .write(this.#block.subarray(0, this.#filled))
      .then(() => (this.#underway = undefined));
    // Whoever waits for it next hears of a failure.
    underway.catch(() => undefined);
    this.#underway = underway;
    this.#block = Buffer.allocUnsafeSlow(blockBytes);
    this.#filled = 0;
  }
}
