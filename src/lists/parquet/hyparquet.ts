import type { ColumnChunk, Compressors, DataReader, PageHeader } from 'hyparquet';
import { InputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { RandomFile } from '../files/bytes/random-file.js';
import { refuseMissingPackage } from '../../platform/optional-package.js';

/** A page that claims to become larger is a bomb. */
const maxPageBytes = 2 ** 29;

/** What is wrong with a file, in words without cells. */
export class DamagedParquet extends Error {}

const missing = refuseMissingPackage({
  by: 'Parquet',
  install: 'hyparquet hyparquet-compressors hyparquet-writer',
  driver: 'parquet',
});

/** The packages that read and write Parquet, loaded when used. @throws ConfigurationError `missing_dependency` */
export async function loadHyparquet() {
  const [reader, { compressors }, ...parts] = await Promise.all([
    import('hyparquet').catch(missing),
    import('hyparquet-compressors').catch(missing),
    import('hyparquet/src/column.js').catch(missing),
    import('hyparquet/src/datapage.js').catch(missing),
    import('hyparquet/src/encoding.js').catch(missing),
    import('hyparquet/src/plain.js').catch(missing),
    import('hyparquet/src/thrift.js').catch(missing),
  ]);
  const [{ parquetHeader }, pageParts, { readRleBitPackedHybrid }, { readPlain }, thrift] = parts;
  const { decompressPage, readDataPage, readDataPageV2 } = pageParts;
  return {
    reader,
    compressors: boundedCompressors(compressors),
    readThrift: thrift.deserializeTCompactProtocol,
    pages: {
      parquetHeader: (reader: DataReader) => checkPage(parquetHeader(reader)),
      decompressPage,
      readDataPage,
      readDataPageV2,
      readPlain,
      readRleBitPackedHybrid,
    },
  };
}

/** @throws ConfigurationError `missing_dependency` */
export async function loadHyparquetWriter() {
  return import('hyparquet-writer').catch(missing);
}

export type Hyparquet = Awaited<ReturnType<typeof loadHyparquet>>;

/** A page's header decides where its parts are read: refuses an invalid one. */
export function checkPage(header: PageHeader): PageHeader {
  const { compressed_page_size: stored, uncompressed_page_size: inflated } = header;
  const {
    data_page_header: first,
    data_page_header_v2: second,
    dictionary_page_header: words,
  } = header;
  const levels = [
    second?.repetition_levels_byte_length ?? 0,
    second?.definition_levels_byte_length ?? 0,
  ] as const;
  const [values, nulls] = [(first ?? second ?? words)?.num_values ?? 0, second?.num_nulls ?? 0];
  const isSound =
    Math.min(stored, inflated, ...levels, nulls) >= 0 &&
    levels[0] + levels[1] <= Math.min(stored, inflated) &&
    nulls <= values;
  if (!isSound) throw new DamagedParquet('page has parts of an impossible size');
  return header;
}

/** The same for a known writer's files: its first versions compressed pages of the second kind without saying so. */
export function forWriter(hyparquet: Hyparquet, createdBy: string | undefined): Hyparquet {
  if (!/^parquet-cpp(?:-arrow)? version [012]\./.test(createdBy ?? '')) return hyparquet;
  const { pages } = hyparquet;
  const parquetHeader = (reader: DataReader): PageHeader => {
    const header = pages.parquetHeader(reader);
    if (header.data_page_header_v2) header.data_page_header_v2.is_compressed = true;
    return header;
  };
  return { ...hyparquet, pages: { ...pages, parquetHeader } };
}

function boundedCompressors(compressors: Compressors): Compressors {
  return Object.fromEntries(
    Object.entries(compressors).map(([codec, inflate]) => [
      codec,
      (input: Uint8Array, bytes: number) => {
        if (bytes > maxPageBytes) throw new DamagedParquet('page is too large');
        // A page of nulls is empty, which not every decompressor accepts.
        return bytes === 0 ? new Uint8Array(0) : inflate(input, bytes);
      },
    ]),
  );
}

/** The stored values of a column in a row group; an array is one, too. */
export interface StoredValues {
  readonly length: number;
  at(row: number): unknown;
}

export interface CopiedChunk {
  readonly data: NonNullable<ColumnChunk['meta_data']>;
  readonly start: bigint;
  readonly bytes: Uint8Array;
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Damage shows as whatever reading error comes first; its words may contain cells. */
export async function attempt<Result>(
  { name, signal }: RandomFile,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    if (isSluiceError(error)) throw error;
    // The package's own messages that begin so hold no cells either.
    const isPlain =
      error instanceof DamagedParquet ||
      (error instanceof Error && error.message.startsWith('parquet '));
    const words = isPlain ? error.message : '';
    throw new InputError(
      `${name} cannot be read as Parquet: it is damaged, or has something that is not supported${words === '' ? '' : ` (${words.slice(0, 200)})`}; if another program reads it, write it again with that one, or read it through DuckDB (duckdb::memory: and a query)`,
      { fault: 'damaged' },
    );
  }
}
