import type { ByteOutput } from '../../../../src/lists/files/outputs/byte-output.js';

/** Keeps what is written, and tells how much of it at once. */
export class MemoryOutput implements ByteOutput {
  readonly pieces: Buffer[] = [];
  #writing = 0;
  mostAtOnce = 0;

  get bytes(): Buffer {
    return Buffer.concat(this.pieces);
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#writing += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#writing);
    await new Promise((resolve) => setImmediate(resolve));
    // Only now: whoever changes the bytes while they are written is found out.
    this.pieces.push(Buffer.from(bytes));
    this.#writing -= 1;
  }

  async finish(): Promise<void> {
    // Nothing to make stand.
  }

  async abort(): Promise<void> {
    this.pieces.length = 0;
  }
}
