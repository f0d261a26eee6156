import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Attributes, SpanStatusCode } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Client, rowsSink, rowsSource, run, verify, verifyRows } from '../../../src/index.js';
import { instrument } from '../../../src/platform/opentelemetry/index.js';
import { createService, type Service, type ServiceOptions } from '../../../src/service/index.js';

const emails = ['good@sluice.test', 'bad@sluice.test', 'risky@sluice.test'];

const people = emails.map((email) => ({ email }));

const settings = { email: ['email'], country: 'US', batchSize: 2, pollIntervalMs: 1 } as const;

async function runAll(client: Client, stateDir: string): Promise<unknown> {
  const ends = { source: rowsSource(people), sink: rowsSink(() => undefined) };
  return run({ client, ...ends, stateDir, ...settings });
}

/** What a run of three addresses in two batches leaves with real SDKs. */
async function observed(
  options: ServiceOptions = {},
  stopEarly = false,
  work: (client: Client, stateDir: string) => Promise<unknown> = runAll,
): Promise<{
  readonly spans: readonly ReadableSpan[];
  /** The sum of a metric by its attributes, as JSON. */
  readonly sums: ReadonlyMap<string, number>;
  readonly histograms: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly service: Service;
}> {
  const spanExporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 60_000,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const service = await createService(options);
  const client = new Client(service);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-traced-'));
  const stop = instrument({ tracerProvider, meterProvider });
  onTestFinished(async () => {
    stop();
    await client.close();
    await service.close();
    await meterProvider.shutdown();
    await rm(folder, { recursive: true, force: true });
  });
  if (stopEarly) stop();
  await work(client, join(folder, 'state')).catch(() => undefined);
  stop();
  await reader.forceFlush();
  const sums = new Map<string, number>();
  const histograms: { name: string; attributes: Attributes }[] = [];
  for (const { scopeMetrics } of metricExporter.getMetrics()) {
    for (const { metrics } of scopeMetrics) {
      for (const { descriptor, dataPoints } of metrics) {
        for (const { attributes, value } of dataPoints) {
          const words = [descriptor.name, ...Object.values(attributes)].join(' ');
          if (typeof value === 'number') sums.set(words, value);
          else histograms.push({ name: descriptor.name, attributes });
        }
      }
    }
  }
  return { spans: spanExporter.getFinishedSpans(), sums, histograms, service };
}

