import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createStreamOutput } from '../../../src/lists/files/stream-output.js';

const name = 'standard output';

describe('createStreamOutput', () => {
  it('writes and ends the stream', async () => {
    const pieces: Buffer[] = [];
    const stream = new Writable({
      write(piece: Buffer, _encoding, done) {
        pieces.push(piece);
        done();
      },
    });
    const output = createStreamOutput(stream, { name });
    await output.write(Buffer.from('one '));
    await output.write(Buffer.from('two'));
    await output.finish();
    expect(Buffer.concat(pieces).toString()).toBe('one two');
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
    await new Promise((resolve) => setImmediate(resolve));
    expect(isWritten).toBe(false);
    release();
    await writing;
    await output.finish();
  });

  it('says why the stream took no more, and keeps the error from ending the process', async () => {
    const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const stream = new Writable({
      write(_chunk, _encoding, done) {
        setImmediate(done, broken);
      },
    });
    const output = createStreamOutput(stream, { name });
    const writing = output.write(Buffer.from('x'));
    await expect(writing).rejects.toMatchObject({ code: 'output_failed', cause: broken });
    await expect(writing).rejects.toThrow(
      'cannot write standard output: whoever was reading it has gone',
    );
    await output.abort();
    await expect(output.write(Buffer.from('y'))).rejects.toMatchObject({ code: 'output_failed' });
    await new Promise((resolve) => setImmediate(resolve));
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
