import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import type { Counter, Meter, MeterProvider, TracerProvider } from '@opentelemetry/api';
import { refuseMissingPackage } from '../optional-package.js';
import { httpAttributes, traceInto, type OpenTelemetryApi } from './trace-into.js';
import { diagnosticsChannels, type DiagnosticsListeners } from '../observability.js';

/** Seconds, as in the semantic conventions of HTTP. */
const requestBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const;

/** The status if there is one, by the conventions; else Sluice's code. */
function createInstruments(meter: Meter) {
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { unit, description });
  return {
    rows: counter('sluice.rows', '{row}', 'Rows that were read and written.'),
    addresses: counter(
      'sluice.addresses',
      '{address}',
      'Addresses of batches that were launched, at their end.',
    ),
    credits: counter(
      'sluice.credits',
      '{credit}',
      'Credits that batches at their end have spent and got back, as the service says.',
    ),
    requests: counter('sluice.requests', '{request}', 'Attempts of requests.'),
    retries: counter('sluice.retries', '{request}', 'Attempts of requests after their first.'),
    batches: meter.createUpDownCounter('sluice.batches.active', {
      unit: '{batch}',
      description: 'Batches that are worked on.',
    }),
    waiting: meter.createUpDownCounter('sluice.rows.waiting', {
      unit: '{row}',
      description: 'Rows of streaming runs that were read and wait for their results.',
    }),
    durations: meter.createHistogram('http.client.request.duration', {
      unit: 's',
      description: 'Duration of HTTP client requests.',
      advice: { explicitBucketBoundaries: [...requestBuckets] },
    }),
  };
}

function countInto(meter: Meter): DiagnosticsListeners {
  const { rows, addresses, credits, requests, retries, batches, waiting, durations } =
    createInstruments(meter);
  const counted = new Map<string, number>();
  const waits = new Map<string, number>();
  return {
    'sluice:run:start': ({ run, kind }) => {
      if (kind === 'streaming') waits.set(run, 0);
    },
    'sluice:run:stage': ({ run, stage, rows: sum }) => {
      const direction = stage === 'reading' || stage === 'read' ? 'read' : 'written';
      const key = `${run} ${direction}`;
      const more = sum - (counted.get(key) ?? 0);
      counted.set(key, sum);
      if (more <= 0) return;
      rows.add(more, { 'sluice.direction': direction });
      const waited = waits.get(run);
      if (waited === undefined) return;
      const change = direction === 'read' ? more : -more;
      waits.set(run, waited + change);
      waiting.add(change);
    },
    'sluice:run:end': ({ run }) => {
      for (const direction of ['read', 'written']) counted.delete(`${run} ${direction}`);
      const waited = waits.get(run) ?? 0;
      if (waited > 0) waiting.add(-waited);
      waits.delete(run);
    },
    'sluice:batch:start': ({ type }) => batches.add(1, { 'sluice.type': type }),
    'sluice:batch:end': ({ type, addresses: count, launched, spent, refunded }) => {
      batches.add(-1, { 'sluice.type': type });
      // At its end: before that a launch may be repeated, and by another process.
      if (launched) addresses.add(count, { 'sluice.type': type });
      if (spent !== undefined && spent > 0) {
        credits.add(spent, { 'sluice.type': type, 'sluice.kind': 'spent' });
      }
      if (refunded !== undefined && refunded > 0) {
        credits.add(refunded, { 'sluice.type': type, 'sluice.kind': 'refunded' });
      }
    },
    'sluice:request': (event) => {
      const { operation, code, attempt, ms } = event;
      requests.add(1, { 'sluice.operation': operation, 'sluice.outcome': code ?? 'ok' });
      if (attempt > 1) retries.add(1, { 'sluice.operation': operation });
      durations.record(ms / 1000, httpAttributes(event));
    },
  };
}

export interface InstrumentOptions {
  /** @default the process's */
  readonly tracerProvider?: TracerProvider | undefined;
  /** @default the process's */
  readonly meterProvider?: MeterProvider | undefined;
}

const scopeName = 'sluice';

/**
 * Turns Sluice's diagnostics events into spans (`sluice.run`, `sluice.batch`, `sluice.request`) and metrics,
 * for all runs and clients of the process. Counts only: no address and no key. Each request carries the
 * `traceparent` of its span.
 *
 * @returns ends it, and open spans
 * @throws ConfigurationError `missing_dependency` without `@opentelemetry/api`
 *
 * @example
 * ```ts
 * const stop = instrument();
 * await run({ source: 'contacts.csv', sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * stop();
 * ```
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  // Whatever copy a program loads, all share the process's providers.
  const api = loadApi();
  const tracer = (options.tracerProvider ?? api.trace).getTracer(scopeName);
  const meter = (options.meterProvider ?? api.metrics).getMeter(scopeName);
  const traced = traceInto(tracer, api);
  const stops = [listen(traced.listeners), listen(countInto(meter))];
  return () => {
    for (const stop of stops) stop();
    traced.end();
  };
}

function listen(listeners: DiagnosticsListeners): () => void {
  const subscriptions = diagnosticsChannels.flatMap((name) => {
    const listener = listeners[name];
    // A channel's messages have the type of its name.
    return listener ? [{ name, onMessage: listener as (message: unknown) => void }] : [];
  });
  for (const { name, onMessage } of subscriptions) subscribe(name, onMessage);
  return () => {
    for (const { name, onMessage } of subscriptions) unsubscribe(name, onMessage);
  };
}

/** Synchronous: by `require`. */
function loadApi(): OpenTelemetryApi {
  try {
    // In a CommonJS bundle `import.meta` is an empty object.
    const { url }: { readonly url?: string } = import.meta;
    // A schema would not know more about a package than its types.
    return createRequire(url ?? __filename)('@opentelemetry/api') as OpenTelemetryApi;
  } catch (error) {
    return refuseMissingPackage({ by: 'instrument()', install: '@opentelemetry/api' })(error);
  }
}
