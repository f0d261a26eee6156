import { closableChunks } from '../rows/chunks/closable-chunks.js';
import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import type { ByteReader } from '../files/bytes/byte-reader.js';
import { carriageReturnByte } from '../csv/dialect/csv-dialect.js';
import { csvTrouble } from '../csv/csv-trouble.js';
import { lineEnd, LineFeed, type Lines } from '../files/bytes/line-feed.js';
import { TxtChunk } from './txt-chunk.js';

/** Name of a TXT file's only column. */
const txtColumn = 'value';

interface TxtReadingOptions {
  /** How messages call the input. */
  readonly name: string;
  readonly maxRowBytes: number;
  readonly hasMark: boolean;
}

/** One reading of a TXT input: one address a line, an empty line is a row without one. */
export class TxtReading implements SourceReading<TxtChunk> {
  readonly header: readonly string[] = [txtColumn];
  /** Whether the input begins with a byte-order mark. */
  readonly hasMark: boolean;
  readonly chunks: AsyncIterable<TxtChunk>;
  readonly #feed: LineFeed;

  private constructor(feed: LineFeed, { name, hasMark }: TxtReadingOptions) {
    this.#feed = feed;
    this.hasMark = hasMark;
    this.chunks = closableChunks(toChunks(feed, name), () => feed.close());
  }

  /** @throws what `wanted` throws; the reader is closed then */
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

  /** SHA-256 of the input's bytes; only when the last row was read. */
  contentDigest(): string {
    return this.#feed.contentDigest();
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

/** @throws InputError for a line that other programs see as two */
function refuseLoneReturns({ bytes, starts, firstLine }: Lines, name: string): void {
  if (!bytes.includes(carriageReturnByte)) return;
  for (let row = 0; row + 1 < starts.length; row += 1) {
    const [start = 0, next = 0] = [starts[row], starts[row + 1]];
    const end = lineEnd(bytes, start, next);
    if (!bytes.subarray(start, end).includes(carriageReturnByte)) continue;
    throw csvTrouble('lone_carriage_return', { name, line: firstLine + row });
  }
}
