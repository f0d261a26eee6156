import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { createRequire } from 'node:module';
import { diagnosticsChannels, type DiagnosticsListeners } from '../observability/channels.js';
import { notInstalled } from '../not-installed.js';
import { countInto } from './count-into.js';
import { traceInto, type OpenTelemetryApi } from './trace-into.js';

export interface InstrumentOptions {
  /** @default the one that is registered for the process */
  readonly tracerProvider?: TracerProvider | undefined;
  /** @default the one that is registered for the process */
  readonly meterProvider?: MeterProvider | undefined;
}

const scopeName = 'sluice';

/**
 * Turns the events of Sluice's diagnostics channels into spans (`sluice.run`, `sluice.batch`,
 * `sluice.request`) and metrics, from here on and for all runs and clients of the process. Counts only:
 * no address and no key is in them.
 *
 * @returns what ends it; spans that are open then are ended
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
  // Whatever form of it a program loads, all share the providers that are registered for the process.
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
    // What comes on a channel is of the type that its name stands for.
    return listener ? [{ name, onMessage: listener as (message: unknown) => void }] : [];
  });
  for (const { name, onMessage } of subscriptions) subscribe(name, onMessage);
  return () => {
    for (const { name, onMessage } of subscriptions) unsubscribe(name, onMessage);
  };
}

/** For who cannot wait: by `require`. */
function loadApi(): OpenTelemetryApi {
  try {
    // In a bundle that is CommonJS, `import.meta` is an empty object.
    const { url }: { readonly url?: string } = import.meta;
    // A parse would not know more of a package than its types say.
    return createRequire(url ?? __filename)('@opentelemetry/api') as OpenTelemetryApi;
  } catch (error) {
    return notInstalled({ by: 'instrument()', install: '@opentelemetry/api' })(error);
  }
}
