import { ConfigurationError } from '../../../platform/errors/errors.js';

/** A place in a bucket. */
export interface S3Address {
  readonly bucket: string;
  /** An object's key, a folder's prefix (empty, or with `/` at its end), or a pattern of keys. */
  readonly key: string;
}

/** @throws ConfigurationError `invalid_option` */
export function parseS3Address(url: string): S3Address {
  const [, bucket, key = ''] = /^s3:\/\/([^/?#]+)(?:\/(.*))?$/s.exec(url) ?? [];
  if (bucket !== undefined && /^[a-z0-9][\w.:-]*$/i.test(bucket)) return { bucket, key };
  throw new ConfigurationError(`${url} names no place in a bucket: s3://bucket/key does`);
}

export function nameOfObject({ bucket, key }: S3Address): string {
  return `s3://${bucket}/${key}`;
}
