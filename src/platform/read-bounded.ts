/** What was read of a body. */
export interface BoundedBody {
  readonly bytes: Buffer;
  /** Whether there was more than that; the rest was not read, and the body was let go of. */
  readonly isCut: boolean;
}

/** Reads a body into memory, so many bytes at most. */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<BoundedBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return { bytes: Buffer.concat(chunks, maxBytes), isCut: true };
  }
  return { bytes: Buffer.concat(chunks, size), isCut: false };
}
