import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { InputError } from '../../../platform/errors/errors.js';
import { pieceBytes, piecesOf, type ByteReader } from './byte-reader.js';
import { systemErrorCode } from '../../../platform/files/disk-errors.js';

/** Inflates what a reader gives, piece by piece: however large it becomes, little of it is held. */
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

/** A reader uses its buffers again while they are inflated. */
async function* copiesOf(reader: ByteReader): AsyncGenerator<Uint8Array> {
  for await (const piece of piecesOf(reader)) yield Buffer.from(piece);
}

function describeFailure(error: unknown, name: string): unknown {
  const code = systemErrorCode(error);
  if (code?.startsWith('Z_') !== true) return error;
  const what =
    code === 'Z_BUF_ERROR'
      ? 'its compressed data end too early: the file was cut short'
      : 'its compressed data are damaged, or no gzip data';
  return new InputError(`cannot read ${name}: ${what}`, {
    code: 'input_malformed',
    cause: error,
  });
}
