import { ConfigurationError } from '../platform/errors/errors.js';
import type { FileOptions } from './files/file-format.js';
import { fileSink, type FileSinkOptions } from './files/file-sink.js';
import { fileSource } from './files/file-source.js';
import { partsSink } from './files/partitions/parts-sink.js';
import type { Sink } from './rows/sink.js';
import type { Source } from './rows/source.js';
import { findFiles } from './files/find-files.js';
import { httpSource } from './remote/http-source.js';
import { locationName, parseLocation, refuseRepeated } from './location.js';
import { s3PartsSink, s3Sink } from './remote/s3/sink.js';
import { findS3Objects, s3Source } from './remote/s3/source.js';

export interface ListSinkOptions extends FileSinkOptions {
  /** Writes a folder of parts of about that many bytes, with a manifest. @default one file */
  readonly partBytes?: number | undefined;
}

/**
 * Resolves names to lists, in order, as paths and URLs: folders and patterns are expanded to their files, in
 * a bucket to its objects.
 *
 * @throws ConfigurationError `invalid_option` for a list that is named twice; InputError `input_unreadable`
 * for a folder or a pattern without files
 *
 * @example
 * ```ts
 * for (const list of await findLists('*.csv')) console.log(list); // contacts.csv
 * ```
 */
export async function findLists(
  names: string | URL | readonly (string | URL)[],
): Promise<readonly string[]> {
  const lists: string[] = [];
  for (const name of [names].flat()) {
    const place = parseLocation(name);
    if (place.kind === 'file') lists.push(...(await findFiles(place.path)));
    else if (place.kind === 's3') lists.push(...(await findS3Objects(place.url)));
    else lists.push(locationName(place));
  }
  await refuseRepeated(lists);
  return lists;
}

/**
 * The rows of the list at a path or URL: `fileSource`, `httpSource` or `s3Source`, whichever reads it.
 *
 * @throws ConfigurationError `invalid_option`, also for a database, which needs a query
 *
 * @example
 * ```ts
 * const source = listSource('contacts.csv', { delimiter: ';' });
 * ```
 */
export function listSource(list: string | URL, options: FileOptions = {}): Source {
  const place = parseLocation(list);
  switch (place.kind) {
    case 'file':
      return fileSource(place.path, options);
    case 'web':
      return httpSource(place.url, options);
    case 's3':
      return s3Source(place.url, options);
    default:
      throw new ConfigurationError(
        `a database needs a query: give ${place.kind}Source({ url, query }) from sluice/${place.kind}`,
        { option: 'query', fault: 'missing' },
      );
  }
}

/**
 * The output at a path or URL: `fileSink`, `partsSink`, `s3Sink` or `s3PartsSink`, whichever writes it.
 *
 * @throws ConfigurationError `invalid_option`, also for a web address, and for a database, which needs a
 *   table
 *
 * @example
 * ```ts
 * const sink = listSink('verified.parquet');
 * ```
 */
export function listSink(list: string | URL, options: ListSinkOptions = {}): Sink {
  const { partBytes, ...form } = options;
  const place = parseLocation(list);
  switch (place.kind) {
    case 'file':
      if (partBytes === undefined) return fileSink(place.path, form);
      return partsSink(place.path, { ...form, partBytes });
    case 's3':
      if (partBytes === undefined) return s3Sink(place.url, form);
      return s3PartsSink(place.url, { ...form, partBytes });
    case 'web':
      throw new ConfigurationError(
        'a list can be read from a web address, but not written to one: give the path of a file, or an s3:// URL',
        { option: 'sink', fault: 'unsupported' },
      );
    default:
      throw new ConfigurationError(
        `a database needs a table: give ${place.kind}Sink({ url, into }) from sluice/${place.kind}`,
        { option: 'sink', fault: 'missing' },
      );
  }
}
