import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import { FooterReader } from './dialect/footer-reader.js';
import { readToHeader } from './dialect/header-detection.js';
import { CsvReading } from './csv-reading.js';
import type { CsvDialect, GivenDialect } from './dialect/find-dialect.js';
import { ParsedCsvReading } from './parsed-csv-reading.js';
import { withoutMissingHeader } from './dialect/missing-header.js';
import type { PeekReader } from '../files/bytes/byte-reader.js';

interface OpenCsvOptions extends GivenDialect {
  /** How messages call the input. */
  readonly name: string;
  readonly isTsv: boolean;
  /** Whether the input is a table under a name that ends in .txt. */
  readonly isTxt: boolean;
  readonly header?: boolean | undefined;
  readonly skipRows?: number | undefined;
  readonly skipFooter?: number | undefined;
  readonly maxRowBytes: number;
}

/**
 * Opens CSV or TSV in UTF-8: by its bytes where its dialect is the usual one, through csv-parse where
 * it is not.
 *
 * @throws InputError, ConfigurationError; what `wanted` throws
 */
export async function openCsv(
  reader: PeekReader,
  options: OpenCsvOptions,
  given: OpenSourceOptions,
): Promise<SourceReading> {
  const { name, maxRowBytes, isTxt, skipFooter } = options;
  const opening = withoutMissingHeader(given, name, options);
  const hasHeader = options.header ?? true;
  const { above, dialect } = await readToHeader(reader, {
    ...options,
    hasHeader,
    skipRows: options.skipRows,
  });
  if (above.isGuessed) {
    opening.onHeaderFound?.({ input: name, unit: 'line', number: above.lines + 1 });
  }
  const isTsv = isTxt ? dialect.delimiter === '\t' : options.isTsv;
  const form = { name, isTsv, isTxt, maxRowBytes, above };
  const rows = new FooterReader(reader, {
    name,
    dialect,
    skipFooter,
    onFooterFound: (found) => opening.onFooterFound?.(found),
  });
  if (!isScannable(dialect)) {
    return ParsedCsvReading.open(rows, { ...form, hasHeader, dialect }, opening);
  }
  const { delimiter } = dialect;
  return CsvReading.open(name, rows, { ...form, hasHeader, delimiter }, opening);
}

/** What the byte scanner is made for: double quotes, doubled inside, and a delimiter of one byte. */
function isScannable({ delimiter, quote, escape }: CsvDialect): boolean {
  return quote === '"' && escape === '"' && /^[\t !#-~]$/.test(delimiter);
}
