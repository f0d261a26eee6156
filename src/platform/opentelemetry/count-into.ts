import type { Counter, Meter } from '@opentelemetry/api';
import type { DiagnosticsListeners } from '../observability/channels.js';

/** Counters of rows, credits, requests and retries, and how long requests take. */
export function countInto(meter: Meter): DiagnosticsListeners {
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { unit, description });
  const rows = counter('sluice.rows', '{row}', 'Rows that were read and written.');
  const addresses = counter(
    'sluice.addresses',
    '{address}',
    'Addresses of batches that were launched.',
  );
  const credits = counter(
    'sluice.credits',
    '{credit}',
    'Credits that were spent and refunded, as the service says.',
  );
  const requests = counter('sluice.requests', '{request}', 'Attempts of requests.');
  const retries = counter('sluice.retries', '{request}', 'Attempts of requests after their first.');
  const durations = meter.createHistogram('sluice.request.duration', {
    unit: 'ms',
    description: 'From the beginning of an attempt to the end of its answer.',
  });

  /** Rows are told as they add up. */
  const counted = new Map<string, number>();
  return {
    'sluice:run:stage': ({ run, stage, rows: sum }) => {
      const direction = stage === 'reading' || stage === 'read' ? 'read' : 'written';
      const key = `${run} ${direction}`;
      const more = sum - (counted.get(key) ?? 0);
      counted.set(key, sum);
      if (more > 0) rows.add(more, { 'sluice.direction': direction });
    },
    'sluice:run:end': ({ run }) => {
      for (const direction of ['read', 'written']) counted.delete(`${run} ${direction}`);
    },
    'sluice:batch:stage': ({ stage, type, addresses: count }) => {
      if (stage === 'launching') addresses.add(count, { 'sluice.type': type });
    },
    'sluice:batch:end': ({ type, spent, refunded }) => {
      if (spent !== undefined && spent > 0) {
        credits.add(spent, { 'sluice.type': type, 'sluice.kind': 'spent' });
      }
      if (refunded !== undefined && refunded > 0) {
        credits.add(refunded, { 'sluice.type': type, 'sluice.kind': 'refunded' });
      }
    },
    'sluice:request': ({ operation, code, attempt, ms }) => {
      const attributes = { 'sluice.operation': operation, 'sluice.outcome': code ?? 'ok' };
      requests.add(1, attributes);
      if (attempt > 1) retries.add(1, { 'sluice.operation': operation });
      durations.record(ms, attributes);
    },
  };
}
