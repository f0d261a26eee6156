import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { checkOptions, checkValue, type OptionShape } from '../../platform/check-options.js';
import { filePath, flag, oneOf, required, text } from '../../platform/option-kinds.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { refuseWriting } from '../../platform/files/disk-errors.js';
import { optionName } from '../../platform/text/option-name.js';
import { parseDelimiter } from '../csv/csv-format.js';
import { csvWriting, txtTableDelimiter, type CsvForms } from '../csv/csv-writer.js';
import { JsonlChunk } from '../jsonl/jsonl-chunk.js';
import { isJsonKind, JsonlWriter } from '../jsonl/jsonl-writer.js';
import { parquetWriting } from '../parquet/parquet-writer.js';
import { CombinedChunk } from '../rows/sources/combine-headers.js';
import { refuseRepeatedNames, TableRows } from '../rows/chunks/table-rows.js';
import type { Sink } from '../rows/sink.js';
import type { SourceReading } from '../rows/source.js';
import { reportTextCells } from '../rows/values/kind-tally.js';
import { txtLine, TxtWriter } from '../text/txt.js';
import { xlsxWriting } from '../xlsx/xlsx-writer.js';
import { createGzipOutput } from './bytes/gzip.js';
import { fileFormats, formatOfPath, type FileFormat } from './file-format.js';
import type { ByteOutput } from './outputs/byte-output.js';
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
   * CSV and TSV: whether text of the service that a spreadsheet would take for a formula gets an
   * apostrophe in front. In XLSX it is text in every case.
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
 * A file of any format that appears whole, by rename, or not at all; a pipe or a device is written
 * directly. It is compressed when its name ends in `.gz`.
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
  return destinationSink(fileDestination(path), path, options);
}

/** The same at any place. */
export function destinationSink(
  place: OutputDestination,
  path: string,
  options: FileSinkOptions,
): Sink {
  const { format, isGzip, other } = formatOfPath(
    // What `maxUnknown` puts beside an output has its form.
    (options.namedAs ?? path).replace(/\.suspect$/, ''),
  );
  if (options.format === undefined && other !== undefined) {
    throw new ConfigurationError(
      `cannot write ${place.name}: ${other} is no format of an output; end its name in .csv, .tsv, .jsonl, .txt, .xlsx or .parquet (or one of these and .gz), or name the format (${optionName('sink.format')})`,
    );
  }
  const open: OutputDestination['open'] = async (permissions) =>
    createGzipOutput(await place.open(permissions));
  return writerSink(
    isGzip ? { ...place, open } : place,
    writingOf(options.format ?? format ?? 'csv', options),
  );
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
  checkOptions(options, { ...fileSinkShape, name: required(text), ends: flag });
  return writerSink(
    {
      name: options.name,
      async check() {
        // What a stream takes only shows when it is written.
      },
      open: async () => createStreamOutput(stream, options),
    },
    writingOf(options.format ?? 'csv', options),
  );
}

export function writingOf(format: FileFormat, options: FileSinkOptions & CsvForms): FormatWriting {
  if (options.delimiter !== undefined) {
    if (format !== 'csv') throw new ConfigurationError(`a ${format} output has no other delimiter`);
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

const jsonlWriting: FormatWriting = {
  create(output: ByteOutput, opening) {
    // What is only seen in rows is told where they are looked at first.
    reportTextCells(
      { reading: opening.reading, onTextColumn: opening.onTextColumn, output: 'JSONL' },
      isJsonKind,
    );
    return new JsonlWriter(output, opening);
  },
  validate(reading, { onTextColumn }) {
    const rows = new TableRows(reading.header.length);
    const report = reportTextCells({ reading, output: 'JSONL', onTextColumn }, isJsonKind);
    let isChecked = false;
    return (chunk) => {
      // Rows that are copied need no form.
      const own = chunk instanceof CombinedChunk ? chunk.copied : chunk;
      if (own instanceof JsonlChunk) return;
      if (!isChecked) refuseRepeatedNames(reading.header, 'JSON');
      isChecked = true;
      for (let row = 0; row < chunk.length; row += 1) report(chunk, row, rows.read(chunk, row));
    };
  },
};

const txtWriting: FormatWriting = {
  create: (output: ByteOutput, opening) => new TxtWriter(output, opening),
  check: checkOneColumn,
  validate(_, { verified: [column = 0] }) {
    return (chunk) => {
      for (let row = 0; row < chunk.length; row += 1) txtLine(chunk.text(row, column));
    };
  },
};

/** A name that ends in .txt says that it is text: a table where the input is one under such a name. */
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

function checkOneColumn(verifiedColumns: number): void {
  if (verifiedColumns === 1) return;
  throw new ConfigurationError(
    `a TXT output holds the one column that is verified, but ${String(verifiedColumns)} are: choose another format`,
  );
}

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
