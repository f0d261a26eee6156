import { createHash } from 'node:crypto';
import { statSync, type Stats, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { ConfigurationError, InputError } from '../../../platform/errors/errors.js';
import { refuseReading } from '../../../platform/files/disk-errors.js';
import type { OnNotice } from '../../../platform/text/notices.js';
import { orAborted } from '../../../platform/waiting/promises.js';
import { digestAtEnd } from '../../rows/source.js';

export interface ByteReader {
  /** The next piece, valid until the next read; `undefined` at the end of a complete input. */
  read(): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** The same bytes, with their SHA-256 once all are read: it identifies the content. */
export function digestingReader(
  reader: ByteReader,
): ByteReader & { readonly contentDigest: () => string } {
  const hash = createHash('sha256');
  let digest: string | undefined;
  return {
    async read() {
      const piece = await reader.read();
      if (piece) hash.update(piece);
      else digest ??= hash.digest('hex');
      return piece;
    },
    close: async () => reader.close(),
    contentDigest: () => digestAtEnd(digest),
  };
}

/** All pieces of a reader, each valid until the next. */
export async function* piecesOf(reader: ByteReader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const piece = await reader.read();
    if (piece === undefined) return;
    yield piece;
  }
}

/** Large enough that reading costs little beside processing. */
export const pieceBytes = 256 * 1024;

export async function openFileReader(
  path: string,
  name: string,
  signal?: AbortSignal,
): Promise<ByteReader> {
  signal?.throwIfAborted();
  const file = await open(path).catch(refuseReading(name));
  const buffers = [Buffer.allocUnsafeSlow(pieceBytes), Buffer.allocUnsafeSlow(pieceBytes)] as const;
  let into = 0;
  // One piece ahead: the disk works while the previous piece is processed.
  const readOn = (): Promise<Buffer> => {
    const buffer = buffers[into === 0 ? 0 : 1];
    into = 1 - into;
    const piece = file
      .read(buffer, 0, pieceBytes, null)
      .then(({ bytesRead }) => buffer.subarray(0, bytesRead));
    // The caller of `read` gets the failure; there may be none any more.
    piece.catch(() => undefined);
    return piece;
  };
  let ahead = readOn();
  return {
    async read() {
      signal?.throwIfAborted();
      const piece = await ahead.catch(refuseReading(name));
      signal?.throwIfAborted();
      if (piece.length === 0) return undefined;
      ahead = readOn();
      return piece;
    },
    // It was only read: an error at closing does not matter.
    close: () => file.close().catch(() => undefined),
  };
}

/** Reads a stream of bytes; closing destroys it. */
export function createStreamReader(
  name: string,
  stream: Readable,
  signal?: AbortSignal,
): ByteReader {
  const pieces: AsyncIterator<unknown> = stream[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  return {
    async read() {
      if (rest.length === 0) {
        // Not every stream ends the wait when it is destroyed.
        const step = await orAborted(pieces.next().catch(refuseReading(name, null)), signal);
        if (step.done === true) return undefined;
        rest = bytesOf(step.value, name);
      }
      const piece = rest.subarray(0, pieceBytes);
      rest = rest.subarray(pieceBytes);
      return piece;
    },
    async close() {
      stream.destroy();
    },
  };
}

function bytesOf(value: unknown, name: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return Buffer.from(value);
  throw new ConfigurationError(`${name} is not a stream of bytes: it gives objects`, {
    fault: 'unsupported',
  });
}

/** A reader whose next bytes can be examined before they are read. */
export class PeekReader implements ByteReader {
  readonly #reader: ByteReader;
  #ahead: Buffer = Buffer.alloc(0);
  #isAtEnd = false;

  constructor(reader: ByteReader) {
    this.#reader = reader;
  }

  /** The next `bytes` bytes or more; fewer only at the end of the input. */
  async peek(bytes: number): Promise<Buffer> {
    return this.#lookUntil(() => this.#ahead.length >= bytes);
  }

  /** As few of the next bytes as are enough; all of them when none are. */
  async peekUntil(isEnough: (first: Buffer) => boolean): Promise<Buffer> {
    return this.#lookUntil(() => isEnough(this.#ahead));
  }

  /** The next bytes up to at least a line feed; about `mostBytes` at most without one. */
  async peekLine(mostBytes: number): Promise<Buffer> {
    const lineFeed = 0x0a;
    return this.#lookUntil(() => this.#ahead.length >= mostBytes || this.#ahead.includes(lineFeed));
  }

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
      // A piece is valid only until the next read.
      else pieces.push(Buffer.from(piece));
      this.#ahead = Buffer.concat(pieces);
      pieces.splice(0, pieces.length, this.#ahead);
    }
    return this.#ahead;
  }
}

export interface ByteInput {
  readonly name: string;
  /** Its file, where it can be read repeatedly and from any position. */
  readonly path?: string;
  /** Whether it can be opened repeatedly without being a local file. @default only with a path */
  readonly isRepeatable?: boolean;
  /** @param onNotice called with what keeps the bytes waiting */
  openReader(signal?: AbortSignal, onNotice?: OnNotice): Promise<ByteReader>;
}

export function isRepeatable(input: ByteInput): boolean {
  return input.path !== undefined || input.isRepeatable === true;
}

/** The bytes of a regular file. `name` is its name in messages, by default its path. */
export function fileInput(path: string, name = path): ByteInput {
  return { name, path, openReader: (signal) => openFileReader(path, name, signal) };
}

export function streamInput(name: string, openStream: () => Readable): ByteInput {
  return {
    name,
    openReader: async (signal) => createStreamReader(name, openStream(), signal),
  };
}

/** The bytes at a path: a file can be read repeatedly, a pipe or a terminal once. */
export function findInput(path: string): ByteInput {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    return refuseReading(path)(error);
  }
  if (stats.isDirectory()) {
    throw new InputError(`cannot read ${path}: it is a folder`, {
      code: 'input_unreadable',
      file: path,
      fault: 'folder',
    });
  }
  return stats.isFile()
    ? fileInput(path)
    : streamInput(path, () => createReadStream(path, { highWaterMark: pieceBytes }));
}
