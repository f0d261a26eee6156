import { InputError } from '../../../platform/errors/errors.js';
import type { ByteReader } from './byte-reader.js';
import { carriageReturnByte, lineFeedByte } from '../../csv/csv-format.js';
import { markBytesOf, utf8Mark } from '../file-signature.js';
import { grouped } from '../../../platform/text/shown-numbers.js';

export interface Lines {
  /** Bytes that the bounds refer to; never overwritten. */
  readonly bytes: Buffer;
  /** Starts of the lines, then the end of the last line's end. */
  readonly starts: Uint32Array;
  /** Number of the first line in the file, counted from 1. */
  readonly firstLine: number;
}

interface LineFeedOptions {
  readonly name: string;
  /** Most bytes of a line: a file without line ends must not fill the memory. */
  readonly maxLineBytes: number;
}

/** Cuts a reader's bytes into lines, without a leading byte-order mark. Can be read once. */
export class LineFeed {
  readonly #reader: ByteReader;
  readonly #options: LineFeedOptions;
  #rest: Buffer = Buffer.alloc(0);
  #line = 1;
  #isFirst = true;
  #isClosed = false;

  constructor(reader: ByteReader, options: LineFeedOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  /** The next lines; `undefined` at the end. Closes there, and when it fails. */
  async next(): Promise<Lines | undefined> {
    try {
      for (;;) {
        if (this.#isClosed) return undefined;
        const piece = await this.#reader.read();
        if (piece === undefined) return await this.#last();
        const held = Buffer.concat([this.#rest, piece]);
        if (this.#isFirst && held.length < utf8Mark.length) {
          this.#rest = held;
          continue;
        }
        const bytes = this.#withoutMark(held);
        const end = bytes.lastIndexOf(lineFeedByte) + 1;
        this.#rest = Buffer.from(bytes.subarray(end));
        this.#refuseLong(this.#rest.length);
        if (end > 0) return this.#cut(bytes.subarray(0, end));
      }
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#reader.close();
  }

  async #last(): Promise<Lines | undefined> {
    const bytes = this.#withoutMark(this.#rest);
    await this.close();
    return bytes.length > 0 ? this.#cut(bytes) : undefined;
  }

  #withoutMark(bytes: Buffer): Buffer {
    if (!this.#isFirst) return bytes;
    this.#isFirst = false;
    return bytes.subarray(markBytesOf(bytes));
  }

  #cut(bytes: Buffer): Lines {
    const starts: number[] = [0];
    for (let start = 0; start < bytes.length;) {
      const lineFeed = bytes.indexOf(lineFeedByte, start);
      const next = lineFeed === -1 ? bytes.length : lineFeed + 1;
      this.#refuseLong(next - start, starts.length - 1);
      starts.push(next);
      start = next;
    }
    const lines = { bytes, starts: new Uint32Array(starts), firstLine: this.#line };
    this.#line += starts.length - 1;
    return lines;
  }

  #refuseLong(bytes: number, before = 0): void {
    const { name, maxLineBytes } = this.#options;
    if (bytes <= maxLineBytes) return;
    const line = this.#line + before;
    throw new InputError(
      `${name}, line ${grouped(line)}: the line is too long (over ${grouped(maxLineBytes)} bytes)`,
      { line, fault: 'too_long' },
    );
  }
}

/** End of a line, without its line feed and the carriage returns before it. */
export function lineEnd(bytes: Uint8Array, from: number, to: number): number {
  let end = to;
  if (end > from && bytes[end - 1] === lineFeedByte) {
    end -= 1;
    while (end > from && bytes[end - 1] === carriageReturnByte) end -= 1;
  }
  return end;
}
