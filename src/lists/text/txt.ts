import { isUtf8 } from 'node:buffer';
import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import { carriageReturnByte, csvError } from '../csv/csv-format.js';
import { BlockOutput, type ByteOutput } from '../files/outputs/byte-output.js';
import type { ByteReader } from '../files/bytes/byte-reader.js';
import { lineEnd, LineFeed, type Lines } from '../files/bytes/line-feed.js';
import type { FormatWriting, RowsWriter } from '../files/writer-sink.js';
import {
  closableChunks,
  type CellText,
  invalidText,
  type RowChunk,
} from '../rows/chunks/row-chunk.js';
import type { JoinedRows, OpenSinkOptions } from '../rows/sink.js';
import type { OpenSourceOptions, SourceReading } from '../rows/source.js';

/** Lines of a TXT file: each is a row of one cell. */
class TxtChunk implements RowChunk {
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

  bytesOf(from: number, to: number): Uint8Array {
    return this.#lines.bytes.subarray(this.#lines.starts[from], this.#lines.starts[to]);
  }
}

const txtColumn = 'value';

interface TxtReadingOptions {
  readonly name: string;
  readonly maxRowBytes: number;
  readonly hasMark: boolean;
}

/** One reading of a TXT input: one address a line; an empty line is a row without one. */
export class TxtReading implements SourceReading<TxtChunk> {
  readonly header: readonly string[] = [txtColumn];
  /** Whether the input begins with a byte-order mark. */
  readonly hasMark: boolean;
  readonly chunks: AsyncIterable<TxtChunk>;

  private constructor(feed: LineFeed, { name, hasMark }: TxtReadingOptions) {
    this.hasMark = hasMark;
    this.chunks = closableChunks(toChunks(feed, name), () => feed.close());
  }

  static async open(
    reader: ByteReader,
    options: TxtReadingOptions,
    opening: OpenSourceOptions,
  ): Promise<TxtReading> {
    const { name, maxRowBytes } = options;
    const feed = new LineFeed(reader, { name, maxLineBytes: maxRowBytes });
    const reading = new TxtReading(feed, options);
    try {
      opening.wanted(reading.header);
    } catch (error) {
      await feed.close();
      throw error;
    }
    return reading;
  }
}

async function* toChunks(feed: LineFeed, name: string): AsyncGenerator<TxtChunk> {
  for (;;) {
    const lines = await feed.next();
    if (lines === undefined) return;
    refuseLoneReturns(lines, name);
    yield new TxtChunk(lines);
  }
}

function refuseLoneReturns({ bytes, starts, firstLine }: Lines, name: string): void {
  if (!bytes.includes(carriageReturnByte)) return;
  for (let row = 0; row + 1 < starts.length; row += 1) {
    const [start = 0, next = 0] = [starts[row], starts[row + 1]];
    const end = lineEnd(bytes, start, next);
    if (!bytes.subarray(start, end).includes(carriageReturnByte)) continue;
    throw csvError('lone_carriage_return', { name, line: firstLine + row });
  }
}

/** Writes the verified column alone, one row a line; lines of a TXT input unchanged. */
class TxtWriter implements RowsWriter {
  readonly #block: BlockOutput;
  readonly #column: number;

  constructor(output: ByteOutput, { verified }: OpenSinkOptions) {
    this.#block = new BlockOutput(output);
    this.#column = verified[0] ?? 0;
  }

  async write({ chunk, from, to }: JoinedRows): Promise<void> {
    if (chunk instanceof TxtChunk) {
      this.#block.put(chunk.bytesOf(from, to));
    } else {
      const lines = Array.from({ length: to - from }, (_, at) =>
        txtLine(chunk.text(from + at, this.#column)),
      );
      this.#block.put(Buffer.from(lines.join('')));
    }
    await this.#block.settle();
  }

  async end(): Promise<void> {
    await this.#block.end();
  }
}

function txtLine(text: CellText): string {
  if (text === invalidText) {
    throw new InputError('the verified column holds something that a TXT file has no text for');
  }
  if (text?.includes('\n') === true) {
    throw new InputError(
      'the verified column holds a cell of several lines, which a TXT file has no form for: choose another format for the output',
    );
  }
  return `${text ?? ''}\n`;
}

export const txtWriting: FormatWriting = {
  create: (output, opening) => new TxtWriter(output, opening),
  check: checkOneColumn,
  validate(_, { verified: [column = 0] }) {
    return (chunk) => {
      for (let row = 0; row < chunk.length; row += 1) txtLine(chunk.text(row, column));
    };
  },
};

export function checkOneColumn(verifiedColumns: number): void {
  if (verifiedColumns === 1) return;
  throw new ConfigurationError(
    `a TXT output holds the one column that is verified, but ${String(verifiedColumns)} are: choose another format`,
    { fault: 'unsupported' },
  );
}
