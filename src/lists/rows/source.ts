import type { FilePermissions } from '../../platform/files/file-system.js';
import type { Kind } from './values/kinds.js';
import type { RowChunk } from './chunks/row-chunk.js';
import type { Notice } from '../../platform/text/notices.js';

/** A header that is below other lines, and was found by the rows around it. */
export interface FoundHeader {
  /** How messages call the input. */
  readonly input: string;
  /** What is counted: lines of a text, or rows of a sheet. */
  readonly unit: 'line' | 'row';
  /** Counted from 1. */
  readonly number: number;
}

/** Rows below the last row of a list that are none of it: a total, a copyright. */
export interface FoundFooter {
  /** How messages call the input. */
  readonly input: string;
  /** What is counted: lines of a text, or rows of a sheet. */
  readonly unit: 'line' | 'row';
  readonly count: number;
}

/** What a reading of a source is given. */
export interface OpenSourceOptions {
  /**
   * Ends the reading: `open`, or the next chunk, fails with its reason. Look at it before each chunk, and
   * give it to whatever waits.
   */
  readonly signal?: AbortSignal;
  /** How many rows will be asked for at most: what is after them need not be looked at. @default all */
  readonly rows?: number;
  /** Called for a header that was found below other lines, before `wanted` is asked. */
  onHeaderFound?(found: FoundHeader): void;
  /** Called for a footer that was found below the last row, when the end was read. */
  onFooterFound?(found: FoundFooter): void;
  /** Called with what of the input is not read. */
  onNotice?(notice: Notice | string): void;
  /** Called with the names of a workbook's sheets, before the one that is read is looked at. */
  onSheets?(names: readonly string[]): void;
  /**
   * Names the columns whose cells will be asked for, once the header is known: positions in it. A
   * reader need not find any other cell.
   */
  wanted(header: readonly string[]): readonly number[];
  /** Those of them that a list of several headers has to have in all. @default all that are wanted */
  needed?(header: readonly string[]): readonly number[];
}

/** One reading of a source. */
export interface SourceReading<Chunk extends RowChunk = RowChunk> {
  /** Names of the columns, in order. */
  readonly header: readonly string[];
  /**
   * Whether the source itself has no names for its columns: they are named by position, and a file
   * output has no header either.
   * @default false
   */
  readonly isUnnamed?: boolean;
  /**
   * Whether it has no row that would name its columns: the header is what the options of the run name.
   * @default false
   */
  readonly hasNoRows?: boolean;
  /**
   * What the columns hold, in order, where the source itself says it, also without any row; `undefined`
   * for a column whose cells each have a kind of their own.
   * @default no column is said to hold anything
   */
  readonly kinds?: readonly (Kind | undefined)[];
  /**
   * How the values of the columns are stored, where they are copied as stored: only rows of readings of
   * one form can be copied side by side.
   */
  readonly storedForm?: string;
  /** Of several readings in one, under one header: the first, whose form an output takes over. */
  readonly first?: SourceReading;
  /** The rows, once; closing the iterator closes the reading. */
  readonly chunks: AsyncIterable<Chunk>;
  /**
   * What distinguishes this content from any other, to be asked when the last row was read; absent where the
   * source's own bytes are not seen.
   */
  contentDigest?(): string;
}

/** Where rows come from. */
export interface Source<Chunk extends RowChunk = RowChunk> {
  /** How messages call it, such as its path; holds no password. */
  readonly name: string;
  /** What distinguishes it from other sources of its name, by option: compared when a run is resumed. */
  readonly decides?: Readonly<Record<string, string>>;
  /** Only on a source that is a file: what is written of it must not be more open. */
  permissions?(): Promise<FilePermissions>;
  /**
   * Begins a reading from the first row. `run()` reads twice, unless there is a `keep`.
   *
   * @throws InputError `input_unreadable`, `input_malformed`
   */
  open(options: OpenSourceOptions): Promise<SourceReading<Chunk>>;
  /**
   * Only on a source that can be read once: reads all of it into a new file and gives the source that
   * reads this file, as often as asked.
   *
   * @param rows how many rows will be asked for at most: what is after them need not be kept
   * @throws InputError, OutputError
   */
  keep?(path: string, signal?: AbortSignal, rows?: number): Promise<Source<Chunk>>;
  /** Only beside `keep`: the source that reads a file which an earlier `keep` has written whole. */
  kept?(path: string): Source<Chunk>;
}

/** The digest of a reading's content, which is known when its last row was read. */
export function digestAtEnd(digest: string | undefined): string {
  if (digest !== undefined) return digest;
  throw new Error('the content is not known before its end was read');
}
