import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/client/client.js';
import { OutputError } from '../../../../src/platform/errors/errors.js';
import { fileSink } from '../../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../../src/lists/files/file-source.js';
import type { Sink, SinkWriting } from '../../../../src/lists/rows/sink.js';
import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import { EarlyWriter, type WriteWaits } from '../../../../src/engine/runs/output/run-output.js';
import { run } from '../../../../src/engine/runs/run.js';
import type { Summary } from '../../../../src/engine/summary/summary.js';
import type { Service } from '../../../../src/service/index.js';
import { TestClock } from '../../../../src/testing/test-clock.js';
import { withFolder, withService, paidAddresses } from '../../../service/with-service.js';
import type { Given } from '../../../platform/given.js';
import { openClient } from '../../../client/test-client.js';

// Rows enough for several chunks, so that some are written while others wait for their batch.
const rows = 24_000;
const batchSize = 8000;
const list = `id,email\n${Array.from({ length: rows }, (_, row) => `${row},good${row}@sluice.test\n`).join('')}`;

let folder: string;
let service: Service;
let client: Client;
let events: string[];
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService({}));
  client = openClient(service);
  events = [];
  await writeFile(join(folder, 'list.csv'), list);
});

async function verify(changes: Given<RunOptions> = {}): Promise<Summary> {
  return run({
    source: fileSource(join(folder, 'list.csv')),
    sink: reported(fileSink(join(folder, 'out.csv'))),
    client,
    stateDir: join(folder, 'run'),
    email: ['email'],
    country: 'US',
    batchSize,
    concurrency: 1,
    pollIntervalMs: 1,
    onProgress: (progress) => {
      if (progress.stage === 'batch' && progress.state.stage === 'exported') events.push('batch');
      if (progress.stage !== 'batch') events.push(progress.stage);
    },
    ...changes,
  });
}

/** A sink that says what is done to it. */
function reported(sink: Sink, change: Partial<SinkWriting> = {}): Sink {
  return {
    ...sink,
    async open(opening) {
      const writing = await sink.open(opening);
      return {
        async write(joined) {
          if (events.at(-1) !== 'write') events.push('write');
          await (change.write ?? writing.write)(joined);
        },
        async finish() {
          events.push('finish');
          await writing.finish();
        },
        async abort() {
          events.push('abort');
          await writing.abort();
        },
      };
    },
  };
}

describe('an output that is not seen before it is finished', () => {
  it('is written beside the batches, and stands when all of them are settled', async () => {
    await verify();
    const own = events.filter((event) => !['reading', 'read'].includes(event));
    expect(own.indexOf('write')).toBeLessThan(own.lastIndexOf('batch'));
    expect(own.filter((event) => event === 'finish')).toHaveLength(1);
    expect(own.indexOf('finish')).toBeGreaterThan(own.lastIndexOf('batch'));
    const lines = (await readFile(join(folder, 'out.csv'), 'utf8')).split('\n').slice(1, -1);
    expect(lines).toHaveLength(rows);
    const isWhole = (line: string, row: number) =>
      line.startsWith(`${row},good${row}@sluice.test,verified`);
    expect(lines.every(isWhole)).toBe(true);
  });

  it('does not stand while a batch is still being deleted', async () => {
    const slowly = { operation: 'deleteBatch', what: { delayMs: 100 } } as const;
    const { service: slow } = await withService({ faults: { faults: [slowly] } });
    const patient = openClient({
      baseUrl: slow.baseUrl,
      apiKey: slow.apiKey,
      onRequest: ({ operation }) => events.push(operation),
    });
    await verify({ client: patient, deleteBatches: true });
    expect(events.filter((event) => event === 'deleteBatch')).toHaveLength(rows / batchSize);
    expect(events.indexOf('finish')).toBeGreaterThan(events.lastIndexOf('deleteBatch'));
  });

  it('is dropped when the run stops, and written anew when it goes on', async () => {
    await expect(verify({ maxCredits: 2 * batchSize })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    expect(events).toContain('write');
    expect(events.at(-1)).toBe('abort');
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'run']);
    await verify();
    expect(await paidAddresses(service)).toHaveLength(rows);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });

  it('that cannot be written stops the run when all that is paid for is safe', async () => {
    const full = new OutputError('the disk is full');
    const sink = reported(fileSink(join(folder, 'out.csv')), {
      write: async () => {
        throw full;
      },
    });
    await expect(verify({ sink })).rejects.toBe(full);
    expect(events.filter((event) => event === 'batch')).toHaveLength(rows / batchSize);
    const { length: before } = await paidAddresses(service);
    await verify();
    expect(await paidAddresses(service)).toHaveLength(before);
  });
});

describe('an output that is seen as it is written', () => {
  it('waits until all batches are settled', async () => {
    const { mayBeginEarly: _, ...sink } = reported(fileSink(join(folder, 'out.csv')));
    await verify({ sink });
    expect(events.indexOf('write')).toBeGreaterThan(events.lastIndexOf('batch'));
  });
});

describe('an output that others may wait for', () => {
  const mostMs = 60_000;

  /** Its writings, each of which waits for all batches, and what the batches left are reported to take. */
  function writingLate() {
    const clock = new TestClock();
    const began: AbortSignal[] = [];
    const left = { ms: mostMs };
    const write = async ({ allSettled, signal }: WriteWaits): Promise<number> => {
      const number = began.push(signal);
      await allSettled();
      return number;
    };
    return {
      clock,
      began,
      left,
      writing: new EarlyWriter(write, { mostMs, leftMs: () => left.ms, clock }),
    };
  }

  it('is begun when the last batches are all that is left', async () => {
    const { began, left, writing } = writingLate();
    writing.notify();
    expect(began).toHaveLength(0);
    left.ms = mostMs / 2;
    writing.notify();
    writing.notify();
    expect(began).toHaveLength(1);
    expect(await writing.finish()).toBe(1);
  });

  it('is dropped when it has waited too long, and written again at the end', async () => {
    const { clock, began, left, writing } = writingLate();
    left.ms = 0;
    writing.notify();
    await clock.advance(mostMs);
    expect(began[0]?.aborted).toBe(true);
    writing.notify();
    expect(began).toHaveLength(1);
    expect(await writing.finish()).toBe(2);
    expect(began[1]?.aborted).toBe(false);
  });

  it('is written again when its database was gone meanwhile', async () => {
    let writings = 0;
    const writing = new EarlyWriter(
      async ({ allSettled }) => {
        writings += 1;
        const isFirst = writings === 1;
        await allSettled();
        if (isFirst) throw new Error('the connection is lost');
        return writings;
      },
      { mostMs, leftMs: () => 0, clock: new TestClock() },
    );
    writing.notify();
    expect(await writing.finish()).toBe(2);
  });

  it('is not written again once it is stopped', async () => {
    const { began, left, writing } = writingLate();
    left.ms = 0;
    writing.notify();
    await writing.stop();
    expect(began[0]?.aborted).toBe(true);
    await expect(writing.finish()).rejects.toBeDefined();
    expect(began).toHaveLength(1);
  });
});
