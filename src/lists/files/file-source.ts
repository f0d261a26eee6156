import type { Readable } from 'node:stream';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { checkOptions, checkValue } from '../../platform/check-options.js';
import { called, filePath, text } from '../../platform/option-kinds.js';
import { ofLibrary } from '../rows/guarded-ends.js';
import type { OpenSourceOptions, Source, SourceReading } from '../rows/source.js';
import {
  fileInput,
  findInput,
  isRepeatable,
  streamInput,
  type ByteInput,
  type ByteReader,
} from './bytes/byte-reader.js';
import { copyInput } from './bytes/copy-input.js';
import {
  formatOfPath,
  type FileFormat,
  fileShape,
  refuseUnknown,
  type FileOptions,
} from './file-format.js';
import type { JsonlMemory } from '../jsonl/jsonl-reading.js';
import { permissionsOf } from './outputs/output-path.js';
import { openReading } from './open-reading.js';
import { parseEncoding } from './bytes/text-encoding.js';

/**
 * The rows at a path, of any format: a file can be read repeatedly, a pipe or a terminal once.
 *
 * @throws InputError `input_unreadable` for a missing path; ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const source = fileSource('contacts.csv', { delimiter: ',', encoding: 'utf-8' });
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function fileSource(path: string, options: FileOptions = {}): Source {
  checkValue('path', path, filePath);
  checkOptions(options, fileShape);
  const source = inputSource(() => findInput(path), path, options);
  // An input that can be read once is a pipe or a terminal, without a file's permissions.
  return source.keep ? source : { ...source, permissions: () => permissionsOf(path) };
}

/**
 * The rows of a stream of bytes of any format, once.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const source = streamSource('contacts.csv', () => createReadStream('contacts.csv'));
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function streamSource(
  name: string,
  openStream: () => Readable,
  options: FileOptions = {},
): Source {
  checkValue('name', name, text);
  checkValue('openStream', openStream, called);
  checkOptions(options, fileShape);
  return inputSource(() => streamInput(name, openStream), undefined, options);
}

/** The rows in the bytes of an input. Invalid options are refused before it opens. @param path gives the format */
export function inputSource(
  find: () => ByteInput,
  path: string | undefined,
  options: FileOptions,
): Source {
  const named = path === undefined ? undefined : formatOfPath(path);
  const format = options.format ?? named?.format;
  // A .txt name means text: its kind is detected.
  const isTxt = options.format === undefined && format === 'txt';
  checkForm(isTxt ? undefined : format, options);
  const memory: JsonlMemory = {};
  return byteSource(find(), (of, opening) =>
    openReading(of, { ...options, ...(format && { format }), isTxt, memory }, opening),
  );
}

/** Refuses options that the format does not have; for a detected format, once it is known. */
function checkForm(format: FileFormat | undefined, options: FileOptions): void {
  if (options.encoding !== undefined) parseEncoding(options.encoding);
  for (const name of ['delimiter', 'quote', 'escape'] as const) {
    const value = options[name];
    if (value === '' || value?.includes('\n') === true || value?.includes('\0') === true) {
      throw new ConfigurationError(`${JSON.stringify(value)} cannot be the ${name} of a CSV file`, {
        option: name,
      });
    }
  }
  for (const name of ['skipRows', 'skipFooter'] as const) {
    const rows = options[name];
    if (rows !== undefined && !(Number.isSafeInteger(rows) && rows >= 0)) {
      throw new ConfigurationError(`${name} is a whole number of 0 or more, not ${rows}`, {
        option: name,
      });
    }
  }
  if (format === undefined) return;
  refuseUnknown(format, options);
}

type OpenReading = (input: ByteInput, opening: OpenSourceOptions) => Promise<SourceReading>;

/** The source of an input's rows; bytes that can be read once can be stored. */
function byteSource(input: ByteInput, openReading: OpenReading): Source {
  const kept = (path: string): Source => byteSource(fileInput(path, input.name), openReading);
  return {
    ...ofLibrary,
    name: input.name,
    open: (opening) => openReading(input, opening),
    ...(!isRepeatable(input) && {
      async keep(path: string, signal?: AbortSignal, rows?: number) {
        const openCopied = (reader: ByteReader, most: number) =>
          openReading(
            { name: input.name, openReader: async () => reader },
            { ...(signal && { signal }), rows: most, wanted: () => [] },
          );
        await copyInput(path, () => input.openReader(signal), openCopied, rows);
        return kept(path);
      },
      kept,
    }),
  };
}
