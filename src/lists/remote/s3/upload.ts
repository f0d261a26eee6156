import { randomUUID } from 'node:crypto';
import type { CompletedPart, ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3';
import type { S3Address, S3Connection } from './client.js';

/** All parts but the last have one size, as some services require; 10,000 of them are 160 GB. */
const partBytes = 16 * 1024 * 1024;

/** Identifies an object's writing, in its metadata. */
const mark = 'sluice-writing';

/** An object that is visible only once it is complete. Errors are the SDK's. */
export class S3Upload {
  readonly #connection: S3Connection;
  readonly #place: { readonly Bucket: string; readonly Key: string };
  readonly #writing = randomUUID();
  readonly #parts: CompletedPart[] = [];
  /** The part being collected: pieces may be slices of far larger buffers, which must not be kept. */
  #part: Buffer | undefined;
  #bytes = 0;
  #id: string | undefined;
  #underway: Promise<void> = Promise.resolve();
  #isOpen = true;

  constructor(connection: S3Connection, { bucket, key }: S3Address) {
    this.#connection = connection;
    this.#place = { Bucket: bucket, Key: key };
  }

  async write(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    while (this.#bytes + rest.length >= partBytes) {
      const fits = rest.subarray(0, partBytes - this.#bytes);
      rest = rest.subarray(fits.length);
      this.#hold(fits);
      await this.#send();
    }
    this.#hold(rest);
  }

  /** Sends the rest; nothing is visible yet, and nothing is held. */
  async seal(): Promise<void> {
    await this.#underway;
    if (this.#bytes > 0 || this.#parts.length === 0) await this.#send();
    await this.#underway;
  }

  async complete(): Promise<void> {
    const { client, sdk } = this.#connection;
    // A multipart upload has at least one part, which must not be empty.
    if (this.#id === undefined && this.#bytes === 0) {
      await client.send(new sdk.PutObjectCommand({ ...this.#place, Body: new Uint8Array(0) }));
      this.#isOpen = false;
      return;
    }
    await this.seal();
    const command = new sdk.CompleteMultipartUploadCommand({
      ...this.#place,
      UploadId: this.#id,
      MultipartUpload: { Parts: this.#parts },
    });
    try {
      await client.send(command);
    } catch (error) {
      // After a lost answer the upload is gone, and the object exists.
      if (!(await this.#exists())) throw error;
    }
    this.#isOpen = false;
  }

  /** Drops what was sent. Never fails; does nothing after `complete`. */
  async abort(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#part = undefined;
    this.#bytes = 0;
    await this.#underway.catch(() => undefined);
    if (this.#id !== undefined) await abortUpload(this.#connection, this.#place, this.#id);
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#part ??= Buffer.allocUnsafeSlow(partBytes);
    this.#part.set(bytes, this.#bytes);
    this.#bytes += bytes.length;
  }

  /** One part is sent while the next is collected. */
  async #send(): Promise<void> {
    const body = this.#part?.subarray(0, this.#bytes) ?? Buffer.alloc(0);
    this.#part = undefined;
    this.#bytes = 0;
    await this.#underway;
    this.#underway = this.#sendPart(body);
    // The next send reports the failure.
    this.#underway.catch(() => undefined);
  }

  async #sendPart(body: Buffer): Promise<void> {
    const { client, sdk } = this.#connection;
    if (this.#id === undefined) {
      const begun = await client.send(
        new sdk.CreateMultipartUploadCommand({
          ...this.#place,
          Metadata: { [mark]: this.#writing },
        }),
      );
      this.#id = begun.UploadId;
    }
    const number = this.#parts.length + 1;
    const { ETag: etag } = await client.send(
      new sdk.UploadPartCommand({
        ...this.#place,
        UploadId: this.#id,
        PartNumber: number,
        Body: body,
        ContentLength: body.length,
      }),
    );
    this.#parts.push({ PartNumber: number, ...(etag !== undefined && { ETag: etag }) });
  }

  async #exists(): Promise<boolean> {
    const { client, sdk } = this.#connection;
    return client.send(new sdk.HeadObjectCommand(this.#place)).then(
      ({ Metadata: metadata }) => metadata?.[mark] === this.#writing,
      () => false,
    );
  }
}

/** Never fails: the next writing aborts what is left. */
async function abortUpload(
  { client, sdk }: S3Connection,
  place: { readonly Bucket: string; readonly Key: string },
  id: string,
): Promise<void> {
  const command = new sdk.AbortMultipartUploadCommand({ ...place, UploadId: id });
  await client.send(command).catch(() => undefined);
}

/**
 * Aborts uploads of killed processes. Never fails: where listing is forbidden, a rule of the bucket has to do
 * it.
 *
 * @param isOfOutput whether only this output writes the key
 */
export async function abortLeftUploads(
  connection: S3Connection,
  { bucket, key: prefix }: S3Address,
  isOfOutput: (key: string) => boolean,
): Promise<void> {
  const { client, sdk } = connection;
  let after: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | undefined = {};
  try {
    while (after) {
      const page: ListMultipartUploadsCommandOutput = await client.send(
        new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...after }),
      );
      for (const { Key: key, UploadId: id } of page.Uploads ?? []) {
        if (key === undefined || id === undefined || !isOfOutput(key)) continue;
        await abortUpload(connection, { Bucket: bucket, Key: key }, id);
      }
      const { IsTruncated: isMore, NextKeyMarker: key, NextUploadIdMarker: id } = page;
      const isLater: boolean = key !== after.KeyMarker || id !== after.UploadIdMarker;
      after =
        isMore === true && key !== undefined && isLater
          ? { KeyMarker: key, ...(id !== undefined && { UploadIdMarker: id }) }
          : undefined;
    }
  } catch {
    // Permission to write may come without one to list.
  }
}

/** Checks early that an object can be written: begins an upload and aborts it. Errors are the SDK's. */
export async function tryUpload(
  connection: S3Connection,
  { bucket, key }: S3Address,
): Promise<void> {
  const { client, sdk } = connection;
  const place = { Bucket: bucket, Key: key };
  const { UploadId: id } = await client.send(new sdk.CreateMultipartUploadCommand(place));
  if (id !== undefined) await abortUpload(connection, place, id);
}
