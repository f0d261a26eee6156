import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  BlockOutput,
  createStreamOutput,
} from '../../../../src/lists/files/outputs/byte-output.js';
import { MemoryOutput } from './memory-output.js';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { BytesTaker } from '../../rows/bytes-taker.js';

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

const name = 'standard output';

describe('createStreamOutput', () => {
  it('writes and ends the stream', async () => {
    let written = '';
    const stream = new BytesTaker((bytes) => (written = bytes.toString()));
    const output = createStreamOutput(stream, { name });
    await output.write(Buffer.from('one '));
    await output.write(Buffer.from('two'));
    await output.finish();
    expect(written).toBe('one two');
    expect(stream.writableFinished).toBe(true);
    expect(stream.listenerCount('error')).toBe(0);
  });

  it('leaves a stream open that is not its own, and no listener on it', async () => {
    const stream = new PassThrough();
    for (const end of ['finish', 'abort'] as const) {
      const output = createStreamOutput(stream, { name, ends: false });
      await output.write(Buffer.from('x'));
      await output[end]();
    }
    expect(stream.writable).toBe(true);
    expect(stream.listenerCount('error')).toBe(0);
  });

  it('waits for a stream that is slow', async () => {
    let release = (): void => undefined;
    const stream = new Writable({
      highWaterMark: 1,
      write(_chunk, _encoding, done) {
        release = done;
      },
    });
    const output = createStreamOutput(stream, { name });
    let isWritten = false;
    const writing = output.write(Buffer.from('xyz')).then(() => (isWritten = true));
    await setImmediate();
    expect(isWritten).toBe(false);
    release();
    await writing;
    await output.finish();
  });

  it('says why the stream took no more, and keeps the error from ending the process', async () => {
    const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const stream = new Writable({
      write(_chunk, _encoding, done) {
        void setImmediate().then(() => done(broken));
      },
    });
    const output = createStreamOutput(stream, { name });
    const writing = output.write(Buffer.from('x'));
    await expect(writing).rejects.toMatchObject({ code: 'output_failed', cause: broken });
    await expect(writing).rejects.toThrow(' standard output: ');
    await output.abort();
    await expect(output.write(Buffer.from('y'))).rejects.toMatchObject({ code: 'output_failed' });
    await setImmediate();
  });

  it('fails to finish when the stream fails at its end, or was closed by someone else', async () => {
    const failure = new Error('flush');
    const stream = new Writable({
      write(_chunk, _encoding, done) {
        done();
      },
      final(done) {
        done(failure);
      },
    });
    const output = createStreamOutput(stream, { name });
    await output.write(Buffer.from('x'));
    await expect(output.finish()).rejects.toMatchObject({ code: 'output_failed', cause: failure });

    for (const ends of [true, false]) {
      const closed = new PassThrough();
      const other = createStreamOutput(closed, { name, ends });
      closed.destroy();
      await expect(other.finish()).rejects.toMatchObject({ code: 'output_failed' });
    }
  });

  it('destroys its stream when it is aborted: a reader sees no clean end', async () => {
    const stream = new PassThrough();
    const output = createStreamOutput(stream, { name });
    await output.write(Buffer.from('x'));
    const cut = expect(text(stream)).rejects.toThrow('Premature close');
    await output.abort();
    await cut;
  });
});
