import { crc32 } from 'node:zlib';
import type { Batch } from './batch.js';

const lineEnd = 0x0a;

/**
 * The two parts that a batch of two lines or more is sent in when it is too large as a whole: always
 * the same two, so that a run that goes on takes up those of the process before.
 */
export async function halveBatch(batch: Batch): Promise<readonly [Batch, Batch]> {
  const addresses = Math.ceil(batch.addresses / 2);
  const { middle, checksums } = await findMiddle(batch, addresses);
  const { start, of } = batch.part ?? { start: 0, of: batch.addresses };
  const { sizeBytes } = batch;
  const first: Batch = {
    ...batch,
    addresses,
    sizeBytes: middle,
    checksum: checksums[0],
    part: { start, of },
    open: () => stretch(batch.open(), 0, middle),
  };
  const second: Batch = {
    ...batch,
    addresses: batch.addresses - addresses,
    sizeBytes: sizeBytes - middle,
    checksum: checksums[1],
    part: { start: start + addresses, of },
    open: () => stretch(batch.open(), middle, sizeBytes),
  };
  return [first, second];
}

/** Where the first so many lines of a batch end, and the checksums of what stands before and behind. */
async function findMiddle(
  batch: Batch,
  addresses: number,
): Promise<{ readonly middle: number; readonly checksums: readonly [number, number] }> {
  let lines = 0;
  let middle = 0;
  let before = 0;
  let behind = 0;
  for await (const chunk of batch.open()) {
    let cut = 0;
    while (lines < addresses && cut < chunk.length) {
      const end = chunk.indexOf(lineEnd, cut);
      if (end !== -1) lines += 1;
      cut = end === -1 ? chunk.length : end + 1;
    }
    middle += cut;
    before = crc32(chunk.subarray(0, cut), before);
    behind = crc32(chunk.subarray(cut), behind);
  }
  return { middle, checksums: [before, behind] };
}

async function* stretch(
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const chunk of bytes) {
    const piece = chunk.subarray(Math.max(from - at, 0), Math.max(to - at, 0));
    if (piece.length > 0) yield piece;
    at += chunk.length;
    if (at >= to) return;
  }
}
