import { ApiError } from '../../platform/errors/errors.js';
import type { VerificationType } from '../../contract/enums.js';
import type { ErrorCodes } from '../../platform/errors/sluice-error.js';
import { STATUS_CODES } from '../../platform/http.js';
import { isServiceTrouble } from './retry.js';

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

function codeOfStatus(status: number): ErrorCodes['ApiError'] {
  if (status >= 300 && status < 400) return 'redirected';
  if (status >= 500) return 'server_error';
  return codes[status] ?? 'unexpected_status';
}

/** Makes an error of ours from an answer that says no. */
export function toApiError(answer: {
  readonly subject: string;
  readonly operation: string;
  /** Of the one credit that the request costs. */
  readonly creditType?: VerificationType | undefined;
  readonly status: number;
  readonly serviceMessage: string | undefined;
  readonly retryAfterMs: number | undefined;
}): ApiError {
  const { subject, status, serviceMessage } = answer;
  const code = codeOfStatus(status);
  const name = STATUS_CODES[status] ?? '';
  const said = `${subject}: the service answered ${`${status} ${name}`.trim()}`;
  // A service that only repeats the name of the status has said nothing.
  const isBare = serviceMessage === undefined || serviceMessage === name;
  const words = isBare ? '' : `: ${serviceMessage}`;
  const hint = hintOn(code, answer.creditType);
  return new ApiError(said + words + hint, {
    code,
    operation: answer.operation,
    status,
    serviceMessage,
    retryAfterMs: answer.retryAfterMs,
    retryable: status === 429 || isServiceTrouble(status),
  });
}

/** What is known beside the service's words. */
function hintOn(code: ErrorCodes['ApiError'], creditType: VerificationType | undefined): string {
  switch (code) {
    case 'redirected':
      // The new address is not followed: the key would travel to whoever it names.
      return '; redirects are not followed, is the base URL right?';
    case 'unauthorized':
      return '; the API key is wrong, revoked, or of another service';
    case 'payment_required':
      return creditType === undefined ? '' : `; it needs 1 ${creditType} credit`;
    default:
      return '';
  }
}
