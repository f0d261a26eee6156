import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import type { S3Server } from './start-s3.js';

export async function put(
  { client }: S3Server,
  key: string,
  content: string | Buffer,
): Promise<void> {
  await client.send(new PutObjectCommand({ Bucket: 'lists', Key: key, Body: content }));
}

export async function get({ client }: S3Server, key: string): Promise<Buffer> {
  const { Body: body } = await client.send(new GetObjectCommand({ Bucket: 'lists', Key: key }));
  return Buffer.from((await body?.transformToByteArray()) ?? []);
}

/** Sorted. */
export async function keys({ client }: S3Server): Promise<readonly string[]> {
  const { Contents: found = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'lists' }));
  return found.map(({ Key: key = '' }) => key).toSorted();
}
