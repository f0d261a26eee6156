import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { OpenSourceOptions, Source } from '../rows/source.js';
import { createStreamReader, isRegularFile, openFileReader, pieceBytes } from './byte-reader.js';
import { copyToFile } from './copy-to-file.js';
import type { CsvChunk } from './csv-chunk.js';
import { CsvReading, type CsvOptions } from './csv-reading.js';
import { permissionsOf } from './no-more-open.js';

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
  return { ...keptSource(path, options, name), permissions: () => permissionsOf(path) };
}

/** A copy has permissions of its own, which say nothing of what was copied. */
function keptSource(path: string, options: CsvOptions, name: string): CsvSource {
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
      return keptSource(path, options, name);
    },
    kept: (path) => keptSource(path, options, name),
  };
}
