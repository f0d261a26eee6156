import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  Client,
  diagnosticsChannels,
  rowsSink,
  rowsSource,
  run,
  streamRun,
  type RunOptions,
} from '../../src/index.js';
import { createFastClock } from '../../src/testing/test-clock.js';
import { createService, type ServiceOptions } from '../../src/service/index.js';

type Reported = Readonly<Record<string, unknown>> & { readonly channel: string };

/** All that is reported until the test is over. */
function listen(): Reported[] {
  const reported: Reported[] = [];
  for (const name of diagnosticsChannels) {
    const onMessage = (message: unknown): void => {
      reported.push({ channel: name.slice('sluice:'.length), ...(message as object) });
    };
    subscribe(name, onMessage);
    onTestFinished(() => void unsubscribe(name, onMessage));
  }
  return reported;
}

const people = [
  { email: 'good@sluice.test' },
  { email: 'bad@sluice.test' },
  { email: 'risky@sluice.test' },
];

async function settingsFor(
  options: ServiceOptions = {},
): Promise<RunOptions & { readonly client: Client }> {
  const service = await createService({ apiKey: 'canary-key', ...options });
  const client = new Client(service);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-told-'));
  onTestFinished(async () => {
    await client.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    client,
    source: rowsSource(people, { name: 'people' }),
    sink: rowsSink(() => undefined),
    stateDir: join(folder, 'state'),
    email: ['email'],
    country: 'US',
    batchSize: 2,
    pollIntervalMs: 1,
  };
}

describe('what a run tells to whoever listens', () => {
  it('is its beginning, its stages, its batches, its requests and its end, as one run', async () => {
    const reported = listen();
    await run(await settingsFor());
    const channels = reported.map(({ channel }) => channel);
    expect(channels[0]).toBe('run:start');
    expect(channels.at(-1)).toBe('run:end');
    expect(reported[0]).toMatchObject({ kind: 'durable', input: 'people', output: 'rows' });
    expect(new Set(reported.map((event) => event['run'])).size).toBe(1);
    const stages = reported.filter(({ channel }) => channel === 'run:stage');
    expect(stages.at(-1)).toMatchObject({ stage: 'written', rows: 3 });
    expect(reported.at(-1)).toMatchObject({ rows: 3, hasFailed: false, code: undefined });
    const starts = reported.filter(({ channel }) => channel === 'batch:start');
    expect(starts.map(({ batch, addresses }) => [batch, addresses])).toEqual([
      ['000001', 2],
      ['000002', 1],
    ]);
    expect(reported.filter(({ channel }) => channel === 'batch:end')).toMatchObject([
      { stage: 'exported', spent: 2, refunded: 0 },
      { stage: 'exported', spent: 1, refunded: 0 },
    ]);
  });

  it('names the batch of every request that is made for one', async () => {
    const reported = listen();
    await run(await settingsFor());
    const requests = reported.filter(({ channel }) => channel === 'request');
    for (const { operation, batch } of requests) {
      expect(batch === undefined, String(operation)).toBe(operation === 'credits');
    }
    expect(requests.filter(({ operation }) => operation === 'launchBatch')).toMatchObject([
      { batch: '000001', status: 200, attempt: 1, code: undefined },
      { batch: '000002', status: 200, attempt: 1, code: undefined },
    ]);
  });

  it('tells attempts that failed, and why a run ended', async () => {
    const reported = listen();
    const faults = {
      faults: [
        { operation: 'credits' as const, requests: [1], what: { answer: { status: 500 } } },
        { operation: 'launchBatch' as const, what: { answer: { status: 402 } } },
      ],
    };
    await expect(run(await settingsFor({ faults }))).rejects.toThrow();
    const failed = reported.filter(
      ({ channel, code }) => channel === 'request' && code !== undefined,
    );
    expect(failed[0]).toMatchObject({ operation: 'credits', code: 'server_error', attempt: 1 });
    expect(reported.at(-1)).toMatchObject({
      channel: 'run:end',
      rows: undefined,
      code: 'payment_required',
    });
  });

  it('tells what batches have cost once, whatever was launched again, stopped or asked for again', async () => {
    const reported = listen();
    const settings = await settingsFor({
      faults: {
        faults: [
          // Not carried out: the same upload is launched again.
          {
            operation: 'launchBatch' as const,
            requests: [1],
            when: 'before' as const,
            what: { answer: { status: 503 } },
          },
          // What it has cost is written down by then.
          { operation: 'exportBatch' as const, requests: [1], what: { answer: { status: 401 } } },
          // Not its own: it is asked for again until it is no longer believed.
          {
            operation: 'exportBatch' as const,
            requests: Array.from({ length: 8 }, (_, at) => at + 2),
            what: { answer: { status: 200, json: {} } },
          },
        ],
      },
    });
    const options = { ...settings, batchSize: 3, concurrency: 1, clock: createFastClock() };
    await expect(run(options)).rejects.toMatchObject({ code: 'unauthorized' });
    const failed = await run(options);
    expect(failed.email?.buckets.failed).toBe(3);
    const end = await run({ ...options, retryFailed: true });
    expect(end.email?.buckets.verified).toBe(3);
    const stages = reported.filter(({ stage }) => stage === 'launching');
    expect(stages.length).toBeGreaterThan(1);
    const ends = reported.filter(({ channel }) => channel === 'batch:end');
    expect(ends.map(({ launched, spent }) => [launched, spent])).toEqual([
      [false, undefined],
      [true, 3],
      [false, undefined],
    ]);
  });

  it('is reported without its run where nobody listened when that began', async () => {
    const settings = await settingsFor();
    const reported: Reported[][] = [];
    await run({
      ...settings,
      onProgress: ({ stage }) => {
        if (stage === 'read') reported.push(listen());
      },
    });
    const requests = reported.flat().filter(({ channel }) => channel === 'request');
    expect(requests.length).toBeGreaterThan(0);
    expect(new Set(requests.map((event) => event['run']))).toEqual(new Set([undefined]));
    expect(reported.flat().at(-1)).toMatchObject({ channel: 'run:end', rows: 3 });
  });

  it('is the same for one that streams', async () => {
    const reported = listen();
    const { stateDir: _, ...settings } = await settingsFor();
    await streamRun(settings);
    expect(reported[0]).toMatchObject({ channel: 'run:start', kind: 'streaming' });
    expect(reported.at(-1)).toMatchObject({ channel: 'run:end', rows: 3 });
    expect(new Set(reported.map((event) => event['run'])).size).toBe(1);
  });

  it('holds no address and no key', async () => {
    const reported = listen();
    await run(await settingsFor());
    const text = JSON.stringify(reported);
    for (const { email } of people) expect(text).not.toContain(email);
    expect(text).not.toContain('canary-key');
  });
});
