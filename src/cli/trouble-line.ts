import { ApiError, TransportError, type Client, type ServiceTrouble } from '../index.js';
import { say } from './print.js';
import { duration } from '../words/shown-numbers.js';
import type { Said } from './run-lines.js';

/** What keeps the requests to a service waiting, and for how long it is tried again. */
export function troubleLine({ baseUrl }: Pick<Client, 'baseUrl'>, trouble: ServiceTrouble): Said {
  const { host, hostname } = new URL(baseUrl);
  const forSeconds = Math.round(trouble.forMs / 1000);
  if (trouble.state === 'over') {
    return {
      event: 'service_back',
      fields: { host, after_seconds: forSeconds },
      line: `${host} answers again, after ${duration(forSeconds)}`,
    };
  }
  const { error, leftMs } = trouble;
  const reason =
    error instanceof TransportError && error.reason.includes(hostname)
      ? error.reason
      : describe(host, error, forSeconds);
  const leftSeconds = leftMs === undefined ? null : Math.round(leftMs / 1000);
  const left =
    leftSeconds === null ? 'still waiting' : `trying again, ${duration(leftSeconds)} left`;
  return {
    event: 'service_waiting',
    fields: { host, reason, for_seconds: forSeconds, left_seconds: leftSeconds },
    line: `${reason}; ${left}`,
  };
}

/** For commands that say nothing else. */
export function sayTrouble(client: Pick<Client, 'baseUrl'>, trouble: ServiceTrouble): void {
  say(`sluice: ${troubleLine(client, trouble).line}`);
}

function describe(host: string, error: Error | undefined, seconds: number): string {
  if (error === undefined) return `${host} has not answered for ${duration(seconds)}`;
  if (error instanceof TransportError) return `cannot reach ${host}: ${error.reason}`;
  if (error instanceof ApiError) {
    return error.status === 429
      ? `${host} asks to wait (it answers 429)`
      : `${host} is in trouble (it answers ${error.status})`;
  }
  return `${host} gives answers that are not understood (${error.message})`;
}
