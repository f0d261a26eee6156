import { ApiError, TransportError } from '../../platform/errors/errors.js';
import { duration } from '../../platform/text/shown-numbers.js';
import type { ServiceTrouble } from './service-trouble.js';

export interface DescribedTrouble {
  /** What keeps the requests waiting; `null` when it is over. */
  readonly reason: string | null;
  /** The same with how long it is tried again, as a sentence without its end. */
  readonly line: string;
}

/**
 * What keeps the requests to a service waiting, in words for a person.
 *
 * @example
 * ```ts
 * const baseUrl = 'https://verify.example.com';
 * const { line } = describeTrouble({ baseUrl }, { state: 'over', forMs: 65_000 });
 * console.log(line); // verify.example.com answers again, after 1 min 5 s
 * ```
 */
export function describeTrouble(
  { baseUrl }: { readonly baseUrl: string },
  trouble: ServiceTrouble,
): DescribedTrouble {
  const { host } = new URL(baseUrl);
  const forSeconds = Math.round(trouble.forMs / 1000);
  if (trouble.state === 'over') {
    return { reason: null, line: `${host} answers again, after ${duration(forSeconds)}` };
  }
  const { error, leftMs } = trouble;
  const reason = error
    ? describeFailure(baseUrl, error)
    : `${host} has not answered for ${duration(forSeconds)}`;
  const left =
    leftMs === undefined
      ? 'still waiting'
      : leftMs < 500
        ? 'trying a last time'
        : `trying again, gives up in ${duration(leftMs / 1000)}`;
  return { reason, line: `${reason}; ${left}` };
}

/** What a service fails at, in words for a person. */
export function describeFailure(baseUrl: string, error: Error): string {
  const { host, hostname } = new URL(baseUrl);
  if (error instanceof TransportError) {
    return error.reason.includes(hostname) ? error.reason : `cannot reach ${host}: ${error.reason}`;
  }
  if (error instanceof ApiError) {
    return error.status === 429
      ? `${host} asks to wait (it answers 429)`
      : `${host} is in trouble (it answers ${error.status})`;
  }
  return `${host} gives answers that are not understood (${error.message})`;
}

/** For a program that does not ask: one warning of the process, so that a wait of minutes is not silent. */
export function warnOnce(service: { readonly baseUrl: string }): (trouble: ServiceTrouble) => void {
  let hasWarned = false;
  return (trouble) => {
    if (hasWarned) return;
    hasWarned = true;
    process.emitWarning(describeTrouble(service, trouble).line, {
      type: 'SluiceWarning',
      code: 'SLUICE_SERVICE_WAITING',
      detail: 'Printed once per client. Pass onTrouble to the client to handle this yourself.',
    });
  };
}
