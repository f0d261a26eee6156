import * as fileSystem from 'node:fs/promises';
import { notice } from '../../platform/text/notices.js';
import type { ByteOutput } from './outputs/byte-output.js';
import { createOutputFile } from './outputs/output-file.js';
import {
  holdOutput,
  checkOutputPath,
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
  readonly name: string;
  /** Fails early where writing would fail late. */
  check(): Promise<void>;
  /** Whether it is invisible until it is finished. @default false */
  isHeldBack?(): Promise<boolean>;
  hold?: Sink['hold'];
  /** Whether an earlier output is there. @default unknown */
  hasRows?(): Promise<boolean>;
  /** @param permissions the input file's, if any */
  open(permissions: FilePermissions | undefined): Promise<Output>;
}

export function fileDestination(path: string, files?: OutputFiles): OutputDestination {
  return {
    name: path,
    async check() {
      await checkOutputPath(path, files);
    },
    isHeldBack: async () => (await checkOutputPath(path, files)).kind === 'file',
    // Files given in place of the system's are for tests: nobody else writes them.
    ...(!files && {
      async hold(patience) {
        const { kind, realPath } = await checkOutputPath(path);
        return kind === 'file' ? holdOutput(path, realPath, patience) : async () => undefined;
      },
    }),
    hasRows: async () => {
      const found = await (files ?? fileSystem).stat(path).catch(() => undefined);
      return found?.isFile() === true && found.size > 0;
    },
    open: async (permissions) =>
      createOutputFile(path, { noMoreOpenThan: permissions, ...(files && { files }) }).catch(
        refuseLate,
      ),
  };
}

export interface RowsWriter {
  readonly givesBack?: boolean;
  write(rows: JoinedRows): Promise<void>;
  /** Writes the rest; does not finish the output. */
  end(): Promise<void>;
}

interface OpenWriterOptions extends OpenSinkOptions {
  /** Whether nobody else reads the rows' cells. @default false */
  readonly isOnlyReader?: boolean;
}

export interface FormatWriting {
  readonly create: (
    output: ByteOutput,
    opening: OpenWriterOptions,
  ) => RowsWriter | Promise<RowsWriter>;
  readonly maxRows?: number;
  /** Of text with cells: delimiter and quote; null where cells have no quotes. */
  cellForm?(reading: SourceReading): { readonly delimiter: string; readonly quote: string | null };
  /** Fails early where writing would fail late. */
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
    ...(place.hasRows && {
      // Whose rows they are, a file does not say.
      hasWritten: async (runId?: string) =>
        runId === undefined && (await place.hasRows?.()) === true,
    }),
    validate(reading, columns) {
      for (const column of reading.roundedColumns ?? [])
        columns.onNotice?.(notice('float_rounded', { column, output: place.name }));
      return writing.validate?.(reading, columns);
    },
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
