import { createHash } from 'node:crypto';
import type { ByteOutput } from '../outputs/byte-output.js';

/** Counts the bytes that go through it, and keeps a digest of them. */
export class MeasuredOutput implements ByteOutput {
  readonly #output: ByteOutput;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  readonly readBack: ByteOutput['readBack'];
  readonly givesBack: boolean;

  constructor(output: ByteOutput) {
    this.#output = output;
    this.readBack = output.readBack;
    this.givesBack = output.givesBack ?? false;
  }

  /** Number of bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** SHA-256 in hexadecimal; nothing may follow. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length;
    this.#hash.update(bytes);
    await this.#output.write(bytes);
  }

  async finish(): Promise<void> {
    await this.#output.finish();
  }

  async abort(): Promise<void> {
    await this.#output.abort();
  }
}
