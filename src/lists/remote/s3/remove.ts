import { nameOfObject, parseS3Address } from './address.js';
import { connectS3, type S3Options } from './client.js';
import { refuseWriting } from './trouble.js';

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
