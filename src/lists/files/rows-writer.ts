import type { JoinedRows, OpenSinkOptions } from '../rows/sink.js';
import type { ByteOutput } from './outputs/byte-output.js';

/** Turns rows into the bytes of a format. */
export interface RowsWriter {
  /** As `givesBack` of a `SinkWriting`. */
  readonly givesBack?: boolean;
  /** @throws OutputError, InputError for a row that the format has no form for */
  write(rows: JoinedRows): Promise<void>;
  /** Writes what is left; the output is not finished by it. */
  end(): Promise<void>;
}

/** Begins to write a format. */
export type CreateWriter = (
  output: ByteOutput,
  opening: OpenSinkOptions,
) => RowsWriter | Promise<RowsWriter>;
