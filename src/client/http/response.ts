import type { z } from 'zod';
import type { VerificationType } from '../../contract/enums.js';
import { type OperationName, operations } from '../../contract/operations.js';
import { ApiError, ContractError, isServiceFailure } from '../../platform/errors/service-errors.js';
import type { ErrorCodes } from '../../platform/errors/sluice-error.js';
import { isDeeperThan, readBounded } from '../../platform/json.js';
import { parseRetryAfter } from '../rate/rate-headers.js';
import {
  isBare,
  printable,
  readServiceAnswer,
  sanitized,
  type ServiceAnswer,
  STATUS_CODES,
} from '../redaction.js';
import type { WireAnswer } from './exchange.js';
import type { WireRequest } from './request.js';

const maxErrorBytes = 64 * 1024;

const mostDepth = 64;

const unknownCoding = 'compressed in a way that is not known, and was not asked for';

export interface ReadOptions {
  readonly maxAnswerBytes: number;
  readonly redact: (text: string) => string;
  readonly wallNowMs: number;
}

/** Reads the answer that refuses a request. Whatever its body holds or lacks, its status counts. */
export async function readRefusal(
  request: WireRequest,
  answer: WireAnswer,
  options: ReadOptions,
): Promise<ApiError> {
  const { status, header } = answer;
  const time = { date: header('date'), wallNowMs: options.wallNowMs };
  const details = isCompressed(answer) ? {} : await readBody(request, answer, options.redact);
  answer.body.destroy();
  return toApiError({
    subject: request.subject,
    operation: request.operation,
    repeatable: operations[request.operation].repeatable,
    creditType: request.creditType,
    status,
    serviceMessage: details.words,
    body: details.body,
    requestId: requestIdOf(answer, options.redact),
    retryAfterMs: parseRetryAfter(header('retry-after'), time),
  });
}

async function readBody(
  request: WireRequest,
  answer: WireAnswer,
  redact: ReadOptions['redact'],
): Promise<Partial<ServiceAnswer>> {
  try {
    const { bytes } = await readBounded(answer.body, maxErrorBytes);
    return await readServiceAnswer(bytes, redact, request.sent);
  } catch {
    // The status has been said; words that break off change nothing about it.
    return {};
  }
}

/** Headers that name a request in the service's logs, or in those of a gateway before it. */
const requestIdHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'apigw-requestid',
  'cf-ray',
];

/** What is no plain identifier is left out: it could be anything. */
function requestIdOf({ header }: WireAnswer, redact: ReadOptions['redact']): string | undefined {
  return requestIdHeaders
    .map((name) => redact(header(name) ?? ''))
    .find((id) => /^[\w.:-]{1,128}$/.test(id));
}

/** For those who find out later that an answer makes no sense. */
const origins = new WeakMap<object, Pick<ContractError, 'status' | 'requestId'>>();

/** The error for an answer of the right shape with a wrong meaning; with its body: it may have been paid for. */
export async function meaninglessAnswer(
  answer: object,
  message: string,
  { operation, sent }: Pick<WireRequest, 'operation' | 'sent'>,
): Promise<ContractError> {
  const bytes = Buffer.from(JSON.stringify(answer));
  // The key was redacted when it was read.
  const { body } = await readServiceAnswer(bytes, (text) => text, sent);
  return new ContractError(message, { ...origins.get(answer), operation, body });
}

/**
 * Reads a JSON answer and checks it by the contract.
 *
 * @throws ContractError when it is not what the specification shows: no JSON, too large, too deep, of
 *   another shape, compressed though that was not asked for
 */
export async function readJson<Schema extends z.ZodType>(
  request: WireRequest,
  answer: WireAnswer,
  schema: Schema,
  options: ReadOptions,
): Promise<z.output<Schema>> {
  const { redact, maxAnswerBytes } = options;
  const invalid = async (what: string, bytes?: Uint8Array): Promise<ContractError> => {
    answer.body.destroy();
    const read = bytes?.subarray(0, maxErrorBytes);
    return invalidAnswer(request, sanitized(redact(what)), {
      status: answer.status,
      requestId: requestIdOf(answer, redact),
      // It may be the verdict that was paid for.
      body: read && (await readServiceAnswer(read, redact, request.sent)).body,
    });
  };
  if (isCompressed(answer)) throw await invalid(unknownCoding);
  const { bytes, isCut } = await readBounded(answer.body, maxAnswerBytes);
  if (isCut) throw await invalid(`longer than ${maxAnswerBytes} bytes`, bytes);
  const read = parseBody(request, answer, bytes, redact);
  if ('problem' in read) throw await invalid(read.problem, bytes);
  const parsed = schema.safeParse(read.value);
  if (parsed.success) {
    const { data } = parsed;
    const requestId = requestIdOf(answer, redact);
    if (typeof data === 'object' && data !== null) {
      origins.set(data, { status: answer.status, requestId });
    }
    return data;
  }
  if (bytes.length === 0) throw await invalid('empty');
  const issue = parsed.error.issues[0];
  const where = issue?.path.map(String).join('.') ?? '';
  const problem = `of another shape (${where === '' ? 'the whole' : where}: ${issue?.message})`;
  throw await invalid(problem, bytes);
}

