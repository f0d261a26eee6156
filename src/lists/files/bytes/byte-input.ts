import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import {
  createStreamReader,
  isRegularFile,
  openFileReader,
  pieceBytes,
  type ByteReader,
} from './byte-reader.js';

/** Where the bytes of an input are. */
export interface ByteInput {
  /** How messages call it. */
  readonly name: string;
  /** The file they are in, where they can be read as often as asked and from any place. */
  readonly path?: string;
  /** Whether it is opened as often as asked without being a file here. @default only with a path */
  readonly isRepeatable?: boolean;
  openReader(signal?: AbortSignal): Promise<ByteReader>;
}

/** Whether an input gives its bytes more than once. */
export function isRepeatable(input: ByteInput): boolean {
  return input.path !== undefined || input.isRepeatable === true;
}

/** The bytes of a regular file. `name` is how messages call it, by default its path. */
export function fileInput(path: string, name = path): ByteInput {
  return { name, path, openReader: (signal) => openFileReader(path, name, signal) };
}

/** The bytes of a stream, once. */
export function streamInput(name: string, openStream: () => Readable): ByteInput {
  return {
    name,
    openReader: async (signal) => createStreamReader(name, openStream(), signal),
  };
}

/** The bytes at a path: a file is read as often as asked, a pipe or a terminal once. */
export function findInput(path: string): ByteInput {
  return isRegularFile(path)
    ? fileInput(path)
    : streamInput(path, () => createReadStream(path, { highWaterMark: pieceBytes }));
}
