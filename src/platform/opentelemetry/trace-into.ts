import type * as openTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type {
  BatchStartEvent,
  DiagnosticsListeners,
  RequestEvent,
} from '../observability/channels.js';

/** What `@opentelemetry/api` exports. */
export type OpenTelemetryApi = typeof openTelemetry;

/** A span for each run, batch and request: requests within their batch, batches within their run. */
export function traceInto(
  tracer: Tracer,
  api: OpenTelemetryApi,
): { readonly listeners: DiagnosticsListeners; end(): void } {
  const { context, SpanKind, SpanStatusCode, trace } = api;
  const runs = new Map<string, Span>();
  const batches = new Map<string, Span>();

  /** @param trouble a code, never a message: messages name files */
  const endSpan = (span: Span | undefined, trouble: string | undefined): void => {
    if (trouble !== undefined) {
      span?.setAttribute('error.type', trouble);
      span?.setStatus({ code: SpanStatusCode.ERROR, message: trouble });
    }
    span?.end();
  };

  const parentOf = ({ run, batch }: Pick<RequestEvent, 'run' | 'batch'>): Context => {
    const span =
      (batch === undefined ? undefined : batches.get(keyOf({ run, batch }))) ??
      (run === undefined ? undefined : runs.get(run));
    return span ? trace.setSpan(context.active(), span) : context.active();
  };

  const listeners: DiagnosticsListeners = {
    'sluice:run:start': ({ run, kind, input, output }) => {
      const attributes = {
        'sluice.run.kind': kind,
        'sluice.run.input': input,
        'sluice.run.output': output,
      };
      runs.set(run, tracer.startSpan('sluice.run', { attributes }));
    },
    'sluice:run:end': ({ run, rows, hasFailed, code }) => {
      const span = runs.get(run);
      runs.delete(run);
      if (rows !== undefined) span?.setAttribute('sluice.run.rows', rows);
      span?.setAttribute('sluice.run.has_failed_rows', hasFailed);
      endSpan(span, code);
    },
    'sluice:batch:start': (event) => {
      const { batch, type, country, addresses } = event;
      const attributes = {
        'sluice.batch': batch,
        'sluice.batch.type': type,
        'sluice.batch.country': country,
        'sluice.batch.addresses': addresses,
      };
      const parent = parentOf({ run: event.run, batch: undefined });
      batches.set(keyOf(event), tracer.startSpan('sluice.batch', { attributes }, parent));
    },
    'sluice:batch:stage': (event) => {
      const { name, batchUuid, stage, reason } = event;
      const span = batches.get(keyOf(event));
      span?.addEvent(stage, given({ 'sluice.batch.name': name, 'sluice.batch.reason': reason }));
      span?.setAttributes(given({ 'sluice.batch.uuid': batchUuid }));
    },
    'sluice:batch:end': (event) => {
      const span = batches.get(keyOf(event));
      batches.delete(keyOf(event));
      const { stage, spent, refunded } = event;
      span?.setAttributes(
        given({
          'sluice.batch.stage': stage,
          'sluice.credits.spent': spent,
          'sluice.credits.refunded': refunded,
        }),
      );
      endSpan(span, stage === 'failed' || stage === undefined ? (stage ?? 'stopped') : undefined);
    },
    'sluice:request': (event) => {
      const { operation, status, attempt, code, ms } = event;
      const span = tracer.startSpan(
        'sluice.request',
        {
          kind: SpanKind.CLIENT,
          startTime: Date.now() - ms,
          attributes: given({
            'sluice.operation': operation,
            'sluice.attempt': attempt,
            'http.response.status_code': status,
          }),
        },
        parentOf(event),
      );
      endSpan(span, code);
    },
  };
  return {
    listeners,
    end: () => {
      for (const span of [...batches.values(), ...runs.values()]) span.end();
      batches.clear();
      runs.clear();
    },
  };
}

function keyOf({ run, batch }: Pick<BatchStartEvent, 'run' | 'batch'>): string {
  return `${run ?? ''} ${batch}`;
}

function given(attributes: Readonly<Record<string, string | number | undefined>>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
