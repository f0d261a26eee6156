import type { Readable } from 'node:stream';
import { checkOptions } from '../../../platform/check-options.js';
import { fileShape, type FileOptions } from '../../files/file-options.js';
import { inputSource } from '../../files/file-source.js';
import type { Source } from '../../rows/source.js';
import { remoteInput, remoteShape, type RemoteOptions } from '../remote-input.js';
import {
  changedError,
  parseContentRange,
  TransientError,
  type RemoteObject,
} from '../remote-object.js';
import {
  nameOfObject,
  parseS3Address,
  connectS3,
  s3Shape,
  type S3Options,
  type S3Address,
  type S3Connection,
} from './client.js';
import { findObjects } from './objects.js';
import { isTransient, reasonOf, refuseReading, statusOf } from './s3-errors.js';

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

function s3Object(address: S3Address, options: S3Options): RemoteObject {
  const name = nameOfObject(address);
  let connection: Promise<S3Connection> | undefined;
  return {
    name,
    async request({ from }, signal) {
      const { sdk, client } = await (connection ??= connectS3(options));
      const command = new sdk.GetObjectCommand({
        Bucket: address.bucket,
        Key: address.key,
        ...(from > 0 && { Range: `bytes=${from}-` }),
      });
      const answer = await client.send(command, { abortSignal: signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        // What is no longer so long is another content.
        if (statusOf(error) === 416) throw changedError(name);
        if (isTransient(error)) throw new TransientError(reasonOf(error));
        return refuseReading(name)(error);
      });
      const { ETag: etag, ContentLength: length, ContentRange: range } = answer;
      const part = parseContentRange(range);
      const body = answer.Body as Readable;
      body.on('error', () => undefined);
      return {
        version: etag === undefined ? undefined : { text: etag, isStrong: true },
        from: part?.from ?? 0,
        size: part?.size ?? (length === undefined ? undefined : length + (part?.from ?? 0)),
        body,
      };
    },
  };
}
