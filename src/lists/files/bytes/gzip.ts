import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { InputError } from '../../../platform/errors/errors.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';
import type { ByteOutput } from '../outputs/byte-output.js';
import { type ByteReader, pieceBytes, piecesOf } from './byte-reader.js';

/** Inflates a reader's bytes piece by piece: however much they become, little is held. */
export function createGunzipReader(name: string, reader: ByteReader): ByteReader {
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  const flow = pipeline(Readable.from(copiesOf(reader), { objectMode: false }), gunzip);
  let failure: unknown;
  flow.catch((error: unknown) => {
    failure = error;
  });
  const inflated: AsyncIterator<Uint8Array> = gunzip[Symbol.asyncIterator]();
  return {
    async read() {
      try {
        const step = await inflated.next();
        if (step.done !== true) return step.value;
        await flow;
        return undefined;
      } catch (error) {
        throw describeFailure(failure ?? error, name);
      }
    },
    async close() {
      gunzip.destroy();
      await flow.catch(() => undefined);
      await reader.close();
    },
  };
}

/** A reader reuses its buffers while they are inflated. */
async function* copiesOf(reader: ByteReader): AsyncGenerator<Uint8Array> {
  for await (const piece of piecesOf(reader)) yield Buffer.from(piece);
}

function describeFailure(error: unknown, name: string): unknown {
  const code = systemErrorCode(error);
  if (code?.startsWith('Z_') !== true) return error;
  const isCut = code === 'Z_BUF_ERROR';
  const what = isCut
    ? 'its compressed data end too early: the file was cut short'
    : 'its compressed data are damaged, or no gzip data';
  return new InputError(`cannot read ${name}: ${what}`, {
    code: 'input_malformed',
    fault: isCut ? 'cut_short' : 'damaged',
    cause: error,
  });
}

export function createGzipOutput(output: ByteOutput): ByteOutput {
  const gzip = carryThrough(createGzip(), (bytes) => output.write(bytes));
  return {
    write: (bytes) => gzip.write(bytes),
    async finish() {
      await gzip.end();
      await output.finish();
    },
    async abort() {
      await gzip.destroy();
      await output.abort();
    },
  };
}

/** Writes to a transform and passes its result on, at the consumer's pace. */
export interface Carrier {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything has been passed on. */
  end(): Promise<void>;
  /** Drops the rest. Never fails. */
  destroy(): Promise<void>;
}

export function carryThrough(
  transform: Transform,
  goOn: (bytes: Uint8Array) => Promise<void>,
): Carrier {
  let failure: { readonly error: unknown } | undefined;
  const carried = (async () => {
    for await (const piece of transform) await goOn(piece as Uint8Array);
  })();
  // The next write or end reports it.
  carried.catch((error: unknown) => {
    failure = { error };
  });
  return {
    async write(bytes) {
      const taken = new Promise<void>((resolve) => {
        transform.write(bytes, () => resolve());
      });
      await Promise.race([carried, taken]);
      if (failure !== undefined) throw failure.error;
    },
    async end() {
      transform.end();
      await carried;
    },
    async destroy() {
      transform.destroy();
      await carried.catch(() => undefined);
    },
  };
}
