import type { Readable } from 'node:stream';
import { checkOptions } from '../../../platform/check-options.js';
import { InputError } from '../../../platform/errors/errors.js';
import { fileShape, type FileOptions } from '../../files/file-format.js';
import { inputSource } from '../../files/file-source.js';
import { byName, isListName, hasWildcard, parseGlob } from '../../files/find-files.js';
import type { Source } from '../../rows/source.js';
import {
  changedError,
  parseContentRange,
  remoteInput,
  remoteShape,
  TransientError,
  type RemoteObject,
  type RemoteOptions,
} from '../remote-input.js';
import {
  connectS3,
  isTransient,
  lateS3,
  nameOfObject,
  parseS3Address,
  reasonOf,
  refuseReading,
  refuseWriting,
  s3Shape,
  statusOf,
  type S3Address,
  type S3Connection,
  type S3Options,
} from './client.js';

/**
 * The rows of an object in a bucket, of any format, repeatable.
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
  url: string | URL,
  options: FileOptions & RemoteOptions & S3Options = {},
): Source {
  checkOptions(options, { ...fileShape, ...remoteShape, ...s3Shape });
  const address = parseS3Address(url);
  const find = () => remoteInput(s3Object(address, options), options);
  return inputSource(find, address.key, options);
}

/**
 * The objects of a URL, as URLs: itself, those of a folder (`s3://bucket/folder/`) with a known ending, or
 * those that a pattern matches; sorted by key.
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
  url: string | URL,
  options: S3Options = {},
): Promise<readonly string[]> {
  const address = parseS3Address(url);
  const { bucket, key } = address;
  const name = nameOfObject(address);
  const isFolder = key === '' || key.endsWith('/');
  if (!isFolder && !hasWildcard(key)) return [name];
  const glob = isFolder ? undefined : parseGlob(key);
  const prefix = glob ? glob.base : key;
  const isMeant = (found: string): boolean => {
    if (glob) return glob.matches(found);
    const rest = found.slice(prefix.length);
    return !rest.includes('/') && isListName(rest);
  };
  const connection = await connectS3(options);
  const keys: string[] = [];
  try {
    for await (const found of listKeys(connection, { bucket, key: prefix })) {
      if (!found.endsWith('/') && isMeant(found)) keys.push(found);
    }
  } catch (error) {
    refuseReading(name)(error);
  }
  if (keys.length > 0) {
    return keys.toSorted(byName).map((found) => nameOfObject({ bucket, key: found }));
  }
  throw new InputError(`cannot read ${name}: no object matches it`, {
    code: 'input_unreadable',
    fault: 'missing',
  });
}

function s3Object(address: S3Address, options: S3Options): RemoteObject {
  const name = nameOfObject(address);
  const connect = lateS3(options);
  return {
    name,
    async request({ from }, signal) {
      const { sdk, client } = await connect();
      const command = new sdk.GetObjectCommand({
        Bucket: address.bucket,
        Key: address.key,
        ...(from > 0 && { Range: `bytes=${from}-` }),
      });
      const answer = await client.send(command, { abortSignal: signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        // An object that became shorter has other content.
        if (statusOf(error) === 416) throw changedError(name);
        if (isTransient(error)) {
          throw new TransientError(reasonOf(error), { status: statusOf(error) });
        }
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

/** All keys that begin with the address's. Errors are the SDK's. */
export async function* listKeys(
  { sdk, client }: S3Connection,
  { bucket, key }: S3Address,
): AsyncGenerator<string> {
  const pages = sdk.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: key });
  let before: string | undefined;
  for await (const { Contents: contents = [], NextContinuationToken: next } of pages) {
    for (const { Key: found } of contents) if (found !== undefined) yield found;
    if (next !== undefined && next === before) {
      const name = nameOfObject({ bucket, key });
      throw new InputError(
        `cannot read ${name}: the service gives the same part of its list again`,
        {
          code: 'input_unreadable',
        },
      );
    }
    before = next;
  }
}

/**
 * Removes an object if it exists.
 *
 * @throws ConfigurationError, OutputError
 *
 * @example
 * ```ts
 * await removeS3Object('s3://lists/verified.csv.suspect');
 * ```
 */
export async function removeS3Object(url: string | URL, options: S3Options = {}): Promise<void> {
  const address = parseS3Address(url);
  const { sdk, client } = await connectS3(options);
  const { bucket: Bucket, key: Key } = address;
  try {
    await client.send(new sdk.DeleteObjectCommand({ Bucket, Key }));
  } catch (error) {
    refuseWriting(nameOfObject(address))(error);
  } finally {
    client.destroy();
  }
}
