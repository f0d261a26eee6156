import type * as openTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Span, SpanContext, Tracer } from '@opentelemetry/api';
import type { DiagnosticsListeners, RequestEvent, Scope } from '../observability.js';

export type OpenTelemetryApi = typeof openTelemetry;

/** A span for each run, batch and request, nested in this order. */
export function traceInto(
  tracer: Tracer,
  api: OpenTelemetryApi,
): { readonly listeners: DiagnosticsListeners; end(): void } {
  const spans = new OpenSpans(api);
  return {
    listeners: {
      ...runTracing(tracer, spans),
      ...batchTracing(tracer, spans),
      ...requestTracing(tracer, spans, api),
    },
    end: () => spans.endAll(),
  };
}

class OpenSpans {
  readonly runs = new Map<string, Span>();
  readonly batches = new Map<string, Span>();
  readonly requests = new Map<number, Span>();
  readonly #api: OpenTelemetryApi;

  constructor(api: OpenTelemetryApi) {
    this.#api = api;
  }

  parentOf({ run, batch }: Scope): Context {
    const { context, trace } = this.#api;
    const span =
      (batch === undefined ? undefined : this.batches.get(keyOf({ run, batch }))) ??
      (run === undefined ? undefined : this.runs.get(run));
    return span ? trace.setSpan(context.active(), span) : context.active();
  }

  /** @param trouble a code, never a message, which may name files */
  end(span: Span | undefined, trouble: string | undefined, attributes: Attributes = {}): void {
    span?.setAttributes({ ...given({ 'error.type': trouble }), ...attributes });
    if (trouble !== undefined) {
      span?.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: trouble });
    }
    span?.end();
  }

  endAll(): void {
    for (const spans of [this.requests, this.batches, this.runs]) {
      for (const span of spans.values()) span.end();
      spans.clear();
    }
  }
}

function runTracing(tracer: Tracer, spans: OpenSpans): DiagnosticsListeners {
  return {
    'sluice:run:start': ({ run, kind, input, output }) => {
      const attributes = {
        'sluice.run.kind': kind,
        'sluice.run.input': input,
        'sluice.run.output': output,
      };
      spans.runs.set(run, tracer.startSpan('sluice.run', { attributes }));
    },
    'sluice:run:end': ({ run, rows, hasFailed, code }) => {
      const span = spans.runs.get(run);
      spans.runs.delete(run);
      if (rows !== undefined) span?.setAttribute('sluice.run.rows', rows);
      span?.setAttribute('sluice.run.has_failed_rows', hasFailed);
      spans.end(span, code);
    },
  };
}

function batchTracing(tracer: Tracer, spans: OpenSpans): DiagnosticsListeners {
  return {
    'sluice:batch:start': (event) => {
      const { batch, type, country, addresses } = event;
      const attributes = {
        'sluice.batch': batch,
        'sluice.batch.type': type,
        'sluice.batch.country': country,
        'sluice.batch.addresses': addresses,
      };
      const parent = spans.parentOf({ run: event.run, batch: undefined });
      spans.batches.set(keyOf(event), tracer.startSpan('sluice.batch', { attributes }, parent));
    },
    'sluice:batch:stage': (event) => {
      const { name, batchUuid, stage, reason } = event;
      const span = spans.batches.get(keyOf(event));
      span?.addEvent(stage, given({ 'sluice.batch.name': name, 'sluice.batch.reason': reason }));
      span?.setAttributes(given({ 'sluice.batch.uuid': batchUuid }));
    },
    'sluice:batch:end': (event) => {
      const span = spans.batches.get(keyOf(event));
      spans.batches.delete(keyOf(event));
      const { stage, spent, refunded } = event;
      span?.setAttributes(
        given({
          'sluice.batch.stage': stage,
          'sluice.credits.spent': spent,
          'sluice.credits.refunded': refunded,
        }),
      );
      spans.end(span, stage === 'failed' || stage === undefined ? (stage ?? 'stopped') : undefined);
    },
  };
}

function requestTracing(
  tracer: Tracer,
  spans: OpenSpans,
  { isSpanContextValid, SpanKind }: OpenTelemetryApi,
): DiagnosticsListeners {
  return {
    'sluice:request:start': (event) => {
      const { request, operation, attempt, headers } = event;
      const attributes = given({
        'sluice.operation': operation,
        'sluice.attempt': attempt,
        'http.request.resend_count': attempt > 1 ? attempt - 1 : undefined,
        ...httpAttributes(event),
      });
      const options = { kind: SpanKind.CLIENT, attributes };
      const span = tracer.startSpan('sluice.request', options, spans.parentOf(event));
      spans.requests.set(request, span);
      const spanContext = span.spanContext();
      // Not by the process's propagator: it would also send baggage, which may hold personal data.
      if (isSpanContextValid(spanContext)) Object.assign(headers, traceHeaders(spanContext));
    },
    'sluice:request': (event) => {
      const span = spans.requests.get(event.request);
      spans.requests.delete(event.request);
      spans.end(span, event.code, httpAttributes(event));
    },
  };
}

/** The headers of W3C Trace Context. */
function traceHeaders({ traceId, spanId, traceFlags, traceState }: SpanContext): {
  readonly [name: string]: string;
} {
  const flags = traceFlags.toString(16).padStart(2, '0');
  const state = traceState?.serialize() ?? '';
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(state !== '' && { tracestate: state }),
  };
}

function keyOf({ run, batch }: Scope): string {
  return `${run ?? ''} ${batch}`;
}

function given(attributes: Readonly<Record<string, string | number | undefined>>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

export function httpAttributes({
  method,
  origin,
  status,
  code,
}: Pick<RequestEvent, 'method' | 'origin'> & Partial<RequestEvent>): Attributes {
  const { hostname, port, protocol } = new URL(origin);
  return given({
    'http.request.method': method,
    'http.response.status_code': status,
    'error.type': code !== undefined && status !== undefined && status >= 400 ? `${status}` : code,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  });
}
