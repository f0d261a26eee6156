import { crc32, createDeflateRaw } from 'node:zlib';
import { OutputError } from '../../../platform/errors/errors.js';
import type { ByteOutput } from '../../files/outputs/byte-output.js';
import { pieceBytes } from '../../files/bytes/byte-reader.js';
import type { ZipEntry } from './zip-reader.js';
import { carryThrough, type Carrier } from '../../files/bytes/gzip.js';

interface WrittenEntry {
  readonly name: Buffer;
  readonly at: number;
  readonly flags: number;
  readonly method: number;
  crc: number;
  bytes: number;
  compressed: number;
}

/** The limit of four bytes; not every program reads the longer form. */
const mostBytes = 0xff_ff_ff_ff;
const version = 20;
const utf8Names = 0x08_00;
const sizesFollow = 0x00_08;
const deflated = 8;
/** The earliest date of the format: an output depends on its input alone. */
const firstDay = 0x00_21;

export class ZipWriter {
  readonly #output: ByteOutput;
  readonly #entries: WrittenEntry[] = [];
  #at = 0;
  #open: { readonly entry: WrittenEntry; readonly carrier: Carrier } | undefined;

  constructor(output: ByteOutput) {
    this.#output = output;
  }

  /** Begins a file; the previous one is closed. */
  async begin(name: string): Promise<void> {
    const entry = {
      name: Buffer.from(name),
      at: this.#at,
      flags: utf8Names | sizesFollow,
      method: deflated,
      crc: 0,
      bytes: 0,
      compressed: 0,
    };
    await this.#putHeader(entry);
    const carrier = carryThrough(createDeflateRaw({ chunkSize: pieceBytes }), async (bytes) => {
      entry.compressed += bytes.length;
      await this.#put(bytes);
    });
    this.#open = { entry, carrier };
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#open) throw new Error('no file is begun');
    const { entry, carrier } = this.#open;
    entry.crc = crc32(bytes, entry.crc);
    entry.bytes += bytes.length;
    await carrier.write(bytes);
  }

  async close(): Promise<void> {
    if (!this.#open) throw new Error('no file is begun');
    const { entry, carrier } = this.#open;
    await carrier.end();
    const sizes = Buffer.alloc(16);
    sizes.writeUInt32LE(0x08_07_4b_50, 0);
    writeSizes(sizes, 4, entry);
    await this.#put(sizes);
    this.#entries.push(entry);
    this.#open = undefined;
  }

  /** Copies a file of another archive without decompressing it. */
  async copy(
    { name, method, crc, bytes, compressedBytes: compressed }: ZipEntry,
    stored: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const entry = {
      name: Buffer.from(name),
      at: this.#at,
      flags: utf8Names,
      method,
      crc,
      bytes,
      compressed,
    };
    await this.#putHeader(entry);
    for await (const piece of stored) await this.#put(piece);
    this.#entries.push(entry);
  }

  /** Writes the directory; does not finish the output. */
  async end(): Promise<void> {
    const from = this.#at;
    for (const entry of this.#entries) {
      const header = Buffer.alloc(46);
      header.writeUInt32LE(0x02_01_4b_50, 0);
      header.writeUInt16LE(version, 4);
      header.writeUInt16LE(version, 6);
      header.writeUInt16LE(entry.flags, 8);
      header.writeUInt16LE(entry.method, 10);
      header.writeUInt16LE(firstDay, 14);
      writeSizes(header, 16, entry);
      header.writeUInt16LE(entry.name.length, 28);
      header.writeUInt32LE(checked(entry.at), 42);
      await this.#put(Buffer.concat([header, entry.name]));
    }
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06_05_4b_50, 0);
    end.writeUInt16LE(this.#entries.length, 8);
    end.writeUInt16LE(this.#entries.length, 10);
    end.writeUInt32LE(checked(this.#at - from), 12);
    end.writeUInt32LE(checked(from), 16);
    await this.#put(end);
  }

  async #putHeader(entry: WrittenEntry): Promise<void> {
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04_03_4b_50, 0);
    header.writeUInt16LE(version, 4);
    header.writeUInt16LE(entry.flags, 6);
    header.writeUInt16LE(entry.method, 8);
    header.writeUInt16LE(firstDay, 12);
    writeSizes(header, 14, entry);
    header.writeUInt16LE(entry.name.length, 26);
    await this.#put(Buffer.concat([header, entry.name]));
  }

  async #put(bytes: Uint8Array): Promise<void> {
    this.#at += bytes.length;
    await this.#output.write(bytes);
  }
}

function writeSizes(into: Buffer, at: number, { crc, compressed, bytes }: WrittenEntry): void {
  into.writeUInt32LE(crc, at);
  into.writeUInt32LE(checked(compressed), at + 4);
  into.writeUInt32LE(checked(bytes), at + 8);
}

function checked(bytes: number): number {
  if (bytes < mostBytes) return bytes;
  throw new OutputError('the workbook becomes larger than 4 GiB: write another format');
}
