import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { CsvError, parse, type CsvErrorCode } from 'csv-parse';
import { InputError } from '../../platform/errors/errors.js';
import { piecesOf } from '../files/bytes/byte-reader.js';
import { markBytesOf } from '../files/file-signature.js';
import { CellsChunk } from '../rows/chunks/object-chunk.js';
import {
  closableChunks,
  invalidText,
  type CellText,
  gatherRows,
} from '../rows/chunks/row-chunk.js';
import { digestAtEnd, type OpenSourceOptions, type SourceReading } from '../rows/source.js';
import { optionName } from '../../platform/text/sentence.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import {
  csvError,
  type CsvErrorDetails,
  type CsvForm,
  lineFeedByte,
  emptyInput,
  quoteByte,
} from './csv-format.js';
import type { FooterReader } from './dialect/footer-reader.js';
import type { CsvDialect } from './dialect/find-dialect.js';
import type { CsvTable } from './dialect/header-detection.js';

interface ParsedRow {
  readonly record: readonly Buffer[];
  readonly info: { readonly lines: number };
}

/**
 * One reading of a CSV input in an unusual dialect: other quotes and escapes, delimiters of several
 * characters. csv-parse reads it, about ten times slower.
 */
export class ParsedCsvReading implements SourceReading {
  readonly header: readonly string[];
  readonly isUnnamed: boolean;
  readonly form: CsvForm;
  readonly chunks: AsyncIterable<CellsChunk>;
  readonly #hash: Hash;
  #digest: string | undefined;

