import type { Readable } from 'node:stream';
import { ConfigurationError } from '../errors/family.js';
import type { Source } from '../rows/source.js';
import { fileInput, findInput, streamInput, type ByteInput } from './byte-input.js';
import { byteSource } from './byte-source.js';
import { formatOfPath, type FileFormat } from './file-format.js';
import { refuseUnknown, type FileOptions } from './file-options.js';
import type { JsonlMemory } from './jsonl-reading.js';
import { permissionsOf } from './no-more-open.js';
import { openReading } from './open-reading.js';
import { parseEncoding } from './text-encoding.js';

/**
 * The rows at a path, of any format: a file is read as often as asked, a pipe or a terminal once.
 *
 * @throws InputError `input_unreadable`; ConfigurationError `invalid_option`
 */
export async function findFileSource(path: string, options: FileOptions = {}): Promise<Source> {
  const source = inputSource(await findInput(path), path, options);
  // What can be read once has nobody's permissions: it is a pipe or a terminal.
  return source.keep ? source : { ...source, permissions: () => permissionsOf(path) };
}

/**
 * The rows of a file of any format, as often as asked.
 *
 * @throws ConfigurationError `invalid_option`
 */
export function fileSource(path: string, options: FileOptions = {}): Source {
  return {
    ...inputSource(fileInput(path), path, options),
    permissions: () => permissionsOf(path),
  };
}

/**
 * The rows of a stream of bytes of any format, once.
 *
 * @throws ConfigurationError `invalid_option`
 */
export function streamSource(
  name: string,
  openStream: () => Readable,
  options: FileOptions = {},
): Source {
  return inputSource(streamInput(name, openStream), undefined, options);
}

/**
 * The rows in the bytes of an input.
 *
 * @param path whose ending names the format, where there is one
 * @throws ConfigurationError `invalid_option`
 */
export function inputSource(
  input: ByteInput,
  path: string | undefined,
  options: FileOptions,
): Source {
  const named = path === undefined ? undefined : formatOfPath(path);
  const format = options.format ?? named?.format;
  checkOptions(format, options);
  const memory: JsonlMemory = {};
  return byteSource(input, (of, opening) =>
    openReading(
      of,
      { ...options, ...(format && { format }), isGzip: named?.isGzip ?? false, memory },
      opening,
    ),
  );
}

/** Which options a format does not know; what is found by looking is asked then. */
function checkOptions(format: FileFormat | undefined, options: FileOptions): void {
  if (options.encoding !== undefined) parseEncoding(options.encoding);
  for (const name of ['delimiter', 'quote', 'escape'] as const) {
    const value = options[name];
    if (value === '' || value?.includes('\n') === true || value?.includes('\0') === true) {
      throw new ConfigurationError(`${JSON.stringify(value)} cannot be the ${name} of a CSV file`);
    }
  }
  if (format === undefined) return;
  refuseUnknown(format, options);
}
