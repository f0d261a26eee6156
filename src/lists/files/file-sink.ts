import type { Writable } from 'node:stream';
import { checkOptions, checkValue, type OptionShape } from '../../platform/check-options.js';
import { filePath, flag, oneOf, required, text } from '../../platform/option-kinds.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { optionName } from '../../platform/text/sentence.js';
import { parseDelimiter } from '../csv/csv-format.js';
import { csvWriting, txtTableDelimiter, type CsvOptions } from '../csv/csv-writer.js';
import { jsonlWriting } from '../jsonl/jsonl-writer.js';
import { parquetWriting } from '../parquet/parquet-writer.js';
import type { Sink } from '../rows/sink.js';
import type { SourceReading } from '../rows/source.js';
import { checkOneColumn, txtWriting } from '../text/txt.js';
import { xlsxWriting } from '../xlsx/xlsx-writer.js';
import { createGzipOutput } from './bytes/gzip.js';
import { createStreamOutput, type StreamOutputOptions } from './outputs/byte-output.js';
import { sheetsSink } from './partitions/partition-sink.js';
import { fileFormats, formatOfPath, type FileFormat } from './file-format.js';
import {
  fileDestination,
  writerSink,
  type FormatWriting,
  type OutputDestination,
} from './writer-sink.js';

export interface FileSinkOptions {
  /** @default by the ending of the file's name, else `csv` */
  readonly format?: FileFormat | undefined;
  /** Name whose ending sets the format, and whether the file is compressed. @default the file's own */
  readonly namedAs?: string | undefined;
  /**
   * CSV: the field delimiter, one ASCII character.
   * @default the input's, if that is CSV too, else ','
   */
  readonly delimiter?: string | undefined;
  /**
   * CSV and TSV: puts an apostrophe before text of the service that a spreadsheet would read as a formula. In
   * XLSX it is text in any case.
   * @default false
   */
  readonly neutralizeFormulas?: boolean | undefined;
}

export const fileSinkShape: OptionShape<FileSinkOptions> = {
  format: oneOf(fileFormats),
  namedAs: text,
  delimiter: text,
  neutralizeFormulas: flag,
};

/**
 * A file of any format that appears complete, by rename, or not at all; a pipe or a device is written
 * directly. Compressed if its name ends in `.gz`.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const sink = fileSink('verified.csv.gz', { delimiter: ';', neutralizeFormulas: true });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function fileSink(path: string, options: FileSinkOptions = {}): Sink {
  checkValue('path', path, filePath);
  checkOptions(options, fileSinkShape);
  return destinationSink(fileDestination, path, options);
}

export function destinationSink(
  placeAt: (path: string) => OutputDestination,
  path: string,
  options: FileSinkOptions,
): Sink {
  const place = placeAt(path);
  const { format, isGzip, other } = formatOfPath(
    // A suspect output has the format of the output that it replaces.
    (options.namedAs ?? path).replace(/\.suspect$/, ''),
  );
  if (options.format === undefined && other !== undefined) {
    throw new ConfigurationError(
      `cannot write ${place.name}: ${other} is not an output format; end its name in .csv, .tsv, .jsonl, .txt, .xlsx or .parquet (or one of these and .gz), or name the format (${optionName('sink.format')})`,
      { option: 'sink', fault: 'other_format' },
    );
  }
  const written = options.format ?? format ?? 'csv';
  const sinkAt = (at: string): Sink => {
    const destination = placeAt(at);
    const open: OutputDestination['open'] = async (permissions) =>
      createGzipOutput(await destination.open(permissions));
    return writerSink(isGzip ? { ...destination, open } : destination, writingOf(written, options));
  };
  // A workbook has a sheet for each header, and a list of addresses has no header.
  if (written === 'xlsx' || written === 'txt') return sinkAt(path);
  return sheetsSink(path, sinkAt, async () => (await place.isHeldBack?.()) === false);
}

/**
 * Any format on a stream, such as standard output.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const stream = createWriteStream('verified.jsonl');
 * const sink = streamSink(stream, { name: 'verified.jsonl', format: 'jsonl' });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function streamSink(stream: Writable, options: FileSinkOptions & StreamOutputOptions): Sink {
  checkOptions(options, { ...fileSinkShape, name: streamName, ends: flag });
  return writerSink(
    {
      name: options.name,
      async check() {
        // A stream's limits show only when it is written.
      },
      open: async () => createStreamOutput(stream, options),
    },
    writingOf(options.format ?? 'csv', options),
  );
}

const streamName = required({
  ...text,
  what: 'a name for messages: streamSink(stream, { name: "verified.csv" })',
});

export function writingOf(
  format: FileFormat,
  options: FileSinkOptions & CsvOptions,
): FormatWriting {
  if (options.delimiter !== undefined) {
    if (format !== 'csv')
      throw new ConfigurationError(`a ${format} output has no other delimiter`, {
        option: 'delimiter',
      });
    parseDelimiter(options.delimiter);
  }
  switch (format) {
    case 'csv':
      return csvWriting(options);
    case 'tsv':
      return csvWriting({ ...options, delimiter: '\t' });
    case 'jsonl':
      return jsonlWriting;
    case 'txt':
      return options.format === 'txt' ? txtWriting : tableOrTxtWriting(options);
    case 'xlsx':
      return xlsxWriting;
    case 'parquet':
      return parquetWriting();
  }
}

/** A .txt name means text: a table where the input is one under such a name. */
function tableOrTxtWriting(options: FileSinkOptions): FormatWriting {
  const tableFor = (reading: SourceReading): FormatWriting | undefined => {
    const delimiter = txtTableDelimiter(reading);
    return delimiter === undefined ? undefined : csvWriting({ ...options, delimiter });
  };
  return {
    create(output, opening) {
      const table = tableFor(opening.reading);
      if (!table) checkOneColumn(opening.verified.length);
      return (table ?? txtWriting).create(output, opening);
    },
    validate(reading, columns) {
      const table = tableFor(reading);
      if (!table) checkOneColumn(columns.verified.length);
      return (table ?? txtWriting).validate?.(reading, columns);
    },
  };
}
