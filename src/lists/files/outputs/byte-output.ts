import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { refuseWriting } from '../../../platform/files/disk-errors.js';
import type { RandomFile } from '../bytes/random-file.js';

export interface ByteOutput {
  /** Whether written bytes may be reused once the write has resolved. @default false: they must not be changed */
  readonly givesBack?: boolean;
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the output visible: complete, and on disk where it is a file. */
  finish(): Promise<void>;
  /** Opens the unfinished output for reading. Absent where it cannot be read. */
  readBack?: (() => Promise<RandomFile>) | undefined;
  /** Drops the output as far as possible. Never fails; does nothing after `finish`. */
  abort(): Promise<void>;
}

const blockBytes = 256 * 1024;
/** The least rest of a block worth filling. */
const leastBytes = 64 * 1024;

/** Collects bytes in blocks, so that an output gets few large pieces, one at a time. */
export class BlockOutput {
  readonly #output: ByteOutput;
  #block = Buffer.allocUnsafeSlow(blockBytes);
  /** How much of the block is filled; a writer into the block advances it. */
  filled = 0;
  #underway: Promise<void> | undefined;
  #hasFailed = false;
  /** A block that an output has returned: new blocks would cause garbage collections. */
  #free: Buffer<ArrayBuffer> | undefined;

  constructor(output: ByteOutput) {
    this.#output = output;
  }

  /** The block being filled; may be another after each `hasRoom`, `put`, `settle` and `send`. */
  get block(): Buffer {
    return this.#block;
  }

  /** Whether the bytes fit into the block; an empty one takes any. */
  hasRoom(bytes: number): boolean {
    if (this.filled + bytes <= this.#block.length) return true;
    if (this.filled > 0) return false;
    this.#block = Buffer.allocUnsafeSlow(bytes);
    return true;
  }

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
   * Resolves when more may come. Collected bytes are written when they are enough, or when no other write is
   * pending: rows of a slow input do not wait for later ones.
   */
  async settle(): Promise<void> {
    const isIdle = this.#underway === undefined || this.#hasFailed;
    if (this.filled >= blockBytes || isIdle) await this.send();
  }

  async end(): Promise<void> {
    await this.send();
    await this.#underway;
  }

  /** Writes the block once the previous one is written. */
  async send(): Promise<void> {
    await this.#underway;
    if (this.filled === 0) return;
    const sent = this.#block;
    const underway = this.#output.write(sent.subarray(0, this.filled)).then(() => {
      if (this.#underway === underway) this.#underway = undefined;
      if (this.#output.givesBack === true && sent.length === blockBytes) this.#free = sent;
    });
    // The next caller gets the failure.
    underway.catch(() => {
      this.#hasFailed = true;
    });
    this.#underway = underway;
    // An output that is never busy gets small pieces: then the rest of the block is filled next, unless the
    // whole block comes back.
    const rest = sent.subarray(this.filled);
    const isRestFilled = this.#output.givesBack !== true && rest.length >= leastBytes;
    this.#block = isRestFilled ? rest : (this.#free ?? Buffer.allocUnsafeSlow(blockBytes));
    this.#free = undefined;
    this.filled = 0;
  }
}

export interface StreamOutputOptions {
  readonly name: string;
  /**
   * Whether finishing ends the stream and aborting destroys it; not for standard output.
   * @default true
   */
  readonly ends?: boolean | undefined;
}

export function createStreamOutput(stream: Writable, options: StreamOutputOptions): ByteOutput {
  const { name, ends = true } = options;
  const fail = refuseWriting(name, null);
  // The failed write reports the error; without a listener it would also end the process. It may be emitted
  // after that write's callback: on a broken stream the listener stays.
  stream.on('error', ignore);
  const write = promisify((bytes: Uint8Array, done: (error?: Error | null) => void) => {
    stream.write(bytes, done);
  });
  let isOpen = true;
  return {
    write: (bytes) => write(bytes).catch(fail),
    async finish() {
      isOpen = false;
      try {
        if (ends) {
          stream.end();
          await finished(stream, { readable: false, cleanup: true });
        }
        // A destroyed stream may look finished.
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
  // The failed write reports it.
}
