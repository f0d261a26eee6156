import { ConfigurationError } from '../../platform/errors/errors.js';
import type { OptionShape } from '../../platform/check-options.js';
import { amount, count, flag, oneOf, text } from '../../platform/option-kinds.js';

export const fileFormats = ['csv', 'tsv', 'jsonl', 'txt', 'xlsx', 'parquet'] as const;

export type FileFormat = (typeof fileFormats)[number];

const endings = new Map<string, FileFormat>([
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['tab', 'tsv'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['txt', 'txt'],
  ['xlsx', 'xlsx'],
  ['parquet', 'parquet'],
]);

interface NamedFormat {
  readonly format: FileFormat | undefined;
  readonly isGzip: boolean;
  /** An unknown ending: CSV must not be written there by chance. */
  readonly other: string | undefined;
}

export function formatOfPath(path: string): NamedFormat {
  const isGzip = /\.gz$/i.test(path);
  const ending = /\.([^./\\]+)$/.exec(isGzip ? path.slice(0, -3) : path)?.[1]?.toLowerCase();
  const format = ending === undefined ? undefined : endings.get(ending);
  // The part after the last dot of a date or version (report.2026-11-23) is not an ending.
  const isOther = format === undefined && /^[a-z][a-z\d]{0,7}$|^7z$/.test(ending ?? '');
  return { format, isGzip, other: isOther ? `.${ending}` : undefined };
}

/** The format of that name (`ndjson` is `jsonl`). @throws ConfigurationError `invalid_option` */
export function parseFileFormat(name: string): FileFormat {
  const format = endings.get(name.toLowerCase());
  if (format !== undefined) return format;
  throw new ConfigurationError(
    `unknown format ${JSON.stringify(name)}: choose ${fileFormats.join(', ')}`,
    { option: 'format' },
  );
}

/**
 * Which columns the header of a JSONL source has to have, for rows that go to an output: rows that are
 * copied as JSON need no common header.
 *
 * @param output its path or URL; a format that is given counts in place of its ending
 */
export function columnsFor(output: string | URL | undefined, format?: FileFormat): 'first' | 'all' {
  const written = format ?? (output && formatOfPath(String(output)).format);
  return written === 'jsonl' ? 'first' : 'all';
}

export function isRandomAccess(format: FileFormat): format is 'xlsx' | 'parquet' {
  return format === 'xlsx' || format === 'parquet';
}

/** What is known about an input; the rest is detected. */
export interface FileOptions {
  /** @default by its ending, else by its first bytes */
  readonly format?: FileFormat | undefined;
  /**
   * Whether the first row names the columns; otherwise they are named `#1`, `#2`, … Only CSV, TSV and XLSX
   * may lack a header.
   * @default true
   */
  readonly header?: boolean | undefined;
  /**
   * CSV, TSV and XLSX: number of lines, or rows of the sheet, above the header, including a `sep=` line.
   * @default detected by the rows around the header, where clear
   */
  readonly skipRows?: number | undefined;
  /**
   * CSV, TSV and XLSX: number of lines, or rows of the sheet with a value, below the last row; 0 for no
   * footer.
   * @default detected where clear: a total, a copyright
   */
  readonly skipFooter?: number | undefined;
  /**
   * CSV: the field delimiter, one character or more.
   * @default auto-detected; TSV: a tab
   */
  readonly delimiter?: string | undefined;
  /**
   * CSV and TSV: the quote around a cell; `none` where quotes are ordinary characters.
   * @default auto-detected
   */
  readonly quote?: string | undefined;
  /**
   * CSV and TSV: the escape before a quote inside a quoted cell.
   * @default auto-detected: the quote itself, or a backslash
   */
  readonly escape?: string | undefined;
  /**
   * Text files: `latin1`, or a name of the Encoding Standard, such as `utf-16le`, `windows-1252`, `shift_jis`.
   * @default what a byte-order mark says, else UTF-8
   */
  readonly encoding?: string | undefined;
  /**
   * XLSX: the sheet's name, or its number, counted from 1. Several sheets are one list: names or numbers
   * separated by commas, or `all`. Each needs the verified columns.
   * @default 1
   */
  readonly sheet?: string | number | undefined;
  /**
   * JSONL: whether the columns are those of the first rows (at least one, up to 256 KiB), or of all, which
   * takes another reading of a file. Other formats than JSONL need all.
   * @default 'first'
   */
  readonly columns?: 'first' | 'all' | undefined;
  /**
   * Most bytes of a row: an unclosed quote must not swallow the file.
   * @default 16 MiB
   */
  readonly maxRowBytes?: number | undefined;
}

export const fileShape: OptionShape<FileOptions> = {
  format: oneOf(fileFormats),
  header: flag,
  skipRows: { ...amount, what: 'a whole number of 0 or more' },
  skipFooter: { ...amount, what: 'a whole number of 0 or more' },
  delimiter: text,
  quote: text,
  escape: text,
  encoding: text,
  sheet: {
    what: 'the name of a sheet, or its number',
    isRight: (value) => text.isRight(value) || count.isRight(value),
  },
  columns: oneOf(['first', 'all']),
  maxRowBytes: count,
};

export const defaultMaxRowBytes = 16 * 1024 * 1024;

const known: Readonly<Record<FileFormat, readonly (keyof FileOptions)[]>> = {
  csv: ['header', 'skipRows', 'skipFooter', 'delimiter', 'quote', 'escape', 'encoding'],
  tsv: ['header', 'skipRows', 'skipFooter', 'delimiter', 'quote', 'escape', 'encoding'],
  jsonl: ['columns', 'encoding'],
  txt: ['header', 'encoding'],
  xlsx: ['header', 'skipRows', 'skipFooter', 'sheet'],
  parquet: [],
};

export function refuseUnknown(format: FileFormat, options: FileOptions): void {
  for (const name of ['delimiter', 'quote', 'escape', 'encoding', 'sheet'] as const) {
    if (options[name] === undefined || known[format].includes(name)) continue;
    throw new ConfigurationError(`a ${format} input has no ${name} to be named`, { option: name });
  }
  if (options.skipRows !== undefined && !known[format].includes('skipRows')) {
    throw new ConfigurationError(`a ${format} input has no rows above a header to be skipped`, {
      option: 'skipRows',
    });
  }
  if (options.skipFooter !== undefined && !known[format].includes('skipFooter')) {
    throw new ConfigurationError(`a ${format} input has no footer to be skipped`, {
      option: 'skipFooter',
    });
  }
  if (options.header === false && !known[format].includes('header')) {
    throw new ConfigurationError(`a ${format} input names its columns in every case`, {
      option: 'header',
    });
  }
}
