import { Readable } from 'node:stream';
import { CsvError, parse, type CsvErrorCode } from 'csv-parse';
import { InputError } from '../../platform/errors/errors.js';
import { piecesOf } from '../files/bytes/byte-reader.js';
import { markBytesOf } from '../files/file-signature.js';
import { gatherRows } from '../rows/chunks/row-chunk.js';
import { csvError, type CsvErrorDetails, lineFeedByte } from './csv-format.js';
import type { FooterReader } from './dialect/footer-reader.js';
import type { CsvDialect } from './dialect/find-dialect.js';
import type { CsvTable } from './dialect/header-detection.js';

export interface ParsedRow {
  readonly record: readonly Buffer[];
  readonly info: { readonly lines: number };
}

/** Other programs see the end of a row within a cell. */
class LoneCarriageReturn extends Error {
  readonly line: number;

  constructor(line: number) {
    super();
    this.line = line;
  }
}

export interface ParsedRows {
  readonly gathered: AsyncGenerator<ParsedRow[]>;
  readonly close: () => Promise<void>;
  readonly mark: () => Uint8Array;
}

export function parseRows(reader: FooterReader, { dialect, maxRowBytes }: CsvTable): ParsedRows {
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

export async function nextRows(
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
