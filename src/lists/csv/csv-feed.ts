import { createHash } from 'node:crypto';
import type { ByteReader } from '../files/bytes/byte-reader.js';
import type { CsvChunk } from './csv-chunk.js';
import type { CsvHead } from './csv-format.js';
import type { CsvScanner } from './csv-scanner.js';

/** Carries bytes from a reader through a scanner; iterated, it gives the chunks once. */
export class CsvFeed implements AsyncIterableIterator<CsvChunk> {
  readonly #reader: ByteReader;
  readonly #scanner: CsvScanner;
  readonly #hash = createHash('sha256');
  #digest: string | undefined;
  /** Rows that came with the header. */
  #ahead: CsvChunk | undefined;
  #isClosed = false;

  /** @param before bytes of the input that were read before */
  constructor(reader: ByteReader, scanner: CsvScanner, before: Uint8Array) {
    this.#reader = reader;
    this.#scanner = scanner;
    this.#hash.update(before);
  }

  /** Reads as far as the first row. */
  async readHead(): Promise<CsvHead> {
    for (;;) {
      this.#ahead = await this.#step();
      const { head } = this.#scanner;
      if (head !== undefined) return head;
    }
  }

  /** SHA-256 of all bytes, once the end was reached. */
  get digest(): string | undefined {
    return this.#digest;
  }

  async next(): Promise<IteratorResult<CsvChunk, undefined>> {
    let value = this.#ahead;
    this.#ahead = undefined;
    while (value === undefined && !this.#isClosed) value = await this.#step();
    return value === undefined ? { done: true, value: undefined } : { done: false, value };
  }

  async return(): Promise<IteratorResult<CsvChunk, undefined>> {
    await this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ahead = undefined;
    await this.#reader.close();
  }

  /** Scans one piece more. Closes at the end, and when it fails. */
  async #step(): Promise<CsvChunk | undefined> {
    try {
      const piece = await this.#reader.read();
      if (piece !== undefined) {
        this.#hash.update(piece);
        return this.#scanner.feed(piece);
      }
      const last = this.#scanner.end();
      this.#digest = this.#hash.digest('hex');
      await this.#reader.close();
      this.#isClosed = true;
      return last;
    } catch (error) {
      await this.close();
      throw error;
    }
  }
}
