import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import { CsvReading } from './csv-reading.js';
import { findDialect, type CsvDialect, type GivenDialect } from './find-dialect.js';
import { ParsedCsvReading } from './parsed-csv-reading.js';
import type { PeekReader } from './peek-reader.js';

export interface OpenCsvOptions extends GivenDialect {
  /** How messages call the input. */
  readonly name: string;
  readonly isTsv: boolean;
  readonly header?: boolean;
  readonly maxRowBytes: number;
}

/** So much of a file shows its dialect; more would only be looked at longer. */
const mostLookedAt = 64 * 1024;

/**
 * Opens CSV or TSV in UTF-8: by its bytes where its dialect is the usual one, through csv-parse where
 * it is not.
 *
 * @throws InputError, ConfigurationError; what `wanted` throws
 */
export async function openCsv(
  reader: PeekReader,
  options: OpenCsvOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading> {
  const { name, isTsv, maxRowBytes } = options;
  const hasHeader = options.header ?? true;
  const first = await reader.peekLine(mostLookedAt);
  const dialect = findDialect(first.subarray(0, mostLookedAt), options, isTsv);
  if (!isScannable(dialect)) {
    return ParsedCsvReading.open(reader, { name, hasHeader, dialect, isTsv, maxRowBytes }, opening);
  }
  const { delimiter } = dialect;
  return CsvReading.open(name, reader, { hasHeader, delimiter, isTsv, maxRowBytes }, opening);
}

/** What the byte scanner is made for: double quotes, doubled inside, and a delimiter of one byte. */
function isScannable({ delimiter, quote, escape }: CsvDialect): boolean {
  return quote === '"' && escape === '"' && /^[\t !#-~]$/.test(delimiter);
}