  private constructor(
    header: readonly string[],
    rows: ParsedRows,
    { input, hash, footer }: { input: CsvTable; hash: Hash; footer: () => Uint8Array },
  ) {
    const aboveHeader = Buffer.concat([input.above.bytes, rows.mark()]);
    this.header = header;
    this.isUnnamed = input.header === false;
    this.form = {
      aboveHeader,
      footer,
      headerBytes: undefined,
      hasMark: markBytesOf(aboveHeader) > 0,
      lineEnd: Buffer.from('\n'),
      delimiter: input.dialect.delimiter,
      isBare: input.dialect.quote === undefined,
      isTsv: input.isTsv,
      isTxt: input.isTxt,
    };
    this.chunks = closableChunks(this.#toChunks(rows.gathered, input), rows.close);
    this.#hash = hash;
  }

  /** Reads up to the first row; closes the reader when that fails. @throws InputError; what `wanted` throws */
  static async open(
    reader: FooterReader,
    input: CsvTable,
    opening: OpenSourceOptions,
  ): Promise<ParsedCsvReading> {
    const { name, header: hasHeader = true, above } = input;
    const hash = createHash('sha256').update(above.bytes);
    const { gathered: parsed, close, mark } = parseRows(reader, input, hash);
    const isMixed = input.dialect.quote === undefined && input.quote === undefined;
    const gathered = isMixed ? withWholeRows(parsed, input) : parsed;
    try {
      const first = await nextRows(gathered, input);
      const [head] = first ?? [];
      if (first === undefined || head === undefined) throw emptyInput(name, above.lines + 1);
      const names = head.record.map((cell, at) =>
        hasHeader ? cell.toString('utf8') : `#${String(at + 1)}`,
      );
      opening.wanted(names);
      const rows = { gathered: after(hasHeader ? first.slice(1) : first, gathered), close, mark };
      return new ParsedCsvReading(names, rows, { input, hash, footer: () => reader.footer });
    } catch (error) {
      await close();
      throw error;
    }
  }

  contentDigest(): string {
    return digestAtEnd(this.#digest);
  }

  async *#toChunks(
    gathered: AsyncGenerator<ParsedRow[]>,
    input: CsvTable,
  ): AsyncGenerator<CellsChunk> {
    for (;;) {
      const rows = await nextRows(gathered, input);
      if (rows === undefined) break;
      yield new CellsChunk(rows.map((row) => this.#cellsOf(row, input)));
    }
    this.#digest = this.#hash.update(this.form.footer()).digest('hex');
  }

  #cellsOf({ record, info }: ParsedRow, { name, above }: CsvTable): readonly CellText[] {
    const columns = this.header.length;
    if (record.length <= columns) return record.map((cell) => textOfBytes(cell));
    const figures = `${String(record.length)} cells, expected ${String(columns)}`;
    throw csvError('too_many_cells', { name, line: above.lines + info.lines, figures });
  }
}

/** Other programs see the end of a row within a cell. */
class LoneCarriageReturn extends Error {
  readonly line: number;

  constructor(line: number) {
    super();
    this.line = line;
  }
}

type Hash = ReturnType<typeof createHash>;

interface ParsedRows {
  readonly gathered: AsyncGenerator<ParsedRow[]>;
  readonly close: () => Promise<void>;
  /** The byte-order mark before the first row. */
  readonly mark: () => Uint8Array;
}

function parseRows(
  reader: FooterReader,
  { dialect, maxRowBytes }: CsvTable,
  hash: Hash,
): ParsedRows {
  const parser = parse({
    delimiter: dialect.delimiter,
    quote: dialect.quote ?? null,
    escape: dialect.escape,
    record_delimiter: ['\r\r\n', '\r\n', '\n'],
    // Cells as they are in the file: bytes that are no text must not become another text.
    encoding: null,
    relax_column_count: true,
    max_record_size: maxRowBytes,
    info: true,
    cast(cell: string | Buffer, { quoting, lines }) {
      if (quoting || !cell.includes('\r')) return cell;
      // csv-parse counts those of the cell as lines.
      const ofCell = cell.toString('latin1').split(/\r+/).length - 1;
      throw new LoneCarriageReturn(lines - ofCell);
    },
  });
  let mark: Uint8Array = Buffer.alloc(0);
  const double = doubleLoneEscapes(dialect);
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    let isFirst = true;
    for await (const piece of piecesOf(reader)) {
      hash.update(piece);
      // Copied: a reader reuses its buffers.
      const bytes = Buffer.from(piece);
      // A byte-order mark is not part of the first name.
      if (isFirst) mark = bytes.subarray(0, markBytesOf(bytes));
      const unmarked = isFirst ? bytes.subarray(mark.length) : bytes;
      isFirst = false;
      yield double ? double(unmarked) : unmarked;
    }
  };
  const input = Readable.from(pieces(), { objectMode: false });
  input.on('error', (error) => parser.destroy(error));
  return {
    gathered: gatherRows<ParsedRow>(input.pipe(parser)),
    mark: () => mark,
    async close() {
      // Its own error was reported already or no longer matters.
      parser.on('error', () => undefined);
      parser.destroy();
      input.destroy();
      await reader.close();
    },
  };
}

/**
 * Where quotes are ordinary characters because one was found inside a cell, refuses a quote that begins a cell
 * and is closed on a later line: programs that read both forms see one row there.
 */
async function* withWholeRows(
  gathered: AsyncGenerator<ParsedRow[]>,
  { name, above }: CsvTable,
): AsyncGenerator<ParsedRow[]> {
  let columns: number | undefined;
  let openedAt: number | undefined;
  for await (const rows of gathered) {
    for (const { record, info } of rows) {
      columns ??= record.length;
      const odd = record.filter((cell) => cell.includes(quoteByte) && hasOpenQuote(cell));
      if (openedAt !== undefined && odd[0]?.at(-1) === quoteByte) {
        throw new InputError(
          `${name}, line ${grouped(above.lines + openedAt)}: a quote that begins a cell here is closed on a later line, and other cells have quotes inside, so this may be one row or several; put whole cells in quotes and double the quotes inside them, or, if quotes are ordinary characters here, say so with ${optionName('quote', 'none')}`,
          { line: above.lines + openedAt, fault: 'unclosed_quote' },
        );
      }
      // What cannot be inside a quoted cell: a quote that neither ends it nor is doubled, or a whole row.
      if (odd.length > 0 || (columns > 1 && record.length === columns)) openedAt = undefined;
      if (odd.at(-1)?.[0] === quoteByte) openedAt ??= info.lines;
    }
    yield rows;
  }
}

/** Whether a cell has a quote that it neither doubles nor closes. */
function hasOpenQuote(cell: Buffer): boolean {
  let quotes = 0;
  for (const byte of cell) if (byte === quoteByte) quotes += 1;
  return quotes % 2 === 1;
}

async function nextRows(
  gathered: AsyncGenerator<ParsedRow[]>,
  input: CsvTable,
): Promise<ParsedRow[] | undefined> {
  try {
    const step = await gathered.next();
    return step.done === true ? undefined : step.value;
  } catch (error) {
    if (error instanceof LoneCarriageReturn) {
      const line = input.above.lines + error.line;
      throw csvError('lone_carriage_return', { name: input.name, line });
    }
    throw error instanceof CsvError ? describeOutage(error, input) : error;
  }
}

async function* after<Item>(first: Item[], rest: AsyncGenerator<Item[]>): AsyncGenerator<Item[]> {
  if (first.length > 0) yield first;
  yield* rest;
}

function textOfBytes(cell: Buffer): CellText {
  return isUtf8(cell) ? cell.toString('utf8') : invalidText;
}

const troubles = new Map<CsvErrorCode, CsvErrorDetails>([
  ['CSV_QUOTE_NOT_CLOSED', 'unclosed_quote'],
  ['CSV_INVALID_CLOSING_QUOTE', 'text_after_quote'],
  ['INVALID_OPENING_QUOTE', 'stray_quote'],
  ['CSV_MAX_RECORD_SIZE', 'too_long'],
]);

/** In our words: those of csv-parse quote the cell. */
function describeOutage(error: CsvError, { name, above }: CsvTable): InputError {
  const line = typeof error['lines'] === 'number' ? above.lines + error['lines'] : undefined;
  const trouble = troubles.get(error.code);
  if (trouble !== undefined && line !== undefined) return csvError(trouble, { name, line });
  return new InputError(`${name} cannot be read as CSV (${error.code})`, {
    ...(line !== undefined && { line }),
  });
}

/**
 * Doubles the escapes in quoted cells that are before neither a quote nor an escape: the `\t` of
 * `"C:\temp"` is a backslash and a letter for every program that writes such files, and csv-parse drops
 * the backslash.
 *
 * @returns takes the pieces of a file in turn; `undefined` where the dialect has no escape of its own
 */
function doubleLoneEscapes({
  delimiter,
  quote,
  escape,
}: CsvDialect): ((piece: Uint8Array) => Uint8Array) | undefined {
  if (quote === undefined || escape === quote) return undefined;
  const [opening = 0, moreOfQuote] = Buffer.from(quote);
  const [escaping = 0, moreOfEscape] = Buffer.from(escape);
  if (moreOfQuote !== undefined || moreOfEscape !== undefined) return undefined;
  const between = Buffer.from(delimiter);
  let state: 'start' | 'plain' | 'quoted' | 'escaped' = 'start';
  let matched = 0;
  return (piece) => {
    // One byte more for every two, of which the first may have been the previous piece's last.
    const out = Buffer.allocUnsafe(piece.length + Math.ceil(piece.length / 2));
    let length = 0;
    for (const byte of piece) {
      if (state === 'escaped') {
        if (byte !== opening && byte !== escaping) {
          out[length] = escaping;
          length += 1;
        }
        state = 'quoted';
      } else if (state === 'quoted') {
        if (byte === escaping) state = 'escaped';
        else if (byte === opening) state = 'plain';
      } else if (state === 'start' && byte === opening) {
        state = 'quoted';
      } else {
        matched = byte === between[matched] ? matched + 1 : byte === between[0] ? 1 : 0;
        const isEnd = byte === lineFeedByte || matched === between.length;
        if (isEnd) matched = 0;
        state = isEnd ? 'start' : 'plain';
      }
      out[length] = byte;
      length += 1;
    }
    return out.subarray(0, length);
  };
}
