import type { Readable } from 'node:stream';

/** What was read of a body. */
export interface BoundedBody {
  readonly bytes: Buffer;
  /** Whether there was more than that; the rest was not read and its connection is closed. */
  readonly isCut: boolean;
}

/** Reads a body into memory, so many bytes at most. */
export async function readBounded(body: Readable, maxBytes: number): Promise<BoundedBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return { bytes: Buffer.concat(chunks, maxBytes), isCut: true };
  }
  return { bytes: Buffer.concat(chunks, size), isCut: false };
}
