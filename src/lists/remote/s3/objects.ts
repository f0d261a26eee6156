import { InputError } from '../../../platform/errors/errors.js';
import { byName, isListName } from '../../files/find-files.js';
import { hasWildcard, parseGlob } from '../../files/glob.js';
import {
  nameOfObject,
  type S3Address,
  type S3Connection,
  parseS3Address,
  connectS3,
  type S3Options,
} from './client.js';
import { refuseReading, refuseWriting } from './s3-errors.js';

/**
 * The objects that an address means: itself, those of a folder whose ending names a format, or those
 * that a pattern matches; of several, sorted by key.
 */
export async function findObjects(
  address: S3Address,
  connect: () => Promise<S3Connection>,
): Promise<readonly S3Address[]> {
  const { bucket, key } = address;
  const isFolder = key === '' || key.endsWith('/');
  if (!isFolder && !hasWildcard(key)) return [address];
  const name = nameOfObject(address);
  const glob = isFolder ? undefined : parseGlob(key);
  const prefix = glob ? glob.base : key;
  const isMeant = (found: string): boolean => {
    if (glob) return glob.matches(found);
    const rest = found.slice(prefix.length);
    return !rest.includes('/') && isListName(rest);
  };
  const connection = await connect();
  const keys: string[] = [];
  try {
    for await (const found of listKeys(connection, { bucket, key: prefix })) {
      if (!found.endsWith('/') && isMeant(found)) keys.push(found);
    }
  } catch (error) {
    refuseReading(name)(error);
  }
  if (keys.length > 0) return keys.toSorted(byName).map((found) => ({ bucket, key: found }));
  throw new InputError(`cannot read ${name}: no object matches it`, { code: 'input_unreadable' });
}

/** All keys that begin with an address's. Errors are the SDK's. */
export async function* listKeys(
  { sdk, client }: S3Connection,
  { bucket, key }: S3Address,
): AsyncGenerator<string> {
  const pages = sdk.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: key });
  for await (const { Contents: contents = [] } of pages) {
    for (const { Key: found } of contents) if (found !== undefined) yield found;
  }
}

/**
 * Removes an object, if there is one.
 *
 * @throws ConfigurationError, OutputError
 *
 * @example
 * ```ts
 * await removeS3Object('s3://lists/verified.csv.suspect');
 * ```
 */
export async function removeS3Object(url: string, options: S3Options = {}): Promise<void> {
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
