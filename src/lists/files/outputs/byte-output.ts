import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { refuseWriting } from '../../../platform/files/disk-errors.js';
import type { RandomFile } from '../../../platform/files/random-file.js';

/** Where the bytes of an output go. */
export interface ByteOutput {
  /**
   * Whether bytes are their owner's again once the write of them has resolved.
   * @default they must not be changed after the call
   */
  readonly givesBack?: boolean;
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the output visible: whole, and on disk where it is a file. */
  finish(): Promise<void>;
  /** Opens what was written so far, while it is not complete yet. Absent where it cannot be read. */
  readBack?: (() => Promise<RandomFile>) | undefined;
  /** Drops the output as far as it can be dropped. Never fails, and does nothing after `finish`. */
  abort(): Promise<void>;
}

/** How much is collected before it is written. */
const blockBytes = 256 * 1024;
/** A rest of a block that is worth filling. */
const leastBytes = 64 * 1024;

/** Collects bytes in a block, so that an output gets few large pieces; one is on its way at a time. */
export class BlockOutput {
  readonly #output: ByteOutput;
  #block = Buffer.allocUnsafeSlow(blockBytes);
  /** How much of the block is filled: what writes into it by itself moves this on. */
  filled = 0;
  /** The block before, on its way out. */
  #underway: Promise<void> | undefined;
  #hasFailed = false;
  /** One that an output has given back: blocks that wait to be collected would call the collector in. */
  #free: Buffer<ArrayBuffer> | undefined;

  constructor(output: ByteOutput) {
    this.#output = output;
  }

  /** What is being filled; another one after each `hasRoom`, `put`, `settle` and `send`. */
  get block(): Buffer {
    return this.#block;
  }

  /** Whether so many bytes fit into the block; into an empty one anything does. */
  hasRoom(bytes: number): boolean {
    if (this.filled + bytes <= this.#block.length) return true;
    if (this.filled > 0) return false;
    this.#block = Buffer.allocUnsafeSlow(bytes);
    return true;
  }

  /** Takes bytes, however many. */
  put(bytes: Uint8Array): void {
    if (!this.hasRoom(bytes.length)) {
      const larger = Math.max(2 * this.#block.length, this.filled + bytes.length);
      const block = Buffer.allocUnsafeSlow(larger);
      block.set(this.#block.subarray(0, this.filled));
      this.#block = block;
    }
    this.#block.set(bytes, this.filled);
    this.filled += bytes.length;
  }

  /**
   * Resolves when more may come. What is collected goes out when it is enough, and as soon as nothing
   * else is on its way: the rows of a slow input do not wait for those after them.
   */
  async settle(): Promise<void> {
    const isIdle = this.#underway === undefined || this.#hasFailed;
    if (this.filled >= blockBytes || isIdle) await this.send();
  }

  /** Writes what is left. */
  async end(): Promise<void> {
    await this.send();
    await this.#underway;
  }

  /** Sends the block on its way as soon as the one before has arrived. */
  async send(): Promise<void> {
    await this.#underway;
    if (this.filled === 0) return;
    const sent = this.#block;
    const underway = this.#output.write(sent.subarray(0, this.filled)).then(() => {
      if (this.#underway === underway) this.#underway = undefined;
      if (this.#output.givesBack === true && sent.length === blockBytes) this.#free = sent;
    });
    // Anyone who comes next gets a failure.
    underway.catch(() => {
      this.#hasFailed = true;
    });
    this.#underway = underway;
    // What an output that is never busy gets is small: then the rest of the block is filled next, unless
    // the whole of it comes back.
    const rest = sent.subarray(this.filled);
    const isRestFilled = this.#output.givesBack !== true && rest.length >= leastBytes;
    this.#block = isRestFilled ? rest : (this.#free ?? Buffer.allocUnsafeSlow(blockBytes));
    this.#free = undefined;
    this.filled = 0;
  }
}

export interface StreamOutputOptions {
  /** How messages call the stream. */
  readonly name: string;
  /**
   * Whether finishing ends the stream, and aborting destroys it; not for standard output, which is not
   * ours to close.
   * @default true
   */
  readonly ends?: boolean | undefined;
}

/** Writes bytes to a stream, as fast as it takes them. */
export function createStreamOutput(stream: Writable, options: StreamOutputOptions): ByteOutput {
  const { name, ends = true } = options;
  const fail = refuseWriting(name);
  // The write that fails reports the error; without a listener it would end the process as well.
  // It may be emitted after that write's callback: on a broken stream the listener stays.
  stream.on('error', ignore);
  let isOpen = true;
  return {
    write: (bytes) =>
      new Promise<void>((resolve, reject) => {
        stream.write(bytes, (error) => {
          if (error) reject(error);
          else resolve();
        });
      }).catch(fail),
    async finish() {
      isOpen = false;
      try {
        if (ends) {
          stream.end();
          await finished(stream, { readable: false, cleanup: true });
        }
        // A stream that was destroyed may well look finished.
        if (stream.errored || (ends ? !stream.writableFinished : stream.destroyed)) {
          throw stream.errored ?? new Error('the stream was closed');
        }
      } catch (cause) {
        fail(cause);
      }
      stream.off('error', ignore);
    },
    async abort() {
      if (!isOpen) return;
      isOpen = false;
      if (ends) stream.destroy();
      else if (!stream.errored) stream.off('error', ignore);
    },
  };
}

function ignore(): void {
  // The write that failed reports it.
}
