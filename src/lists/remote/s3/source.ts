import { inputSource } from '../../files/file-source.js';
import { fileShape, type FileOptions } from '../../files/file-options.js';
import { checkOptions } from '../../../platform/check-options.js';
import type { Source } from '../../rows/source.js';
import { remoteInput, remoteShape, type RemoteOptions } from '../remote-input.js';
import { nameOfObject, parseS3Address } from './address.js';
import { connectS3, s3Shape, type S3Options } from './client.js';
import { s3Object } from './object.js';
import { findObjects } from './objects.js';

/**
 * The rows of an object in a bucket, as often as asked, of any format.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const source = s3Source('s3://lists/contacts.csv', { region: 'us-east-1' });
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function s3Source(
  url: string,
  options: FileOptions & RemoteOptions & S3Options = {},
): Source {
  checkOptions(options, { ...fileShape, ...remoteShape, ...s3Shape });
  const address = parseS3Address(url);
  return inputSource(remoteInput(s3Object(address, options), options), address.key, options);
}

/**
 * The objects that a URL means, as URLs: itself, those of a folder (`s3://bucket/folder/`) whose ending
 * names a format, or those that a pattern matches; of several, sorted by key.
 *
 * @throws ConfigurationError `invalid_option`, `missing_dependency`; InputError `input_unreadable`
 *
 * @example
 * ```ts
 * const urls = await findS3Objects('s3://lists/2026/*.{csv,parquet}');
 * const source = combinedSource(urls.map((url) => s3Source(url)));
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export async function findS3Objects(
  url: string,
  options: S3Options = {},
): Promise<readonly string[]> {
  const found = await findObjects(parseS3Address(url), () => connectS3(options));
  return found.map(nameOfObject);
}
