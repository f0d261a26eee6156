import type { Writable } from 'node:stream';
import { describeTrouble, type Client, type ServiceTrouble } from '../../index.js';
import { say } from '../terminal/print.js';
import type { Said } from './run-lines.js';

/** What keeps the requests to a service waiting, and for how long it is tried again. */
export function troubleLine(client: Pick<Client, 'baseUrl'>, trouble: ServiceTrouble): Said {
  const { host } = new URL(client.baseUrl);
  const forSeconds = Math.round(trouble.forMs / 1000);
  const { reason, line } = describeTrouble(client, trouble);
  if (trouble.state === 'over') {
    return { event: 'service_back', fields: { host, after_seconds: forSeconds }, line };
  }
  const { leftMs } = trouble;
  const leftSeconds = leftMs === undefined ? null : Math.round(leftMs / 1000);
  return {
    event: 'service_waiting',
    fields: { host, reason, for_seconds: forSeconds, left_seconds: leftSeconds },
    line,
  };
}

/** For commands that say nothing else. */
export function sayTrouble(
  out: Writable,
): (client: Pick<Client, 'baseUrl'>, trouble: ServiceTrouble) => void {
  return (client, trouble) => say(`sluice: ${troubleLine(client, trouble).line}`, out);
}
