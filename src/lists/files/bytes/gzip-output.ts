import { createGzip } from 'node:zlib';
import type { ByteOutput } from '../outputs/byte-output.js';
import { carryThrough } from './carry-through.js';

/** Compresses on the way to an output. */
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
