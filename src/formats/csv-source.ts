import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { OpenSourceOptions, Source } from '../rows/source.js';
import {
  createStreamReader,
  isRegularFile,
  openFileReader,
  pieceBytes,
  type ByteReader,
} from './byte-reader.js';
import type { CsvChunk } from './csv-chunk.js';
import { CsvReading, type CsvOptions } from './csv-reading.js';
import { createOutputFile } from './output-file.js';

/** A source of CSV rows that keep their own bytes. */
export interface CsvSource extends Source<CsvChunk> {
  open(options: OpenSourceOptions): Promise<CsvReading>;
}

/**
 * The CSV rows at a path: a file is read as often as asked, a pipe or a terminal once.
 *
 * @throws InputError `input_unreadable`
 */
export async function findCsvSource(path: string, options: CsvOptions = {}): Promise<CsvSource> {
  return (await isRegularFile(path))
    ? csvFileSource(path, options)
    : csvStreamSource(path, () => createReadStream(path, { highWaterMark: pieceBytes }), options);
}

/** The rows of a CSV file, as often as asked. `name` is how messages call it, by default its path. */
export function csvFileSource(path: string, options: CsvOptions = {}, name = path): CsvSource {
  return {
    name,
    open: (opening) =>
      CsvReading.open(name, (signal) => openFileReader(path, name, signal), options, opening),
  };
}

/** The rows of a stream of CSV bytes, once. */
export function csvStreamSource(
  name: string,
  openStream: () => Readable,
  options: CsvOptions = {},
): CsvSource {
  const openReader = async (signal?: AbortSignal) => createStreamReader(name, openStream(), signal);
  return {
    name,
    open: (opening) => CsvReading.open(name, openReader, options, opening),
    async keep(path, signal) {
      await copyToFile(path, () => openReader(signal));
      return csvFileSource(path, options, name);
    },
    kept: (path) => csvFileSource(path, options, name),
  };
}

/** The file stands when all of the input is in it; only its owner can read it. */
async function copyToFile(path: string, openReader: () => Promise<ByteReader>): Promise<void> {
  const file = await createOutputFile(path, { mode: 0o600 });
  let reader: ByteReader | undefined;
  try {
    reader = await openReader();
    for (;;) {
      const piece = await reader.read();
      if (piece === undefined) break;
      await file.write(piece);
    }
    await file.finish();
  } catch (error) {
    await file.abort();
    throw error;
  } finally {
    await reader?.close();
  }
}
