import type { FilePermissions } from '../../platform/files/file-system.js';
import type { Kind } from './values/kinds.js';
import type { RowChunk } from './chunks/row-chunk.js';
import type { Notice } from '../../platform/text/notices.js';

/** A header detected below other lines. */
export interface FoundHeader {
  /** The input's name in messages. */
  readonly input: string;
  /** What is counted: lines of text, or rows of a sheet. */
  readonly unit: 'line' | 'row';
  /** Counted from 1. */
  readonly number: number;
}

/** A footer below the last row of a list: a total, a copyright. */
export interface FoundFooter {
  /** The input's name in messages. */
  readonly input: string;
  /** What is counted: lines of text, or rows of a sheet. */
  readonly unit: 'line' | 'row';
  readonly count: number;
  /** The number of its first row in the sheet; absent for lines of text. */
  readonly first?: number | undefined;
}

/** Options of a reading. */
export interface OpenSourceOptions {
  /**
   * Ends the reading: `open`, or the next chunk, fails with its reason. Check it before each chunk, and pass
   * it to whatever waits.
   */
  readonly signal?: AbortSignal | undefined;
  /** Most rows that will be read: later ones need not be examined. @default all */
  readonly rows?: number | undefined;
  /** Called for a header detected below other lines, before `wanted`. */
  onHeaderFound?(found: FoundHeader): void;
  /** Called for a footer detected below the last row, at the end. */
  onFooterFound?(found: FoundFooter): void;
  /** Called with what is not read of the input. */
  onNotice?(notice: Notice | string): void;
  /** Called with the names of a workbook's sheets, before a sheet is read. */
  onSheets?(names: readonly string[]): void;
  /**
   * Chooses the columns whose cells will be read in each row, once the header is known: positions in it. A
   * reader need not locate any other cell before it is asked for.
   */
  wanted(header: readonly string[]): readonly number[];
  /** Columns that every header of a list must have: their cells may be read in any row. @default the wanted ones */
  needed?(header: readonly string[]): readonly number[];
}

export interface SourceReading<Chunk extends RowChunk = RowChunk> {
  /** Names of the columns, in order. */
  readonly header: readonly string[];
  /**
   * Whether the source has no column names: columns are named by position, and a file output has no header
   * either.
   * @default false
   */
  readonly isUnnamed?: boolean | undefined;
  /**
   * Whether there is no row to name the columns: the run's options give the header.
   * @default false
   */
  readonly hasNoRows?: boolean | undefined;
  /**
   * Kinds of the columns, in order, where the source declares them; `undefined` for a column with a kind for
   * each cell.
   * @default unknown
   */
  readonly kinds?: readonly (Kind | undefined)[] | undefined;
  /** Names of columns whose cells have more digits in the source than are read. @default none */
  readonly roundedColumns?: readonly string[] | undefined;
  /**
   * Identifies the storage of the columns' values: only rows of readings with the same one can be copied side
   * by side. Absent where none can be copied.
   */
  readonly storedForm?: string | undefined;
  /** Of several readings combined: the first, whose form an output takes over. */
  readonly first?: SourceReading | undefined;
  /** The rows, once; closing the iterator closes the reading. */
  readonly chunks: AsyncIterable<Chunk>;
  /** Identifies the content, after the last row was read; absent where the source's bytes are not available. */
  contentDigest?(): string;
}

/** An origin of rows. */
export interface Source<Chunk extends RowChunk = RowChunk> {
  /** Its name in messages, such as its path, without a password. */
  readonly name: string;
  /** Distinguishes it from other sources of its name, by option: compared when a run is resumed. */
  readonly decides?: Readonly<Record<string, string>> | undefined;
  /** Only for a source that is a file: an output made of it must not be more open. */
  permissions?(): Promise<FilePermissions>;
  /**
   * Begins a reading from the first row. `run()` reads twice, unless `keep` exists.
   *
   * @throws InputError `input_unreadable`, `input_malformed`
   */
  open(options: OpenSourceOptions): Promise<SourceReading<Chunk>>;
  /**
   * Only for a source that can be read once: copies it into a new file and returns a repeatable source of
   * that file.
   *
   * @param rows most rows that will be read: later ones need not be kept
   * @throws InputError, OutputError
   */
  keep?(path: string, signal?: AbortSignal, rows?: number): Promise<Source<Chunk>>;
  /** Only beside `keep`: the source of a file that an earlier `keep` has completed. */
  kept?(path: string): Source<Chunk>;
}

export async function closeReading(reading: SourceReading): Promise<void> {
  await reading.chunks[Symbol.asyncIterator]().return?.();
}

/** The digest of a reading's content, known once its last row was read. */
export function digestAtEnd(digest: string | undefined): string {
  if (digest !== undefined) return digest;
  throw new Error('the content is not known before its end was read');
}
