import * as z from 'zod';
import { isUtf8 } from 'node:buffer';
import { InputError } from '../../../platform/errors/errors.js';
import { type ByteReader, digestingReader } from '../../files/bytes/byte-reader.js';
import { lineEnd, LineFeed, type Lines } from '../../files/bytes/line-feed.js';
import {
  closableChunks,
  type CellText,
  invalidText,
  type RawCells,
  type RowChunk,
} from '../../rows/chunks/row-chunk.js';
import type { OpenSourceOptions, SourceReading } from '../../rows/source.js';
import { type Kind, kindNames } from '../../rows/values/kinds.js';
import { textOfValue } from '../../rows/values/print-value.js';
import { readText, valueOfText } from '../cell-text.js';

/** Database cells are at most a gibibyte; a row that large is not a contact. */
const maxRowBytes = 64 * 1024 * 1024;

/** One reading of a database's rows, or of a kept copy. */
export class TableReading implements SourceReading<TableChunk> {
  readonly header: readonly string[];
  readonly kinds: readonly (Kind | undefined)[];
  readonly form: TableForm;
  readonly chunks: AsyncIterable<TableChunk>;
  readonly contentDigest: () => string;

  private constructor(feed: LineFeed, first: Lines, form: TableForm, contentDigest: () => string) {
    this.contentDigest = contentDigest;
    this.form = form;
    this.header = form.columns.map(({ name }) => name);
    this.kinds = form.columns.map(kindOfColumn);
    this.chunks = closableChunks(toChunks(feed, first, form), () => feed.close());
  }

  /** Reads the rows' form; closes the reader when that fails. */
  static async open(
    reader: ByteReader,
    name: string,
    opening: OpenSourceOptions,
  ): Promise<TableReading> {
    const bytes = digestingReader(reader);
    const feed = new LineFeed(bytes, { name, maxLineBytes: maxRowBytes });
    try {
      const first = await feed.next();
      const line = first?.bytes.toString('utf8', 0, first.starts[1]);
      const form = line === undefined ? undefined : parseTableForm(line);
      if (first === undefined || form === undefined) {
        throw new InputError(`the rows kept of ${name} were written by another version of Sluice`);
      }
      const reading = new TableReading(feed, first, form, bytes.contentDigest);
      opening.wanted(reading.header);
      return reading;
    } catch (error) {
      await feed.close();
      throw error;
    }
  }

  /** MySQL prints fewer digits of a float than it holds. */
  get roundedColumns(): readonly string[] {
    if (this.form.dialect !== 'mysql') return [];
    return this.header.filter((_, at) => this.kinds[at]?.name === 'float32');
  }
}

async function* toChunks(
  feed: LineFeed,
  first: Lines,
  form: TableForm,
): AsyncGenerator<TableChunk> {
  if (first.starts.length > 2) yield new TableChunk(first, form, 1);
  for (let lines = await feed.next(); lines !== undefined; lines = await feed.next()) {
    yield new TableChunk(lines, form);
  }
}

export type DialectName = z.infer<typeof dialect>;
const dialect = z.enum(['postgres', 'mysql', 'sqlite', 'duckdb']);

const tableColumn = z.object({
  name: z.string(),
  /** Its kind; `any` for a column with a kind for each cell. */
  kind: z.enum([...kindNames, 'any']),
  /** Digits, as in `lists/rows/values/kinds.ts`. */
  precision: z.number().optional(),
  scale: z.number().optional(),
  /** The type in its database's notation: `numeric(10,2)`. */
  type: z.string(),
  /** Whether the type is specific to that database. */
  isUserType: z.boolean().optional(),
  /** The table column that it returns unchanged, if the database gives it. */
  origin: z.object({ table: z.string(), column: z.string() }).optional(),
});
export type TableColumn = z.infer<typeof tableColumn>;

const tableForm = z.object({
  sluice: z.literal('rows of a database 2'),
  dialect,
  store: z.string(),
  columns: z.array(tableColumn),
  /** Ids of the tables that the query reads, also through views. @default not known */
  reads: z.array(z.string()).optional(),
});

/** The form of a database's rows: written as the first line. */
export type TableForm = Omit<z.infer<typeof tableForm>, 'sluice'>;

export function writeTableForm(form: TableForm): Buffer {
  return Buffer.from(`${JSON.stringify({ sluice: 'rows of a database 2', ...form })}\n`);
}

