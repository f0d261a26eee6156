import { closableChunks } from '../rows/chunks/closable-chunks.js';
import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import type { ByteReader } from '../files/bytes/byte-reader.js';
import { LineFeed } from '../files/bytes/line-feed.js';
import { TxtChunk } from './txt-chunk.js';

/** Name of a TXT file's only column. */
const txtColumn = 'value';

/** One reading of a TXT input: one address a line, an empty line is a row without one. */
export class TxtReading implements SourceReading<TxtChunk> {
  readonly header: readonly string[] = [txtColumn];
  readonly chunks: AsyncIterable<TxtChunk>;
  readonly #feed: LineFeed;

  private constructor(feed: LineFeed) {
    this.#feed = feed;
    this.chunks = closableChunks(toChunks(feed), () => feed.close());
  }

  /** @throws what `wanted` throws; the reader is closed then */
  static async open(
    reader: ByteReader,
    options: { readonly name: string; readonly maxRowBytes: number },
    opening: OpenSourceOptions,
  ): Promise<TxtReading> {
    const { name, maxRowBytes } = options;
    const feed = new LineFeed(reader, { name, maxLineBytes: maxRowBytes });
    const reading = new TxtReading(feed);
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

async function* toChunks(feed: LineFeed): AsyncGenerator<TxtChunk> {
  for (;;) {
    const lines = await feed.next();
    if (lines === undefined) return;
    yield new TxtChunk(lines);
  }
}
