import { ConfigurationError, InputError, OutputError } from '../../../platform/errors/errors.js';
import { isServiceFailure } from '../../../client/http/retry.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { systemErrorCode } from '../../../platform/files/disk-errors.js';

const words = new Map([
  ['NoSuchKey', 'there is no such object'],
  ['NotFound', 'there is no such object'],
  ['NoSuchBucket', 'there is no such bucket'],
  ['NoSuchUpload', 'its upload was aborted by another process, or by a rule of the bucket'],
  ['AccessDenied', 'access is denied'],
  ['InvalidAccessKeyId', 'the credentials are refused'],
  ['SignatureDoesNotMatch', 'the credentials are refused'],
  ['ExpiredToken', 'the credentials have expired'],
  ['PermanentRedirect', 'the bucket is in another region: set AWS_REGION'],
  ['TimeoutError', 'no answer in time'],
  ['ENOTFOUND', 'the host name is unknown'],
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', 'the connection was reset'],
]);

/** HTTP status of the answer that an error of the SDK tells of. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const { httpStatusCode } = error.$metadata as { readonly httpStatusCode?: number };
  return httpStatusCode;
}

/** Whether asking again may help: the service, or the way to it, is in trouble. */
export function isTransient(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return status === 429 || isServiceFailure(status);
  return (
    error instanceof Error &&
    (error.name === 'TimeoutError' || systemErrorCode(error) !== undefined)
  );
}

/** Why the service refused, in words that hold no credentials. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an unexpected error';
  const known = words.get(error.name) ?? words.get(systemErrorCode(error) ?? '');
  if (known !== undefined) return known;
  const status = statusOf(error);
  return status === undefined
    ? (systemErrorCode(error) ?? error.name)
    : `${error.name} (${status})`;
}

function refuseSettings(error: unknown): void {
  if (!(error instanceof Error)) return;
  if (error.name === 'CredentialsProviderError') {
    throw new ConfigurationError(
      'no credentials for S3 are found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE',
    );
  }
  if (error.message !== 'Region is missing') return;
  throw new ConfigurationError('no region for S3 is found: set AWS_REGION');
}

export function refuseReading(name: string): (error: unknown) => never {
  return (error) => {
    if (isSluiceError(error)) throw error;
    refuseSettings(error);
    throw new InputError(`cannot read ${name}: ${reasonOf(error)}`, { code: 'input_unreadable' });
  };
}

export function refuseWriting(name: string): (error: unknown) => never {
  return (error) => {
    if (isSluiceError(error)) throw error;
    refuseSettings(error);
    throw new OutputError(`cannot write ${name}: ${reasonOf(error)}`);
  };
}
