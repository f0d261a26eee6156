// Begins and ends streams in a process of their own, and says what stays open of each: leak-scenario
// <scenario>…, each as a line of JSON on standard output. Nothing here may end the process early.
import { getEventListeners } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { Client, verify } from 'sluice';
import { createService } from 'sluice/service';

function* makeRows(count: number): Generator<{ email: string }> {
  for (let index = 0; index < count; index += 1) yield { email: `good+${index}@sluice.test` };
}

function sinkOf(atRow: number, then: () => void): Writable {
  let rows = 0;
  return new Writable({
    objectMode: true,
    write(_row, _encoding, done) {
      rows += 1;
      if (rows === atRow) then();
      done();
    },
  });
}

const resources = (): readonly string[] =>
  process
    .getActiveResourcesInfo()
    // The service in this process reads and writes files, and the process its output.
    .filter((name) => !/^(FSReq|CloseReq|Pipe|TTY)/.test(name))
    .toSorted();

/** Resolves with what is open when it is what was open, or has been waited for. */
async function resourcesLike(wanted: readonly string[]): Promise<readonly string[]> {
  // The server's ends of the connections close a moment later.
  for (let turns = 0; turns < 10_000 && resources().join() !== wanted.join(); turns += 1)
    await turn();
  return resources();
}

const atStart = resources();
for (const scenario of process.argv.slice(2)) {
  await tell(scenario);
  // What the next one begins with.
  await resourcesLike(atStart);
}

async function tell(scenario: string): Promise<void> {
  const isStalled = ['source error', 'abort', 'destroy', 'abandoned client'].includes(scenario);
  const service = await createService(isStalled ? { verifyDelayMs: 3_600_000 } : {});
  const client = new Client(service);
  const before = resources();
  const stop = new AbortController();
  let isLaunched = (): void => undefined;
  const launched = new Promise<void>((resolve) => {
    isLaunched = resolve;
  });
  const stream = verify({
    client,
    email: ['email'],
    country: 'US',
    batchSize: 100,
    maxWaitMs: 60_000,
    // Long enough that an end in between meets a batch that sleeps.
    pollIntervalMs: isStalled ? 600_000 : 5,
    signal: stop.signal,
    onBatch: ({ state }) => {
      if (state.stage === 'verifying' || (isStalled && state.stage === 'parsing')) isLaunched();
    },
  });

  async function* breakAfter(
    source: Iterable<{ email: string }>,
  ): AsyncGenerator<{ email: string }> {
    yield* source;
    await launched;
    throw new Error('the source broke');
  }
  const scenarios: Record<string, () => Promise<unknown>> = {
    success: async () =>
      pipeline(
        makeRows(1000),
        stream,
        sinkOf(0, () => undefined),
      ),
    'source error': async () =>
      pipeline(
        Readable.from(breakAfter(makeRows(250))),
        stream,
        sinkOf(0, () => undefined),
      ),
    'sink error': async () => {
      const sink = sinkOf(5, () => sink.destroy(new Error('the sink broke')));
      await pipeline(makeRows(1e6), stream, sink);
    },
    abort: async () => {
      void launched.then(() => stop.abort(new Error('the abort')));
      await pipeline(
        makeRows(1e6),
        stream,
        sinkOf(0, () => undefined),
      );
    },
    destroy: async () => {
      void launched.then(() => stream.destroy());
      await pipeline(
        makeRows(1e6),
        stream,
        sinkOf(0, () => undefined),
      );
    },
    break: async () => {
      const source = Readable.from(makeRows(1e6));
      let rows = 0;
      for await (const row of source.pipe(stream)) {
        if (row !== null) rows += 1;
        if (rows === 10) break;
      }
      source.destroy();
    },
    'abandoned client': async () => {
      void launched.then(() => stop.abort(new Error('the abort')));
      await pipeline(
        makeRows(1e6),
        stream,
        sinkOf(0, () => undefined),
      );
    },
  };

  let ended = 'success';
  try {
    await scenarios[scenario]?.();
  } catch (error) {
    ended = (error as Error).message;
  }
  // What was not launched is deleted before it is closed.
  if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve));
  if (scenario !== 'abandoned client') await client.close();
  const after = scenario === 'abandoned client' ? before : await resourcesLike(before);
  const listeners = getEventListeners(stop.signal, 'abort').length;
  await service.close();
  const reported = { ended, closed: stream.closed, before, after, listeners };
  process.stdout.write(`${JSON.stringify(reported)}\n`);
}
