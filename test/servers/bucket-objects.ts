import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';

interface WithClient {
  readonly client: S3Client;
}

export async function put(
  { client }: WithClient,
  key: string,
  content: string | Buffer,
): Promise<void> {
  await client.send(new PutObjectCommand({ Bucket: 'lists', Key: key, Body: content }));
}

export async function get({ client }: WithClient, key: string): Promise<Buffer> {
  const { Body: body } = await client.send(new GetObjectCommand({ Bucket: 'lists', Key: key }));
  return Buffer.from((await body?.transformToByteArray()) ?? []);
}

/** Sorted. */
export async function keys({ client }: WithClient): Promise<readonly string[]> {
  const { Contents: found = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'lists' }));
  return found.map(({ Key: key = '' }) => key).toSorted();
}