function parseBody(
  request: WireRequest,
  answer: WireAnswer,
  bytes: Uint8Array,
  redact: ReadOptions['redact'],
): { readonly value: unknown } | { readonly problem: string } {
  if (isDeeperThan(bytes, mostDepth)) return { problem: `nested deeper than ${mostDepth} levels` };
  // What deletes or updates has nothing to say but that it is done.
  const isOnlyDone = request.operation === 'deleteBatch' || request.operation === 'updateBatch';
  if (bytes.length === 0 && (answer.status === 204 || isOnlyDone)) return { value: {} };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { problem: 'not UTF-8' };
  }
  try {
    const value: unknown = JSON.parse(text, (_name, each: unknown) =>
      typeof each === 'string' ? redact(each) : each,
    );
    return { value };
  } catch {
    // Of the format operation's answer nothing is shown, so not that it is JSON either.
    if (request.operation === 'format') return { value: redact(text) };
    return { problem: bytes.length === 0 ? 'empty' : 'not JSON' };
  }
}

export interface ExportAnswer {
  /** The export's bytes. Read it to the end or destroy it: until then it keeps its connection. */
  readonly body: WireAnswer['body'];
  /** The media type that the service gives; the one of the specification when it gives none. */
  readonly contentType: string;
}

/** Checks the beginning of an export. @throws ContractError when it is not a whole, uncompressed answer */
export function readExport(
  request: WireRequest,
  answer: WireAnswer,
  format: 'json' | 'xlsx',
): ExportAnswer {
  const problem = isCompressed(answer)
    ? unknownCoding
    : answer.status === 200
      ? undefined
      : `of status ${answer.status}, which is not a whole export`;
  if (problem !== undefined) {
    answer.body.destroy();
    throw invalidAnswer(request, problem, { status: answer.status });
  }
  const { contentTypes } = operations.exportBatch.response;
  return {
    body: answer.body,
    contentType: printable(answer.header('content-type') ?? contentTypes[format]),
  };
}

function isCompressed(answer: WireAnswer): boolean {
  const encoding = answer.header('content-encoding')?.trim().toLowerCase() ?? '';
  return encoding !== '' && encoding !== 'identity';
}

export function invalidAnswer(
  request: WireRequest,
  what: string,
  of: Pick<ContractError, 'status'> & Partial<Pick<ContractError, 'requestId' | 'body'>>,
): ContractError {
  const shown = `${request.subject}: the answer of ${request.origin} is ${what}`;
  return new ContractError(shown, {
    ...of,
    operation: request.operation,
    retryable: operations[request.operation].repeatable,
  });
}

const codes: Readonly<Record<number, ErrorCodes['ApiError']>> = {
  400: 'bad_request',
  401: 'unauthorized',
  402: 'payment_required',
  403: 'forbidden',
  404: 'not_found',
  413: 'too_large',
  422: 'validation_failed',
  429: 'too_many_requests',
};

function operationsThat(
  holds: (operation: (typeof operations)[OperationName]) => boolean,
): ReadonlySet<string> {
  const all = Object.entries(operations);
  return new Set(all.filter(([, operation]) => holds(operation)).map(([name]) => name));
}

const paidOperations = operationsThat(({ errors }) => (errors as readonly number[]).includes(402));

/** Nothing but the service itself can be missing. */
const withoutBatch = operationsThat(({ path }) => !path.includes('{batch_uuid}'));

function codeOfStatus(status: number, operation: string): ErrorCodes['ApiError'] {
  // Only what is paid for is refused for the money (spec 7, rule 2): credits would change nothing about others.
  if (status === 402 && !paidOperations.has(operation)) return 'unexpected_status';
  if (status >= 300 && status < 400) return 'redirected';
  if (status >= 500) return 'server_error';
  return codes[status] ?? 'unexpected_status';
}

export function toApiError(answer: {
  readonly subject: string;
  readonly operation: string;
  /** Whether asking twice does what asking once does: else asking again may pay again. */
  readonly repeatable: boolean;
  /** Of the one credit that the request costs. */
  readonly creditType?: VerificationType | undefined;
  readonly status: number;
  readonly serviceMessage: string | undefined;
  readonly body?: unknown;
  readonly requestId?: string | undefined;
  readonly retryAfterMs: number | undefined;
}): ApiError {
  const { subject, status, serviceMessage, creditType } = answer;
  const code = codeOfStatus(status, answer.operation);
  const sentence = `${subject}: the service answered ${`${status} ${STATUS_CODES[status] ?? ''}`.trim()}`;
  const words = isBare(status, serviceMessage) ? '' : `: ${serviceMessage}`;
  const hint = hintOn(code, answer);
  return new ApiError(sentence + words + hint, {
    code,
    operation: answer.operation,
    status,
    serviceMessage,
    body: answer.body,
    requestId: answer.requestId,
    retryAfterMs: answer.retryAfterMs,
    needs: code === 'payment_required' && creditType ? { type: creditType, credits: 1 } : undefined,
    retryable: status === 429 || (isServiceFailure(status) && answer.repeatable),
  });
}

function hintOn(
  code: ErrorCodes['ApiError'],
  of: { readonly operation: string; readonly creditType?: VerificationType | undefined },
): string {
  switch (code) {
    case 'redirected':
      // The new address is not followed: the key would travel to a stranger.
      return '; redirects are not followed, is the base URL right?';
    case 'unauthorized':
      return '; the API key is wrong, revoked, or of another service';
    case 'payment_required':
      return of.creditType === undefined ? '' : `; it needs 1 ${of.creditType} credit`;
    case 'not_found':
      return withoutBatch.has(of.operation)
        ? '; is the base URL right? It is what comes before /v1'
        : '';
    default:
      return '';
  }
}
