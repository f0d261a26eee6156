import { randomBytes } from 'node:crypto';
import { checkOptions } from '../../../platform/check-options.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { optionName } from '../../../platform/text/sentence.js';
import { fileSinkShape, destinationSink, type FileSinkOptions } from '../../files/file-sink.js';
import type { ByteOutput } from '../../files/outputs/byte-output.js';
import { manifestName, type PartsFolder } from '../../files/partitions/parts-folder.js';
import {
  partsShape,
  partsSinkAt,
  type PartsSinkOptions,
} from '../../files/partitions/parts-sink.js';
import type { OutputDestination } from '../../files/writer-sink.js';
import { sheetsSink } from '../../files/partitions/partition-sink.js';
import type { Sink } from '../../rows/sink.js';
import {
  lateS3,
  nameOfObject,
  parseS3Address,
  refuseWriting,
  s3Shape,
  type S3Address,
  type S3Connection,
  type S3Options,
} from './client.js';
import { listKeys } from './source.js';
import { abortLeftUploads, S3Upload, tryUpload } from './upload.js';

/**
 * An object of any format in a bucket, visible only once it is complete. Compressed if its key ends in `.gz`.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const sink = s3Sink('s3://lists/verified.parquet', { region: 'us-east-1' });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function s3Sink(url: string | URL, options: FileSinkOptions & S3Options = {}): Sink {
  checkOptions(options, { ...fileSinkShape, ...s3Shape });
  const given = parseS3Address(url);
  if (given.key === '' || given.key.endsWith('/')) {
    throw new ConfigurationError(
      `cannot write ${nameOfObject(given)}: it is a folder; name an object, or write parts (${optionName('partBytes')})`,
      { option: 'sink', fault: 'folder' },
    );
  }
  const connect = lateS3(options);
  const placeAt = (key: string): OutputDestination => {
    const address = { ...given, key };
    const name = nameOfObject(address);
    const fail = refuseWriting(name);
    return {
      name,
      async check() {
        await tryUpload(await connect(), address).catch(fail);
      },
      isHeldBack: async () => true,
      async open() {
        const connected = await connect();
        await abortLeftUploads(connected, address, (left) => left === key);
        const upload = new S3Upload(connected, address);
        return outputOf(upload, async () => upload.complete(), fail);
      },
    };
  };
  return destinationSink(placeAt, given.key, options);
}

function outputOf(
  upload: S3Upload,
  finish: () => Promise<void>,
  fail: (error: unknown) => never,
): ByteOutput {
  return {
    write: async (bytes) => upload.write(bytes).catch(fail),
    finish: async () => finish().catch(fail),
    abort: async () => upload.abort(),
  };
}

/** Names that only parts have. */
const partName = /^part-[0-9a-f]{8}-\d{5,}\.(?:csv|tsv|jsonl|parquet)(?:\.gz)?$/;

/**
 * A folder of parts with a manifest in a bucket. Nothing is visible before everything is written; then the
 * parts appear, then the manifest, and the parts of an earlier writing are deleted.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const sink = s3PartsSink('s3://lists/verified/', { partBytes: 256_000_000, format: 'csv' });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function s3PartsSink(url: string | URL, options: PartsSinkOptions & S3Options): Sink {
  checkOptions(options, { ...partsShape, ...s3Shape });
  const given = parseS3Address(url);
  const isFolder = given.key === '' || given.key.endsWith('/');
  const folder: S3Address = { ...given, key: isFolder ? given.key : `${given.key}/` };
  const connect = lateS3(options);
  return sheetsSink(folder.key, (key) => {
    const address = { ...folder, key };
    const name = nameOfObject(address);
    const fail = refuseWriting(name);
    return partsSinkAt(
      {
        name,
        async check() {
          const connected = await connect();
          await refuseOthers(connected, address).catch(fail);
          await tryUpload(connected, at(address, manifestName)).catch(fail);
        },
        async open() {
          const connected = await connect();
          await refuseOthers(connected, address).catch(fail);
          await abortLeftUploads(connected, address, (left) => isPart(address, left));
          return new S3PartsFolder(connected, address, fail);
        },
      },
      options,
    );
  });
}

function at({ bucket, key }: S3Address, name: string): S3Address {
  return { bucket, key: key + name };
}

function isPart({ key: prefix }: S3Address, key: string): boolean {
  const name = key.slice(prefix.length);
  return name === manifestName || partName.test(name);
}

async function refuseOthers(connection: S3Connection, folder: S3Address): Promise<void> {
  for await (const key of listKeys(connection, folder)) {
    if (key === folder.key || isPart(folder, key)) continue;
    throw new ConfigurationError(
      `cannot write ${nameOfObject(folder)}: it holds something else than parts, which is not written over: name another`,
      { option: 'sink', fault: 'other_content' },
    );
  }
}

class S3PartsFolder implements PartsFolder {
  /** Unique to this writing: earlier parts stay until the manifest names the new ones. */
  readonly mark = `${randomBytes(4).toString('hex')}-`;
  readonly #connection: S3Connection;
  readonly #folder: S3Address;
  readonly #fail: (error: unknown) => never;
  /** The parts in order, and the manifest. */
  readonly #uploads = new Map<string, S3Upload>();

  constructor(connection: S3Connection, folder: S3Address, fail: (error: unknown) => never) {
    this.#connection = connection;
    this.#folder = folder;
    this.#fail = fail;
  }

  async create(name: string): Promise<ByteOutput> {
    const place = at(this.#folder, name);
    const upload = new S3Upload(this.#connection, place);
    this.#uploads.set(place.key, upload);
    // It becomes visible with all others.
    return outputOf(upload, async () => upload.seal(), this.#fail);
  }

  async finish(): Promise<void> {
    try {
      for (const upload of this.#uploads.values()) await upload.complete();
      await this.#deleteEarlier();
    } catch (error) {
      this.#fail(error);
    }
  }

  async abort(): Promise<void> {
    for (const upload of this.#uploads.values()) await upload.abort();
  }

  /** Parts that no manifest names any more. */
  async #deleteEarlier(): Promise<void> {
    const { client, sdk } = this.#connection;
    const earlier: string[] = [];
    for await (const key of listKeys(this.#connection, this.#folder)) {
      if (isPart(this.#folder, key) && !this.#uploads.has(key)) earlier.push(key);
    }
    for (const key of earlier) {
      await client.send(new sdk.DeleteObjectCommand({ Bucket: this.#folder.bucket, Key: key }));
    }
  }
}
