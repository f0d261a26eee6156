import type * as SdkModule from '@aws-sdk/client-s3';
import type { OptionShape } from '../../../platform/check-options.js';
import { text } from '../../../platform/option-kinds.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { refuseMissingPackage } from '../../../platform/optional-package.js';

export interface S3Options {
  /**
   * Where the service is, when it is not Amazon's.
   * @default `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or what the SDK's profile says
   */
  readonly endpoint?: string | undefined;
  /** @default `AWS_REGION`, or what the SDK's profile says */
  readonly region?: string | undefined;
}

export const s3Shape: OptionShape<S3Options> = { endpoint: text, region: text };

type Sdk = typeof SdkModule;

/** The SDK and a client of it. */
export interface S3Connection {
  readonly sdk: Sdk;
  readonly client: SdkModule.S3Client;
}

/**
 * Credentials are those that the SDK finds: of the environment, a profile, or the machine's role.
 */
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
    requestHandler: {
      connectionTimeout: 10_000,
      // A part goes out within it, on a slow line too.
      requestTimeout: 300_000,
      throwOnRequestTimeout: true,
      socketTimeout: 300_000,
    },
    ...(isForeign && {
      // Services of others have no host for each bucket, know no regions, and not all checksums.
      forcePathStyle: true,
      region: known ?? 'us-east-1',
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
  });
  return { sdk, client };
}

/** A place in a bucket. */
export interface S3Address {
  readonly bucket: string;
  /** An object's key, a folder's prefix (empty, or with `/` at its end), or a pattern of keys. */
  readonly key: string;
}

export function parseS3Address(url: string): S3Address {
  const [, bucket, key = ''] = /^s3:\/\/([^/?#]+)(?:\/(.*))?$/s.exec(url) ?? [];
  if (bucket !== undefined && /^[a-z0-9][\w.:-]*$/i.test(bucket)) return { bucket, key };
  throw new ConfigurationError(`${url} names no place in a bucket: s3://bucket/key does`);
}

export function nameOfObject({ bucket, key }: S3Address): string {
  return `s3://${bucket}/${key}`;
}
