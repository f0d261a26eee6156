import { systemErrorCode } from '../../platform/files/describe-system-error.js';

/** Text of an error, also of one that only holds others, as Node's attempts at several addresses do. */
function textOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  const inner: unknown[] = error.errors;
  return inner.map((each) => (each instanceof Error ? each.message : '')).join('; ');
}

/**
 * A foreign error as a bare one with the same name, code and message. Errors of the transport may hold
 * sockets, request headers and parts of answers, and with them the key; what is printed holds none.
 */
export function plainCause(error: unknown, redact: (text: string) => string): Error {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  const cause = new Error(redact(textOf(error)));
  cause.name = error.name;
  const code = systemErrorCode(error);
  return code === undefined ? cause : Object.assign(cause, { code });
}
