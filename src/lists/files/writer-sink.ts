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
import type { ColumnsToValidate, RowValidator, Sink } from '../rows/sink.js';
import type { SourceReading } from '../rows/source.js';
import type { FilePermissions } from '../../platform/files/file-system.js';
import type { CreateWriter } from './rows-writer.js';

/** Where the bytes of a sink go. */
export interface OutputDestination {
  /** How messages call it; holds no password. */
  readonly name: string;
  /** Says early what would fail late. */
  check(): Promise<void>;
  /** Whether nothing of it is seen before it is finished. @default it is seen as it is written */
  isHeldBack?(): Promise<boolean>;
  /** As that of a sink. */
  hold?: Sink['hold'];
  /** @param permissions those of the input's file, where there is one */
  open(permissions: FilePermissions | undefined): Promise<ByteOutput>;
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

export function writerSink(place: OutputDestination, writing: FormatWriting): Sink {
  return {
    ...ofLibrary,
    name: place.name,
    ...(writing.maxRows !== undefined && { maxRows: writing.maxRows }),
    async check(verifiedColumns) {
      await writing.check?.(verifiedColumns);
      await place.check();
    },
    ...(place.hold && { hold: place.hold }),
    validate: (reading, columns) => writing.validate?.(reading, columns),
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
