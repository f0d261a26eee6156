import { ConfigurationError } from '../../platform/errors/errors.js';

/** The supported file formats. */
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

/** What a path's ending says about a file. */
interface NamedFormat {
  /** `undefined` for an unknown ending. */
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

/**
 * The format of that name (`ndjson` is `jsonl`).
 *
 * @throws ConfigurationError `invalid_option`
 */
export function parseFileFormat(name: string): FileFormat {
  const format = endings.get(name.toLowerCase());
  if (format !== undefined) return format;
  throw new ConfigurationError(
    `unknown format ${JSON.stringify(name)}: choose ${fileFormats.join(', ')}`,
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

/** Whether a format needs random access. */
export function isRandomAccess(format: FileFormat): format is 'xlsx' | 'parquet' {
  return format === 'xlsx' || format === 'parquet';
}
