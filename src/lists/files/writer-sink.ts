import type { ByteOutput } from './outputs/byte-output.js';
import { createOutputFile } from './outputs/output-file.js';
import {
  holdOutput,
  checkOutputPath,
  isHeldBack,
  refuseLate,
  type OutputFiles,
} from './outputs/output-path.js';
import { ofLibrary } from '../rows/guarded-ends.js';
import type {
  ColumnsToValidate,
  JoinedRows,
  OpenSinkOptions,
  RowValidator,
  Sink,
} from '../rows/sink.js';
import type { SourceReading } from '../rows/source.js';
import type { FilePermissions } from '../../platform/files/file-system.js';

/** Where what a sink writes goes: bytes, or parts. */
export interface OutputDestination<Output = ByteOutput> {
  /** How messages call it; holds no password. */
  readonly name: string;
  /** Says early what would fail late. */
  check(): Promise<void>;
  /** Whether nothing of it is seen before it is finished. @default it is seen as it is written */
  isHeldBack?(): Promise<boolean>;
  /** As that of a sink. */
  hold?: Sink['hold'];
  /** @param permissions those of the input's file, where there is one */
  open(permissions: FilePermissions | undefined): Promise<Output>;
}

/** A file as the place of a sink. */
export function fileDestination(path: string, files?: OutputFiles): OutputDestination {
  return {
    name: path,
    async check() {
      await checkOutputPath(path, files);
    },
    isHeldBack: () => isHeldBack(path, files),
    // Files that are given in place of the system's are for tests: nobody else writes them.
    ...(!files && {
      async hold(patience) {
        const { kind, realPath } = await checkOutputPath(path);
        return kind === 'file' ? holdOutput(path, realPath, patience) : async () => undefined;
      },
    }),
    open: async (permissions) =>
      createOutputFile(path, { noMoreOpenThan: permissions, ...(files && { files }) }).catch(
        refuseLate,
      ),
  };
}

/** Turns rows into the bytes of a format. */
export interface RowsWriter {
  /** As `givesBack` of a `SinkWriting`. */
  readonly givesBack?: boolean;
  write(rows: JoinedRows): Promise<void>;
  /** Writes what is left; the output is not finished by it. */
  end(): Promise<void>;
}

/** What a writing of one file is given. */
interface OpenWriterOptions extends OpenSinkOptions {
  /** Nobody else asks for the cells of the reading's rows. @default somebody may */
  readonly isOnlyReader?: boolean;
}

/** Begins to write a format. */
export type CreateWriter = (
  output: ByteOutput,
  opening: OpenWriterOptions,
) => RowsWriter | Promise<RowsWriter>;

/** How rows become the bytes of one format. */
export interface FormatWriting {
  readonly create: CreateWriter;
  /** Most rows the format takes. */
  readonly maxRows?: number;
  /** Of a text of cells: what is between two of them, and around one; null where cells have no quotes. */
  cellForm?(reading: SourceReading): { readonly delimiter: string; readonly quote: string | null };
  /** Says early what would fail late. */
  check?(verifiedColumns: number): void | Promise<void>;
  validate?(
    reading: SourceReading,
    columns: ColumnsToValidate,
  ): RowValidator | undefined | Promise<RowValidator | undefined>;
}

/** What sinks of one format have in common, wherever it goes. */
export function formatSink(
  place: OutputDestination<unknown>,
  writing: FormatWriting,
): Omit<Sink, 'open'> {
  return {
    ...ofLibrary,
    name: place.name,
    async check(verifiedColumns) {
      await writing.check?.(verifiedColumns);
      await place.check();
    },
    ...(place.hold && { hold: place.hold }),
    validate: (reading, columns) => writing.validate?.(reading, columns),
  };
}

export function writerSink(place: OutputDestination, writing: FormatWriting): Sink {
  return {
    ...formatSink(place, writing),
    ...(writing.maxRows !== undefined && { maxRows: writing.maxRows }),
    mayBeginEarly: async () => (await place.isHeldBack?.()) ?? false,
    async open(opening) {
      const output = await place.open(opening.permissions);
      try {
        const writer = await writing.create(output, {
          ...opening,
          isOnlyReader: opening.isNewList !== true,
        });
        return {
          givesBack: writer.givesBack ?? false,
          write: (rows) => writer.write(rows),
          async finish() {
            await writer.end();
            await output.finish();
          },
          abort: () => output.abort(),
        };
      } catch (error) {
        await output.abort();
        throw error;
      }
    },
  };
}
