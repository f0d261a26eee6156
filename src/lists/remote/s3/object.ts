import type { Readable } from 'node:stream';
import {
  changedError,
  parseContentRange,
  PassingTrouble,
  type RemoteObject,
} from '../remote-object.js';
import { nameOfObject, type S3Address } from './address.js';
import { connectS3, type S3Connection, type S3Options } from './client.js';
import { isPassing, reasonOf, refuseReading, statusOf } from './trouble.js';

/** An object in a bucket. */
export function s3Object(address: S3Address, options: S3Options): RemoteObject {
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
        if (isPassing(error)) throw new PassingTrouble(reasonOf(error));
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
