import type { ByteReader } from './byte-reader.js';

/** A reader whose next bytes can be looked at before they are read. */
export class PeekReader implements ByteReader {
  readonly #reader: ByteReader;
  /** Looked at and not read yet. */
  #ahead: Buffer = Buffer.alloc(0);
  #isAtEnd = false;

  constructor(reader: ByteReader) {
    this.#reader = reader;
  }

  /** The next `bytes` bytes or more; fewer only when the input ends. */
  async peek(bytes: number): Promise<Buffer> {
    return this.#lookUntil(() => this.#ahead.length >= bytes);
  }

  /** As few of the next bytes as are enough; all of them when none are. */
  async peekUntil(isEnough: (first: Buffer) => boolean): Promise<Buffer> {
    return this.#lookUntil(() => isEnough(this.#ahead));
  }

  /** The next bytes up to a line feed at least; at most about `mostBytes` when there is none. */
  async peekLine(mostBytes: number): Promise<Buffer> {
    const lineFeed = 0x0a;
    return this.#lookUntil(() => this.#ahead.length >= mostBytes || this.#ahead.includes(lineFeed));
  }

  /** Reads so many bytes that were looked at. */
  take(bytes: number): Buffer {
    const taken = this.#ahead.subarray(0, bytes);
    this.#ahead = this.#ahead.subarray(bytes);
    return taken;
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#ahead.length === 0) return this.#isAtEnd ? undefined : this.#reader.read();
    const piece = this.#ahead;
    this.#ahead = Buffer.alloc(0);
    return piece;
  }

  async close(): Promise<void> {
    this.#ahead = Buffer.alloc(0);
    await this.#reader.close();
  }

  async #lookUntil(isEnough: () => boolean): Promise<Buffer> {
    const pieces = [this.#ahead];
    while (!this.#isAtEnd && !isEnough()) {
      const piece = await this.#reader.read();
      if (piece === undefined) this.#isAtEnd = true;
      // A piece is good until the next read only.
      else pieces.push(Buffer.from(piece));
      this.#ahead = Buffer.concat(pieces);
      pieces.splice(0, pieces.length, this.#ahead);
    }
    return this.#ahead;
  }
}
