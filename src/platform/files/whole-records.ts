/**
 * Cuts a stream of bytes into pieces of whole records. A piece is valid until the next is requested.
 *
 * @param lengthAt the length of the record at a position with at least `headBytes`
 */
export async function* wholeRecords(
  blocks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  headBytes: number,
  lengthAt: (bytes: Buffer, at: number) => number,
): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const block of blocks) {
    const bytes =
      rest.length > 0
        ? Buffer.concat([rest, block])
        : Buffer.from(block.buffer, block.byteOffset, block.byteLength);
    let end = 0;
    while (end + headBytes <= bytes.length) {
      const next = end + lengthAt(bytes, end);
      if (next > bytes.length) break;
      end = next;
    }
    if (end > 0) yield bytes.subarray(0, end);
    rest = Buffer.from(bytes.subarray(end));
  }
  if (rest.length > 0) throw new Error('a stream of records ends within a record');
}
