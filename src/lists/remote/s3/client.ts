import type * as SdkModule from '@aws-sdk/client-s3';
import { showLocation, textOfUrl } from '../../location.js';
import type { OptionShape } from '../../../platform/check-options.js';
import { text } from '../../../platform/option-kinds.js';
import {
  ConfigurationError,
  type ErrorFault,
  InputError,
  OutputError,
} from '../../../platform/errors/errors.js';
import { refuseMissingPackage } from '../../../platform/optional-package.js';
import { isServiceFailure } from '../../../platform/errors/service-errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';

export interface S3Options {
  /**
   * Endpoint of another service than Amazon's.
   * @default `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or the SDK's profile
   */
  readonly endpoint?: string | undefined;
  /** @default `AWS_REGION`, or the SDK's profile */
  readonly region?: string | undefined;
}

export const s3Shape: OptionShape<S3Options> = { endpoint: text, region: text };

export interface S3Connection {
  readonly sdk: typeof SdkModule;
  readonly client: SdkModule.S3Client;
}

/** A service that is asked for much refuses for some seconds, and what was written by then would be lost. */
const attempts = 6;

/** Connects at its first call, once. */
export function lateS3(options: S3Options): () => Promise<S3Connection> {
  let connection: Promise<S3Connection> | undefined;
  return async () => (connection ??= connectS3(options));
}

/** Uses the SDK's credentials: of the environment, a profile, or the machine's role. */
export async function connectS3({ endpoint, region }: S3Options): Promise<S3Connection> {
  const sdk = await import('@aws-sdk/client-s3').catch(
    refuseMissingPackage({ by: 'S3', install: '@aws-sdk/client-s3', driver: 's3' }),
  );
  const { env } = process;
  const place = endpoint ?? env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'];
  const isForeign = place !== undefined && place !== '';
  const known = region ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
  const client = new sdk.S3Client({
    ...(endpoint !== undefined && { endpoint }),
    ...(known !== undefined && { region: known }),
    maxAttempts: Number(env['AWS_MAX_ATTEMPTS'] ?? attempts),
    requestHandler: {
      connectionTimeout: 10_000,
      // Enough to send a part on a slow line.
      requestTimeout: 300_000,
      throwOnRequestTimeout: true,
      socketTimeout: 300_000,
    },
    ...(isForeign && {
      // Other services have no host for each bucket, no regions, and not all checksums.
      forcePathStyle: true,
      region: known ?? 'us-east-1',
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
  });
  return { sdk, client };
}

export interface S3Address {
  readonly bucket: string;
  /** An object's key, a folder's prefix (empty, or ending with `/`), or a pattern of keys. */
  readonly key: string;
}

export function parseS3Address(url: string | URL): S3Address {
  const text = textOfUrl(url);
  const [, bucket, key = ''] = /^s3:\/\/([^/?#]+)(?:\/(.*))?$/s.exec(text) ?? [];
  if (bucket !== undefined && /^[a-z0-9][\w.:-]*$/i.test(bucket)) return { bucket, key };
  // It may hold a key.
  throw new ConfigurationError(
    `${showLocation(text)} names no place in a bucket: s3://bucket/key does`,
    { fault: 'unsupported' },
  );
}

export function nameOfObject({ bucket, key }: S3Address): string {
  return `s3://${bucket}/${key}`;
}

/** What is wrong, by the service's name for it. */
const faults = new Map<string, ErrorFault>([
  ['NoSuchKey', 'missing'],
  ['NotFound', 'missing'],
  ['NoSuchBucket', 'missing'],
  ['AccessDenied', 'right'],
  ['InvalidAccessKeyId', 'right'],
  ['SignatureDoesNotMatch', 'right'],
  ['ExpiredToken', 'right'],
]);

function faultOf(error: unknown): ErrorFault | undefined {
  return error instanceof Error ? faults.get(error.name) : undefined;
}

const words = new Map([
  ['NoSuchKey', 'object not found'],
  ['NotFound', 'object not found'],
  ['NoSuchBucket', 'bucket not found'],
  ['NoSuchUpload', 'its upload was aborted by another process, or by a rule of the bucket'],
  ['AccessDenied', 'access is denied'],
  ['InvalidAccessKeyId', 'the credentials are refused'],
  ['SignatureDoesNotMatch', 'the credentials are refused'],
  ['ExpiredToken', 'the credentials have expired'],
  ['RequestTimeTooSkewed', "this machine's clock is not the service's"],
  ['SlowDown', 'it has more requests than it takes'],
  ['PermanentRedirect', 'the bucket is in another region: set AWS_REGION'],
  ['TimeoutError', 'no answer in time'],
  ['ENOTFOUND', 'the host name is unknown'],
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', 'the connection was reset'],
]);

export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const { httpStatusCode } = error.$metadata as { readonly httpStatusCode?: number };
  return httpStatusCode;
}

/** Whether a retry may help: the service, or the way to it, is in trouble. */
export function isTransient(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return status === 429 || isServiceFailure(status);
  return (
    error instanceof Error &&
    (error.name === 'TimeoutError' || systemErrorCode(error) !== undefined)
  );
}

/** Why the service refused, without credentials. */
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
      { fault: 'missing' },
    );
  }
  if (error.message !== 'Region is missing') return;
  throw new ConfigurationError('no region for S3 is found: set AWS_REGION', { fault: 'missing' });
}

export function refuseReading(name: string): (error: unknown) => never {
  return (error) => {
    if (isSluiceError(error)) throw error;
    refuseSettings(error);
    throw new InputError(`cannot read ${name}: ${reasonOf(error)}`, {
      code: 'input_unreadable',
      status: statusOf(error),
      fault: faultOf(error),
    });
  };
}

export function refuseWriting(name: string): (error: unknown) => never {
  return (error) => {
    if (isSluiceError(error)) throw error;
    refuseSettings(error);
    throw new OutputError(`cannot write ${name}: ${reasonOf(error)}`, { fault: faultOf(error) });
  };
}
