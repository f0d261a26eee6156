import type { Compressors } from 'hyparquet';
import { InputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { RandomFile } from '../../platform/files/random-file.js';
import { refuseMissingPackage } from '../../platform/optional-package.js';

/** A page that says it becomes larger is a bomb. */
const maxPageBytes = 2 ** 29;

const missing = refuseMissingPackage({
  by: 'Parquet',
  install: 'hyparquet hyparquet-compressors hyparquet-writer',
  driver: 'parquet',
});

/**
 * The packages that read and write Parquet, loaded when they are used only.
 *
 * @throws ConfigurationError `missing_dependency`
 */
export async function loadHyparquet() {
  const [reader, { compressors }, ...parts] = await Promise.all([
    import('hyparquet').catch(missing),
    import('hyparquet-compressors').catch(missing),
    import('hyparquet/src/column.js').catch(missing),
    import('hyparquet/src/datapage.js').catch(missing),
    import('hyparquet/src/encoding.js').catch(missing),
    import('hyparquet/src/plain.js').catch(missing),
  ]);
  const [{ parquetHeader }, pageParts, { readRleBitPackedHybrid }, { readPlain }] = parts;
  const { decompressPage, readDataPage, readDataPageV2 } = pageParts;
  return {
    reader,
    compressors: boundedCompressors(compressors),
    pages: {
      parquetHeader,
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

function boundedCompressors(compressors: Compressors): Compressors {
  return Object.fromEntries(
    Object.entries(compressors).map(([codec, inflate]) => [
      codec,
      (input: Uint8Array, bytes: number) => {
        if (bytes > maxPageBytes) throw new Error('parquet page is too large');
        // A page of nulls holds nothing, which not every compressor takes back.
        return bytes === 0 ? new Uint8Array(0) : inflate(input, bytes);
      },
    ]),
  );
}

/** A damaged file shows as whatever goes wrong first in reading it; its words may hold cells. */
export async function attempt<Result>(
  { name, signal }: RandomFile,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    if (isSluiceError(error)) throw error;
    const words =
      error instanceof Error && error.message.startsWith('parquet ') ? error.message : '';
    throw new InputError(
      `${name} cannot be read as Parquet: it is damaged, or has something that is not supported${words === '' ? '' : ` (${words.slice(0, 200)})`}; if another program reads it, write it anew with that one, or read it through DuckDB (duckdb::memory: and a query)`,
    );
  }
}
