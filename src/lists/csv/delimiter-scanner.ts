import { type KernelMemory, startKernel } from '../../platform/kernel.js';
import { lineFeedByte, quoteByte } from './csv-format.js';
import findStopsKernel from './find-stops.wasm.txt';

interface DelimiterScanner {
  /**
   * Looks through `bytes` from `from` up to `to`.
   *
   * @param delimiter any byte but 0
   * @returns where they are, counted from `from`; good until the next call
   */
  find(bytes: Uint8Array, from: number, to: number, delimiter: number): Uint32Array;
}

/** Byte by byte: for engines without WebAssembly, and as the kernel's reference. */
export class ByteDelimiterScanner implements DelimiterScanner {
  #stops = new Uint32Array(0);

  find(bytes: Uint8Array, from: number, to: number, delimiter: number): Uint32Array {
    if (this.#stops.length < to - from) this.#stops = new Uint32Array(to - from);
    const stops = this.#stops;
    let count = 0;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at];
      if (byte === delimiter || byte === quoteByte || byte === lineFeedByte) {
        stops[count] = at - from;
        count += 1;
      }
    }
    return stops.subarray(0, count);
  }
}

interface Kernel {
  readonly memory: KernelMemory;
  find(from: number, to: number, out: number, delimiter: number): number;
}

const pageBytes = 64 * 1024;
const blockBytes = 16;
const wordBytes = 4;

/** Sixteen bytes at a time, in the kernel's memory. */
export class KernelDelimiterScanner implements DelimiterScanner {
  readonly #kernel: Kernel;
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);

  /** @throws Error where the engine cannot run it */
  constructor() {
    // Typed by its source.
    this.#kernel = startKernel(findStopsKernel) as Kernel;
  }

  find(bytes: Uint8Array, from: number, to: number, delimiter: number): Uint32Array {
    const length = to - from;
    // After the bytes a block of none; after that the words, of which there may be one a byte.
    const out = (Math.ceil(length / blockBytes) + 1) * blockBytes;
    this.#makeRoom(out + length * wordBytes);
    this.#bytes.set(bytes.subarray(from, to));
    this.#bytes.fill(0, length, out);
    const end = this.#kernel.find(0, length, out, delimiter);
    return this.#words.subarray(out / wordBytes, end / wordBytes);
  }

  #makeRoom(bytes: number): void {
    const { memory } = this.#kernel;
    const missing = bytes - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / pageBytes));
    if (this.#bytes.buffer === memory.buffer) return;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#words = new Uint32Array(memory.buffer);
  }
}

let scanner: DelimiterScanner | undefined;

/** The scanner of this process: its result is read before the next call. */
export function delimiterScanner(): DelimiterScanner {
  scanner ??= createScanner();
  return scanner;
}

function createScanner(): DelimiterScanner {
  try {
    return new KernelDelimiterScanner();
  } catch {
    // Engines without WebAssembly (`--jitless`), or without address space for its memory.
    return new ByteDelimiterScanner();
  }
}
