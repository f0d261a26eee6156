import type { Writable } from 'node:stream';
import type { OpenSinkOptions, Sink, SinkWriting } from '../rows/sink.js';
import type { ByteOutput } from './byte-output.js';
import { CsvReading } from './csv-reading.js';
import { quoteCell } from './csv-text.js';
import { CsvWriter } from './csv-writer.js';
import { createOutputFile } from './output-file.js';
import { checkOutputPath } from './output-path.js';
import { createStreamOutput, type StreamOutputOptions } from './stream-output.js';

export interface CsvSinkOptions {
  /**
   * Whether text of the service that a spreadsheet would take for a formula gets an apostrophe in front.
   * @default false
   */
  readonly neutralizeFormulas?: boolean;
}

/** A CSV file that appears whole, by rename, or not at all; a pipe or a device is written directly. */
export function csvFileSink(path: string, options: CsvSinkOptions = {}): Sink {
  return {
    name: path,
    async check() {
      await checkOutputPath(path);
    },
    open: async (opening) => createCsvWriting(await createOutputFile(path), opening, options),
  };
}

/** CSV on a stream, such as standard output. */
export function csvStreamSink(
  stream: Writable,
  options: CsvSinkOptions & StreamOutputOptions,
): Sink {
  return {
    name: options.name,
    async check() {
      // What a stream takes only shows when it is written.
    },
    open: async (opening) =>
      createCsvWriting(createStreamOutput(stream, options), opening, options),
  };
}

function createCsvWriting(
  output: ByteOutput,
  opening: OpenSinkOptions,
  { neutralizeFormulas = false }: CsvSinkOptions,
): SinkWriting {
  const { reading, added } = opening;
  const delimiter = reading instanceof CsvReading ? reading.form.delimiter : ',';
  const writer = new CsvWriter({
    output,
    delimiter,
    header: headerFor(reading, delimiter),
    columns: reading.header.length,
    added,
    cellsOf: (outcome, column) => opening.cellsOf(outcome, column),
    neutralizeFormulas,
  });
  return {
    write: (rows) => writer.write(rows),
    async finish() {
      await writer.end();
      await output.finish();
    },
    abort: () => output.abort(),
  };
}

/** A CSV input's own header row, as it stands; the names of any other input, written anew. */
function headerFor(
  reading: OpenSinkOptions['reading'],
  delimiter: string,
): { bytes: Uint8Array; lineEnd: Uint8Array } | undefined {
  if (reading instanceof CsvReading) {
    const { headerBytes, lineEnd } = reading.form;
    return headerBytes && { bytes: headerBytes, lineEnd };
  }
  const names = reading.header.map((name) => quoteCell(name, delimiter));
  return { bytes: Buffer.from(names.join(delimiter)), lineEnd: Buffer.from('\n') };
}
