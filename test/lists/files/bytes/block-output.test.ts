import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BlockOutput } from '../../../../src/lists/files/outputs/byte-output.js';
import { MemoryOutput } from '../memory-output.js';

/** Looks at what it is given until the write has resolved, and no longer. */
class GivingOutput extends MemoryOutput {
  readonly givesBack = true;
  readonly memory = new Set<ArrayBufferLike>();

  override async write(bytes: Uint8Array): Promise<void> {
    this.memory.add(bytes.buffer);
    await super.write(bytes);
  }
}

/** Keeps what it is given as it is, and looks at it at the end. */
class KeepingOutput extends MemoryOutput {
  readonly kept: Uint8Array[] = [];

  override async write(bytes: Uint8Array): Promise<void> {
    await setImmediate();
    this.kept.push(bytes);
  }
}

/** Some megabytes in pieces of very different sizes, one of them larger than a block. */
async function writePieces(out: BlockOutput): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < 400; at += 1) {
    const piece = Buffer.alloc(at === 200 ? 600_000 : (at * 7919) % 30_000, at);
    pieces.push(piece);
    out.put(piece);
    await out.settle();
    // Sometimes the write before has arrived by then.
    if (at % 3 === 0) await setImmediate();
  }
  await out.end();
  return Buffer.concat(pieces);
}

describe('BlockOutput', () => {
  it('fills two blocks in turn for an output that gives them back', async () => {
    const output = new GivingOutput();
    const written = await writePieces(new BlockOutput(output));
    expect(output.bytes.equals(written)).toBe(true);
    expect(output.mostAtOnce).toBe(1);
    // The two, their successors after the piece that none of them holds, and the block of that piece.
    expect(output.memory.size).toBeLessThanOrEqual(5);
  });

  it('says with the next piece, however small, that nobody takes them any more', async () => {
    const gone = new Error('nobody reads');
    const out = new BlockOutput(
      Object.assign(new MemoryOutput(), { write: async () => Promise.reject(gone) }),
    );
    out.put(Buffer.from('a'));
    await out.settle();
    await setImmediate();
    out.put(Buffer.from('b'));
    await expect(out.settle()).rejects.toBe(gone);
  });

  it('changes nothing that an output may keep', async () => {
    const output = new KeepingOutput();
    const written = await writePieces(new BlockOutput(output));
    expect(Buffer.concat(output.kept).equals(written)).toBe(true);
  });
});