describe('the OpenTelemetry adapter', () => {
  it('makes spans of the run, of its batches in it, and of their requests in them', async () => {
    const { spans } = await observed();
    const named = (name: string): readonly ReadableSpan[] =>
      spans.filter((span) => span.name === name);
    const [runSpan] = named('sluice.run');
    expect(named('sluice.run')).toHaveLength(1);
    expect(runSpan?.attributes).toMatchObject({
      'sluice.run.kind': 'durable',
      'sluice.run.rows': 3,
    });
    const runId = runSpan?.spanContext().spanId;
    const batches = named('sluice.batch');
    expect(batches).toHaveLength(2);
    for (const span of batches) {
      expect(span.parentSpanContext?.spanId).toBe(runId);
      expect(span.attributes['sluice.batch.stage']).toBe('exported');
      expect(span.events.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['uploading', 'launching', 'exported']),
      );
    }
    const batchIds = batches.map((span) => span.spanContext().spanId);
    for (const span of named('sluice.request')) {
      const isOfRun = span.attributes['sluice.operation'] === 'credits';
      const parents = isOfRun ? [runId] : batchIds;
      expect(parents).toContain(span.parentSpanContext?.spanId);
    }
    const traces = new Set(spans.map((span) => span.spanContext().traceId));
    expect(traces.size).toBe(1);
  });

  it('makes the span of a loop over rows the parent of its batches', async () => {
    const { spans, sums } = await observed({}, false, async (client) => {
      for await (const _ of verifyRows(people, { client, ...settings }));
    });
    const runSpans = spans.filter(({ name }) => name === 'sluice.run');
    expect(runSpans.map(({ attributes }) => attributes)).toEqual([
      {
        'sluice.run.kind': 'streaming',
        'sluice.run.input': 'rows',
        'sluice.run.output': 'rows',
        'sluice.run.rows': 3,
        'sluice.run.has_failed_rows': false,
      },
    ]);
    const batches = spans.filter(({ name }) => name === 'sluice.batch');
    const runId = runSpans[0]?.spanContext().spanId;
    expect(batches.map((span) => span.parentSpanContext?.spanId)).toEqual([runId, runId]);
    const ids = new Set(batches.map((span) => span.spanContext().spanId));
    const requests = spans.filter(({ name }) => name === 'sluice.request');
    expect(new Set(requests.map((span) => span.parentSpanContext?.spanId))).toEqual(ids);
    expect(sums.get('sluice.rows read')).toBe(3);
    expect(sums.get('sluice.rows written')).toBe(3);
    expect(sums.get('sluice.rows.waiting')).toBe(0);
  });

  it.each([
    ['is destroyed', undefined, 'aborted'],
    ['fails', 402, 'payment_required'],
  ])('ends the span of a stream that %s once', async (_, status, code) => {
    const faults =
      status === undefined
        ? []
        : [{ operation: 'launchBatch' as const, what: { answer: { status } } }];
    const { spans, sums } = await observed({ faults: { faults } }, false, async (client) => {
      const stream = verify({ client, ...settings });
      stream.on('error', () => undefined);
      const closed = new Promise((resolve) => stream.once('close', resolve));
      for (const row of people) stream.write(row);
      stream.end(() => {
        if (status === undefined) stream.destroy();
      });
      if (status !== undefined) stream.resume();
      await closed;
    });
    const runSpans = spans.filter(({ name }) => name === 'sluice.run');
    expect(runSpans.map((span) => span.status)).toEqual([
      { code: SpanStatusCode.ERROR, message: code },
    ]);
    expect(sums.get('sluice.rows read')).toBe(3);
    expect(sums.get('sluice.rows.waiting')).toBe(0);
  });

  it('sends the ids of its span with each request', async () => {
    const received: string[] = [];
    const listen = (message: unknown): void => {
      const { request } = message as { readonly request: IncomingMessage };
      received.push(`${request.method} ${String(request.headers['traceparent'])}`);
    };
    subscribe('http.server.request.start', listen);
    onTestFinished(() => {
      unsubscribe('http.server.request.start', listen);
    });
    const { spans } = await observed();
    const expected = spans
      .filter(({ name }) => name === 'sluice.request')
      .map((span) => {
        const { traceId, spanId } = span.spanContext();
        return `${String(span.attributes['http.request.method'])} 00-${traceId}-${spanId}-01`;
      });
    expect(expected).not.toEqual([]);
    expect(received.toSorted()).toEqual(expected.toSorted());
  });

  it('counts rows, addresses, credits and requests', async () => {
    const { sums } = await observed();
    expect(sums.get('sluice.rows read')).toBe(3);
    expect(sums.get('sluice.rows written')).toBe(3);
    expect(sums.get('sluice.addresses email')).toBe(3);
    expect(sums.get('sluice.credits email spent')).toBe(3);
    expect(sums.get('sluice.requests launchBatch ok')).toBe(2);
    expect(sums.has('sluice.retries launchBatch')).toBe(false);
    // All batches that were taken up are let go of.
    expect(sums.get('sluice.batches.active email')).toBe(0);
  });

  it('names requests as the conventions of HTTP do', async () => {
    const { spans, service, histograms } = await observed();
    const launches = spans.filter(
      ({ attributes }) => attributes['sluice.operation'] === 'launchBatch',
    );
    const server = new URL(service.baseUrl);
    const expected = {
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': server.hostname,
      'server.port': Number(server.port),
    };
    expect(launches.map(({ attributes }) => attributes)).toEqual([
      expect.objectContaining(expected),
      expect.objectContaining(expected),
    ]);
    const durations = histograms.filter(({ attributes }) =>
      isDeepStrictEqual(attributes, expected),
    );
    expect(durations).toEqual([expect.objectContaining({ name: 'http.client.request.duration' })]);
  });

  it('shows what went wrong, by its code', async () => {
    const faults = {
      faults: [
        { operation: 'credits' as const, requests: [1], what: { answer: { status: 500 } } },
        { operation: 'launchBatch' as const, what: { answer: { status: 402 } } },
      ],
    };
    const { spans, sums, histograms } = await observed({ faults });
    const runSpan = spans.find(({ name }) => name === 'sluice.run');
    expect(runSpan?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'payment_required' });
    expect(sums.get('sluice.requests credits server_error')).toBe(1);
    // The span and the metric of a request have one word for it: the status.
    const typesIn = (of: readonly { readonly attributes: Attributes }[]) =>
      new Set(of.map(({ attributes }) => attributes['error.type']));
    const failed = new Set([undefined, '500', '402']);
    expect(typesIn(spans.filter(({ name }) => name === 'sluice.request'))).toEqual(failed);
    expect(typesIn(histograms)).toEqual(failed);
    expect(sums.get('sluice.retries credits')).toBeGreaterThanOrEqual(1);
    expect(sums.has('sluice.credits email spent')).toBe(false);
  });

  it('holds no address', async () => {
    const { spans } = await observed();
    const text = JSON.stringify(
      spans.map(({ name, attributes, events }) => ({ name, attributes, events })),
    );
    for (const email of emails) expect(text).not.toContain(email);
  });

  it('makes nothing once it is stopped', async () => {
    const { spans, sums } = await observed({}, true);
    expect(spans).toEqual([]);
    expect(sums.size).toBe(0);
  });
});