function parseTableForm(line: string): TableForm | undefined {
  try {
    return tableForm.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

export function formOfKind(kind: Kind | 'any') {
  if (kind === 'any') return { kind };
  const { name, ...digits } = kind;
  return { kind: name, ...digits };
}

/** The kind of a column; `undefined` when each cell has its own. */
function kindOfColumn({ kind, precision, scale }: TableColumn): Kind | undefined {
  if (kind === 'any') return undefined;
  return {
    name: kind,
    ...(precision !== undefined && { precision }),
    ...(scale !== undefined && { scale }),
  };
}

const tabByte = 0x09;
const escapeByte = 0x5c;
const writtenOtherwise: ReadonlySet<TableColumn['kind'] | undefined> = new Set([
  'any',
  'binary',
  'boolean',
  'float32',
  'float64',
]);

/** Rows of a database, one line each in the format of `cell-text.ts`. */
export class TableChunk implements RowChunk, RawCells {
  readonly raw: RawCells = this;
  readonly length: number;
  readonly byteSize: number;
  readonly form: TableForm;
  readonly bytes: Buffer;
  readonly #starts: Uint32Array;
  /** A database without an encoding returns the bytes that it was given. */
  readonly #isText: boolean;
  /** The latest cell and its bounds: cells are read row by row, mostly from left to right. */
  #row = -1;
  #column = 0;
  #start = 0;
  #end = 0;

  constructor(lines: Lines, form: TableForm, first = 0) {
    this.form = form;
    this.bytes = lines.bytes;
    this.#starts = lines.starts.subarray(first);
    this.#isText = isUtf8(lines.bytes);
    this.length = this.#starts.length - 1;
    this.byteSize = lines.bytes.length + this.#starts.byteLength;
  }

  rowStart(row: number): number {
    const start = this.#starts[row];
    if (start === undefined || row >= this.length) throw new RangeError(`there is no row ${row}`);
    return start;
  }

  rowEnd(row: number): number {
    return lineEnd(this.bytes, this.rowStart(row), this.#starts[row + 1] as number);
  }

  isText(row: number): boolean {
    return this.#isText || isUtf8(this.#line(row));
  }

  /** The encoded cell between the tabs; `undefined` where missing. */
  field(row: number, column: number): string | undefined {
    if (!this.#find(row, column)) return undefined;
    return this.bytes.toString('utf8', this.#start, this.#end);
  }

  cellStart(row: number, column: number): number {
    this.#mustFind(row, column);
    return this.#start;
  }

  /** An encoded cell ends before it starts: its text must be decoded. */
  cellEnd(row: number, column: number): number {
    this.#mustFind(row, column);
    if (writtenOtherwise.has(this.form.columns[column]?.kind)) return this.#start - 1;
    for (let at = this.#start; at < this.#end; at += 1) {
      if (this.bytes[at] === escapeByte) return this.#start - 1;
    }
    return this.#end;
  }

  text(row: number, column: number): CellText {
    return textOfValue(this.value(row, column));
  }

  cells(row: number): readonly unknown[] {
    return this.form.columns.map((_, column) => this.value(row, column));
  }

  value(row: number, column: number): unknown {
    const found = this.form.columns[column];
    const field = this.field(row, column);
    if (found === undefined || field === undefined) throw new RangeError(noColumn(row, column));
    // The replacement character may be part of the text, too.
    if (!this.#isText && field.includes('\ufffd') && !isUtf8(this.#line(row))) return invalidText;
    const { kind: name, scale } = found;
    return valueOfText({ name, ...(scale !== undefined && { scale }) }, readText(field));
  }

  #line(row: number): Buffer {
    return this.bytes.subarray(this.rowStart(row), this.rowEnd(row));
  }

  #mustFind(row: number, column: number): void {
    if (!this.#find(row, column)) throw new RangeError(noColumn(row, column));
  }

  /** @returns whether the row has the cell, with its bounds set */
  #find(row: number, column: number): boolean {
    if (row === this.#row && column === this.#column) return true;
    const { bytes } = this;
    const end = this.rowEnd(row);
    const isAhead = row === this.#row && column > this.#column;
    let at = isAhead ? this.#end + 1 : this.rowStart(row);
    for (let left = column - (isAhead ? this.#column + 1 : 0); left > 0; at += 1) {
      if (at >= end) return false;
      if (bytes[at] === tabByte) left -= 1;
    }
    // After the last tab there is one more cell, possibly empty.
    if (at > end) return false;
    this.#row = row;
    this.#column = column;
    this.#start = at;
    while (at < end && bytes[at] !== tabByte) at += 1;
    this.#end = at;
    return true;
  }
}

function noColumn(row: number, column: number): string {
  return `there is no column ${column} in row ${row}`;
}
