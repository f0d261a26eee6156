import { ConfigurationError } from '../errors/family.js';

/** The kinds of files that are read and written. */
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

/** Endings that name another kind of file, which must not be written as if it were CSV. */
const otherEndings = new Set(
  'json xls xlsm xlsb ods numbers zip bz2 xz zst 7z avro orc arrow feather xml html pdf db sqlite duckdb'.split(
    ' ',
  ),
);

/** What a path's ending says of a file. */
export interface NamedFormat {
  /** `undefined` where the ending names none. */
  readonly format: FileFormat | undefined;
  readonly isGzip: boolean;
  /** The ending when it is that of another kind of file. */
  readonly other: string | undefined;
}

export function formatOfPath(path: string): NamedFormat {
  const isGzip = /\.gz$/i.test(path);
  const ending = /\.([^./\\]+)$/.exec(isGzip ? path.slice(0, -3) : path)?.[1]?.toLowerCase();
  const format = ending === undefined ? undefined : endings.get(ending);
  const isOther = ending !== undefined && otherEndings.has(ending);
  return { format, isGzip, other: isOther ? `.${ending}` : undefined };
}

/**
 * The format of that name (`ndjson` is `jsonl`).
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * console.log(parseFileFormat('ndjson')); // jsonl
 * ```
 */
export function parseFileFormat(name: string): FileFormat {
  const format = endings.get(name.toLowerCase());
  if (format !== undefined) return format;
  throw new ConfigurationError(
    `there is no format ${JSON.stringify(name)} here: choose ${fileFormats.join(', ')}`,
  );
}

/** Whether the bytes of a format can be read from any place only. */
export function isRandomAccess(format: FileFormat): format is 'xlsx' | 'parquet' {
  return format === 'xlsx' || format === 'parquet';
}
