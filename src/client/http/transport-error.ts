import { type OperationName, operations } from '../../contract/operations.js';
import { TransportError } from '../../platform/errors/service-errors.js';
import { systemErrorCode } from '../../platform/text/system-errors.js';
import type { Awaiting } from './timeouts.js';

/** What is known of a request whose answer did not come, or not whole. */
interface FailedRequest {
  readonly subject: string;
  readonly operation: OperationName;
  /** Whether the request was handed to a connection: before that, nothing was sent. */
  readonly isStarted: boolean;
  readonly redact: (text: string) => string;
}

/** TLS errors of a certificate or a handshake; a retry does not fix them. */
const handshakeCode =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERROR_IN_CERT)|^(?:EPROTO|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|UND_ERR_PRX_TLS)$/;

/** Errors of a dispatcher about its own state or the request's form, or of a mock that has no answer. */
const misuseCode =
  /^UND_(?:ERR_(?:INVALID_ARG|DESTROYED|CLOSED|NOT_SUPPORTED)|MOCK_ERR_MOCK_NOT_MATCHED)$/;

/** A proxy that refuses the tunnel with 4xx (credentials, rules) will do so again. */
const proxyRefusal = /Proxy response \(4\d\d\)/;

/** Whether a retry cannot help: an untrusted certificate, a failed handshake. */
export function isHandshakeFailure(error: unknown): boolean {
  return handshakeCode.test(systemErrorCode(error) ?? '');
}

/** What broke a connection, for people; `undefined` where no description fits. */
export function describeConnection(error: unknown): string | undefined {
  const code = systemErrorCode(error) ?? '';
  return unknownHost(error, code) ?? reasons[code];
}

const misspelt = '; check the address of the service, and that this machine is online';
const lookups: Readonly<Record<string, string>> = {
  ENOTFOUND: 'is not known',
  EAI_NONAME: 'is not known',
  EAI_AGAIN: 'could not be looked up',
};

const untrusted =
  'its certificate comes from no authority that is trusted here: if it is right, give the file of its authority in NODE_EXTRA_CA_CERTS';

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  UND_ERR_DESTROYED: "the client's connections were closed",
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};

export function toTransportError(error: unknown, request: FailedRequest): TransportError {
  const { subject, operation, isStarted, redact } = request;
  const cause = plainCause(error, redact);
  const code = systemErrorCode(error) ?? '';
  const isHandshake = !isStarted && isHandshakeFailure(error);
  const reason = isHandshake
    ? `no trusted connection could be made (${reasons[code] ?? describeHandshake(error, code) ?? cause.message})`
    : (describeConnection(error) ?? cause.message) + (code in lookups ? misspelt : '');
  return new TransportError(`${subject}: ${reason}`, {
    reason,
    code: isStarted ? 'connection_lost' : 'connection_failed',
    operation,
    ...evidence(request),
    ...((isHandshake || misuseCode.test(code) || proxyRefusal.test(cause.message)) && {
      retryable: false,
    }),
    cause,
  });
}

const tooOld = 'it speaks no TLS of version 1.2 or newer';
const handshakes: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks no TLS: check the address and the port of the service',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: tooOld,
  ERR_SSL_UNSUPPORTED_PROTOCOL: tooOld,
};

/** OpenSSL's own messages have places in its source; its reasons are words. */
function describeHandshake(error: unknown, code: string): string | undefined {
  if (!(error instanceof Error) || !code.startsWith('ERR_SSL_')) return undefined;
  const reason: unknown = Reflect.get(error, 'reason');
  return handshakes[code] ?? (typeof reason === 'string' ? reason : undefined);
}

function unknownHost(error: unknown, code: string): string | undefined {
  const reason = lookups[code];
  if (reason === undefined) return undefined;
  const name = error instanceof Error && 'hostname' in error ? ` ${String(error.hostname)}` : '';
  return `the host${name} ${reason}`;
}

const waits: Readonly<Record<Awaiting, string>> = {
  connection: 'no connection',
  sending: 'the service took nothing of the request',
  answer: 'no answer',
  body: 'the answer stood still',
  total: 'no whole answer',
};

export function toTimeoutError(
  awaited: Awaiting,
  limitMs: number,
  request: FailedRequest,
): TransportError {
  const { subject, operation, isStarted } = request;
  const reason = `${waits[awaited]} within ${limitMs} ms`;
  return new TransportError(`${subject}: ${reason}`, {
    reason,
    code: isStarted ? 'request_timeout' : 'connection_failed',
    operation,
    ...evidence(request),
  });
}

/** What may have been carried out is retried only where that cannot pay twice. */
function evidence({ isStarted, operation }: FailedRequest): {
  readonly sent: 'no' | 'unknown';
  readonly retryable: boolean;
} {
  return {
    sent: isStarted ? 'unknown' : 'no',
    retryable: !isStarted || operations[operation].repeatable,
  };
}

/** The text of an error, also of an AggregateError, such as Node's attempts at several addresses. */
function textOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  const inner: unknown[] = error.errors;
  return inner.map((each) => (each instanceof Error ? each.message : '')).join('; ');
}

/** Reduces a foreign error to name, code and message: it may hold headers and parts of answers, and the key in them. */
export function plainCause(error: unknown, redact: (text: string) => string): Error {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  const cause = new Error(redact(textOf(error)));
  cause.name = error.name;
  const code = systemErrorCode(error);
  return code === undefined ? cause : Object.assign(cause, { code });
}
