import type { ByteOutput } from '../output-files/byte-output.js';

/** How much is collected before it is written. */
const blockBytes = 256 * 1024;

/** Collects bytes, so that an output gets few large pieces of them; one is on its way at a time. */
export class BlockOutput {
  readonly #output: ByteOutput;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #underway: Promise<void> | undefined;

  constructor(output: ByteOutput) {
    this.#output = output;
  }

  /** Takes bytes that are not changed any more. */
  put(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
  }

  /**
   * Resolves when more may come. What is collected goes out when it is enough, and as soon as nothing
   * else is on its way: the rows of a slow input do not wait for those behind them.
   *
   * @throws OutputError
   */
  async settle(): Promise<void> {
    if (this.#bytes >= blockBytes || this.#underway === undefined) await this.#send();
  }

  /**
   * Writes what is left.
   *
   * @throws OutputError
   */
  async end(): Promise<void> {
    await this.#send();
    await this.#underway;
  }

  async #send(): Promise<void> {
    await this.#underway;
    if (this.#bytes === 0) return;
    const block = Buffer.concat(this.#parts, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    const underway = this.#output.write(block).then(() => {
      if (this.#underway === underway) this.#underway = undefined;
    });
    // Whoever writes next hears of a failure.
    underway.catch(() => undefined);
    this.#underway = underway;
  }
}
