import { Writable, type Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { PatientDuplex } from '../../../src/engine/streams/parcel.js';
import { caught } from '../../client/test-client.js';

class Patient extends PatientDuplex {
  readonly asked: boolean[] = [];

  constructor(highWaterMark = 16) {
    super({ objectMode: true, readableHighWaterMark: highWaterMark });
  }

  override _read(): void {
    // Pushed by hand.
  }

  override _write(_item: unknown, _encoding: string, done: () => void): void {
    done();
  }

  note(): void {
    this.whenAsked(() => this.asked.push(true));
  }

  failWhenRead(error: Error): void {
    this.whenAsked(() => this.destroy(error));
  }
}

const readers: Record<string, (stream: Readable, seen: unknown[]) => Promise<unknown>> = {
  'a loop': async (stream, seen) => {
    for await (const item of stream) seen.push(item);
  },
  'a slow loop': async (stream, seen) => {
    for await (const item of stream) {
      seen.push(item);
      await turn();
    }
  },
  'data events': async (stream, seen) =>
    new Promise((resolve, reject) => {
      stream.on('data', (item) => seen.push(item));
      stream.on('error', reject).on('end', resolve);
    }),
  'readable events': async (stream, seen) =>
    new Promise((resolve, reject) => {
      stream.on('readable', () => {
        for (let item: unknown = stream.read(); item !== null; item = stream.read()) {
          seen.push(item);
        }
      });
      stream.on('error', reject).on('end', resolve);
    }),
  'a pipe into a slow stream': async (stream, seen) =>
    new Promise((resolve, reject) => {
      stream.on('error', reject).on('end', resolve);
      stream.pipe(
        new Writable({
          objectMode: true,
          highWaterMark: 1,
          write(item, _encoding, done) {
            seen.push(item);
            setImmediate(done);
          },
        }),
      );
    }),
};

describe('an error that waits until all is read', () => {
  for (const [how, read] of Object.entries(readers)) {
    for (const when of ['before', 'as', 'while'] as const) {
      test(`comes behind everything to ${how}, pushed ${when} it reads`, async () => {
        const stream = new Patient();
        const seen: unknown[] = [];
        const error = new Error('stopped');
        const fill = (): void => {
          for (let item = 1; item <= 40; item += 1) stream.push(item);
          stream.failWhenRead(error);
        };
        if (when === 'before') fill();
        const end = caught(read(stream, seen));
        if (when === 'while') await turn();
        if (when !== 'before') fill();
        expect(await end).toBe(error);
        expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
      });
    }
  }

  test('comes at once to a reader who waits for more', async () => {
    const stream = new Patient();
    const error = new Error('stopped');
    const end = caught(stream.toArray());
    stream.push('only');
    await turn();
    stream.failWhenRead(error);
    expect(stream.destroyed).toBe(true);
    expect(await end).toBe(error);
  });

  test('does not come while the last item is unread, nor to a stream that fills its buffer', async () => {
    const stream = new Patient();
    stream.push('last');
    stream.note();
    stream.read(0);
    expect(stream.asked).toEqual([]);
    expect(stream.read()).toBe('last');
    await turn();
    expect(stream.asked).toEqual([]);
    expect(stream.read()).toBeNull();
    expect(stream.asked).toEqual([true]);
  });

  test('does not take an earlier wish for more for a later one', () => {
    const stream = new Patient();
    expect(stream.read()).toBeNull();
    stream.push('item');
    stream.note();
    expect(stream.read()).toBe('item');
    expect(stream.asked).toEqual([]);
    expect(stream.read()).toBeNull();
    expect(stream.asked).toEqual([true]);
  });
});
