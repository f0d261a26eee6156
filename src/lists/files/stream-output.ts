import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ByteOutput } from './outputs/byte-output.js';
import { refuseWriting } from '../../platform/files/disk-errors.js';

export interface StreamOutputOptions {
  /** How messages call the stream. */
  readonly name: string;
  /**
   * Whether finishing ends the stream, and aborting destroys it; not for standard output, which is not
   * ours to close.
   * @default true
   */
  readonly ends?: boolean | undefined;
}

/** Writes bytes to a stream, as fast as it takes them. */
export function createStreamOutput(stream: Writable, options: StreamOutputOptions): ByteOutput {
  const { name, ends = true } = options;
  const fail = refuseWriting(name);
  // The write that an error befalls tells of it; without a listener it would end the process as well.
  // It may be emitted after that write's callback: on a broken stream the listener stays.
  stream.on('error', ignore);
  let isOpen = true;
  return {
    write: (bytes) =>
      new Promise<void>((resolve, reject) => {
        stream.write(bytes, (error) => {
          if (error) reject(error);
          else resolve();
        });
      }).catch(fail),
    async finish() {
      isOpen = false;
      try {
        if (ends) {
          stream.end();
          await finished(stream, { readable: false, cleanup: true });
        }
        // A stream that was destroyed may well look finished.
        if (stream.errored || (ends ? !stream.writableFinished : stream.destroyed)) {
          throw stream.errored ?? new Error('the stream was closed');
        }
      } catch (cause) {
        fail(cause);
      }
      stream.off('error', ignore);
    },
    async abort() {
      if (!isOpen) return;
      isOpen = false;
      if (ends) stream.destroy();
      else if (!stream.errored) stream.off('error', ignore);
    },
  };
}

function ignore(): void {
  // The write it befell tells of it.
}
