import type { Writable } from 'node:stream';
import type { OpenSinkOptions, Sink } from '../rows/sink.js';
import type { SourceReading } from '../rows/source.js';
import type { ByteOutput } from './byte-output.js';
import { CsvChunk } from './csv-chunk.js';
import { parseDelimiter } from './csv-dialect.js';
import { CsvReading } from './csv-reading.js';
import { quoteCell } from './csv-text.js';
import { CsvWriter } from './csv-writer.js';
import { filePlace } from './output-file.js';
import { ParsedCsvReading } from './parsed-csv-reading.js';
import type { RowsWriter } from './rows-writer.js';
import { createStreamOutput, type StreamOutputOptions } from './stream-output.js';
import { TableRows } from './table-rows.js';
import { writerSink } from './writer-sink.js';

export interface CsvSinkOptions {
  /**
   * What stands between two cells: one ASCII character.
   * @default the input's, if that is CSV too, else ','
   */
  readonly delimiter?: string;
  /**
   * Whether text of the service that a spreadsheet would take for a formula gets an apostrophe in front.
   * @default false
   */
  readonly neutralizeFormulas?: boolean;
}

/** A CSV file that appears whole, by rename, or not at all; a pipe or a device is written directly. */
export function csvFileSink(path: string, options: CsvSinkOptions = {}): Sink {
  return writerSink(filePlace(path), csvWriting(options));
}

/** CSV on a stream, such as standard output. */
export function csvStreamSink(
  stream: Writable,
  options: CsvSinkOptions & StreamOutputOptions,
): Sink {
  return writerSink(
    {
      name: options.name,
      async check() {
        // What a stream takes only shows when it is written.
      },
      open: async () => createStreamOutput(stream, options),
    },
    csvWriting(options),
  );
}

/** How rows are written as CSV. */
export function csvWriting(options: CsvSinkOptions): Parameters<typeof writerSink>[1] {
  return {
    create: (output, opening) => createCsvWriter(output, opening, options),
    examine(reading) {
      const byte = parseDelimiter(delimiterFor(reading, options.delimiter));
      const rows = new TableRows(reading.header.length);
      return (chunk) => {
        // Rows that are copied need no form.
        if (chunk instanceof CsvChunk && chunk.delimiter === byte) return;
        for (let row = 0; row < chunk.length; row += 1) rows.read(chunk, row);
      };
    },
  };
}

function createCsvWriter(
  output: ByteOutput,
  opening: OpenSinkOptions,
  options: CsvSinkOptions,
): RowsWriter {
  const { reading, added } = opening;
  const delimiter = delimiterFor(reading, options.delimiter);
  return new CsvWriter({
    output,
    delimiter,
    header: headerFor(reading, delimiter),
    columns: reading.header.length,
    added: added.map((columns) => columns.map(({ name }) => name)),
    cellsOf: (outcome, column) => opening.cellsOf(outcome, column),
    neutralizeFormulas: options.neutralizeFormulas ?? false,
    // A dialect without quotes is kept, or each quote in a cell would come out as two.
    isBare:
      reading instanceof ParsedCsvReading &&
      reading.dialect.quote === undefined &&
      reading.dialect.delimiter === delimiter,
  });
}

function delimiterFor(reading: SourceReading, given: string | undefined): string {
  if (given !== undefined) return given;
  const own = reading.first ?? reading;
  if (own instanceof CsvReading) return own.form.isTsv ? ',' : own.form.delimiter;
  if (own instanceof ParsedCsvReading && !own.isTsv) {
    const { delimiter } = own.dialect;
    if (delimiter.length === 1 && delimiter !== '"' && delimiter <= '~') return delimiter;
  }
  return ',';
}

/** A CSV input's own header row, as it stands; the names of any other input, written again. */
function headerFor(
  reading: SourceReading,
  delimiter: string,
): { bytes: Uint8Array; lineEnd: Uint8Array } | undefined {
  if (reading.isUnnamed === true) return undefined;
  const own = reading.first ?? reading;
  const isWhole = own.header.length === reading.header.length;
  if (own instanceof CsvReading && isWhole && own.form.delimiter === delimiter) {
    const { headerBytes, lineEnd } = own.form;
    return headerBytes && { bytes: headerBytes, lineEnd };
  }
  const names = reading.header.map((name) => quoteCell(name, delimiter));
  return { bytes: Buffer.from(names.join(delimiter)), lineEnd: Buffer.from('\n') };
}
