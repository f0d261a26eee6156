import { ConfigurationError } from '../../../platform/errors/errors.js';
import { fileSinkShape, destinationSink, type FileSinkOptions } from '../../files/file-sink.js';
import type { OutputDestination } from '../../files/writer-sink.js';
import { checkOptions } from '../../../platform/check-options.js';
import type { Sink } from '../../rows/sink.js';
import {
  nameOfObject,
  parseS3Address,
  connectS3,
  s3Shape,
  type S3Connection,
  type S3Options,
} from './client.js';
import { refuseWriting } from './s3-errors.js';
import { abortLeftUploads, S3Upload, tryUpload } from './upload.js';
import { optionName } from '../../../platform/text/option-name.js';

/**
 * An object of any format in a bucket: it is seen when it is written whole, and not before. It is
 * compressed when its key ends in `.gz`.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const sink = s3Sink('s3://lists/verified.parquet', { region: 'us-east-1' });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function s3Sink(url: string, options: FileSinkOptions & S3Options = {}): Sink {
  checkOptions(options, { ...fileSinkShape, ...s3Shape });
  const address = parseS3Address(url);
  const name = nameOfObject(address);
  if (address.key === '' || address.key.endsWith('/')) {
    throw new ConfigurationError(
      `cannot write ${name}: it is a folder; name an object, or write parts (${optionName('partBytes')})`,
    );
  }
  let connection: Promise<S3Connection> | undefined;
  const connect = async (): Promise<S3Connection> => (connection ??= connectS3(options));
  const fail = refuseWriting(name);
  const place: OutputDestination = {
    name,
    async check() {
      await tryUpload(await connect(), address).catch(fail);
    },
    isHeldBack: async () => true,
    async open() {
      const connected = await connect();
      await abortLeftUploads(connected, address, (key) => key === address.key);
      const upload = new S3Upload(connected, address);
      return {
        write: async (bytes) => upload.write(bytes).catch(fail),
        finish: async () => upload.complete().catch(fail),
        abort: async () => upload.abort(),
      };
    },
  };
  return destinationSink(place, address.key, options);
}
