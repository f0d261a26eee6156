import { isDeepStrictEqual } from 'node:util';
import type { AsyncBuffer, Compressors, FileMetaData, RowGroup, SchemaElement } from 'hyparquet';
import { InputError, OutputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { RandomFile } from '../../platform/files/random-file.js';
import { refuseMissingPackage } from '../../platform/optional-package.js';
import { describeFile } from '../files/file-signature.js';
import { closableChunks } from '../rows/chunks/row-chunk.js';
import { digestAtEnd, type OpenSourceOptions } from '../rows/source.js';
import {
  ParquetChunk,
  type ParquetColumn,
  parquetColumns,
  type ParquetReading,
} from './parquet-chunk.js';
import { elementsToRead } from './schema-node.js';

/** So many rows of a row group travel together. */
const chunkRows = 4096;
/** A row group is held whole: larger ones are not for a list of contacts. */
const maxGroupBytes = 2 ** 31;
const maxGroupRows = 2 ** 24;
/** The reader looks through all columns that it is given for each of them, and takes nested ones apart at once. */
const elementsAtOnce = 32;
/** A page that says it becomes larger is a bomb. */
const maxPageBytes = 2 ** 29;

type Hyparquet = Awaited<ReturnType<typeof loadHyparquet>>;

/**
 * Opens one reading of a Parquet file, row group by row group; the file is closed when that fails.
 *
 * @throws InputError `input_malformed`; ConfigurationError `missing_dependency`; what `wanted` throws
 */
export async function openParquet(
  file: RandomFile,
  opening: OpenSourceOptions,
): Promise<ParquetReading> {
  try {
    const hyparquet = await loadHyparquet();
    const buffer = bufferOf(file);
    const metadata = await readMetadata(file, buffer, hyparquet);
    const columns = parquetColumns(metadata.schema);
    const header = columns.map(({ name }) => name);
    opening.wanted(header);
    let digest: string | undefined;
    const chunks = async function* (): AsyncGenerator<ParquetChunk> {
      yield* readGroups({ file, buffer, metadata, columns, hyparquet });
      digest = await file.digest();
    };
    return {
      header,
      columns,
      kinds: columns.map(({ kind, elements: [element] }) =>
        // Without any value old bytes are bytes.
        kind === undefined && metadata.num_rows === 0n && element?.type !== undefined
          ? { name: 'binary' }
          : kind,
      ),
      storedForm: JSON.stringify(columns.map(({ elements }) => elements)),
      chunks: closableChunks(chunks(), () => file.close()),
      contentDigest: () => digestAtEnd(digest),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readMetadata(
  file: RandomFile,
  buffer: AsyncBuffer,
  { reader }: Hyparquet,
): Promise<FileMetaData> {
  const mark = Buffer.from('PAR1');
  const head = await file.read(0, 16);
  if (file.size < 12 || !head.subarray(0, mark.length).equals(mark)) {
    const is = describeFile(head);
    if (is === undefined) throw new InputError(`${file.name} is no Parquet file`);
    throw new InputError(`${file.name} cannot be read as Parquet: it is ${is}`);
  }
  if (!(await file.read(file.size - 4, file.size)).equals(mark)) {
    throw new InputError(`${file.name} does not end as a Parquet file does: it was cut short`);
  }
  const metadata = await attempt(file, () =>
    reader.parquetMetadataAsync(buffer, { geoparquet: false }),
  );
  if (metadata.schema.length < 2) throw new InputError(`${file.name} has no columns`);
  metadata.row_groups.forEach((group, at) => checkGroup(group, at, file));
  return metadata;
}

/** What a group says of itself decides how much memory is taken for it. */
function checkGroup({ columns, num_rows: rows }: RowGroup, at: number, file: RandomFile): void {
  const refuse = (why: string): never => {
    throw new InputError(`${file.name}, row group ${String(at + 1)}: ${why}`);
  };
  let bytes = 0;
  for (const { meta_data: data } of columns) {
    if (!data) return refuse('a column has no metadata, as in encrypted files');
    bytes += Number(data.total_uncompressed_size);
    const start = Number(data.dictionary_page_offset ?? data.data_page_offset);
    if (start < 0 || start + Number(data.total_compressed_size) > file.size) {
      refuse('a column lies after the end of the file: it was cut short or is damaged');
    }
  }
  if (rows < 0n || rows > BigInt(maxGroupRows) || bytes > maxGroupBytes || bytes < 0) {
    refuse(
      `with ${String(rows)} rows and ${String(bytes)} bytes it is too large to be held; write the file with smaller row groups`,
    );
  }
}

/** A file whose footer was read. */
interface OpenParquet {
  readonly file: RandomFile;
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: readonly ParquetColumn[];
  readonly hyparquet: Hyparquet;
}

async function* readGroups(from: OpenParquet): AsyncGenerator<ParquetChunk> {
  const { file, columns, metadata } = from;
  let read = 0n;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const stored = await readGroup(from, group);
    for (let at = 0; at < rows; at += chunkRows) {
      yield new ParquetChunk(columns, stored, at, Math.min(rows, at + chunkRows));
    }
    read += group.num_rows;
  }
  if (read !== metadata.num_rows) {
    throw new InputError(`${file.name} is damaged: its row groups do not add up to its rows`);
  }
}

/** For each column the values of a row group. */
async function readGroup(
  from: OpenParquet,
  group: RowGroup | undefined,
): Promise<readonly ArrayLike<unknown>[]> {
  const stored: ArrayLike<unknown>[] = [];
  if (!group || group.num_rows === 0n) return stored;
  for (let at = 0; at < from.columns.length; at = stored.length) {
    let [end, elements] = [at, 0];
    while (end < from.columns.length && elements < elementsAtOnce) {
      elements += from.columns[end]?.elements.length ?? 0;
      end += 1;
    }
    const columns = from.columns.slice(at, end);
    stored.push(...(await readColumns({ ...from, columns }, group)));
  }
  return stored;
}

async function readColumns(
  from: OpenParquet,
  group: RowGroup,
): Promise<readonly ArrayLike<unknown>[]> {
  const { reader, compressors } = from.hyparquet;
  const rows = Number(group.num_rows);
  const at = new Map(from.columns.map(({ name }, column) => [name, column]));
  const chunks = group.columns.filter(({ meta_data: data }) =>
    at.has(data?.path_in_schema[0] ?? ''),
  );
  const metadata = {
    ...from.metadata,
    // Values are read as they are stored: what they stand for is decided here, without rounding.
    schema: storedSchema(from.columns, from.metadata.schema),
    num_rows: group.num_rows,
    row_groups: [{ ...group, columns: chunks }],
  };
  const stored: ArrayLike<unknown>[] = from.columns.map(() => []);
  const filled = from.columns.map(() => 0);
  await attempt(from.file, async () =>
    reader.parquetRead({
      file: from.buffer,
      metadata,
      compressors: boundedCompressors(compressors),
      utf8: false,
      geoparquet: false,
      onChunk({ columnName, columnData, rowStart }) {
        const column = at.get(columnName);
        if (column === undefined) return;
        if (columnData.length === rows) {
          stored[column] = columnData;
        } else {
          const into = stored[column] as unknown[];
          for (let row = 0; row < columnData.length; row += 1) {
            into[rowStart + row] = columnData[row];
          }
        }
        filled[column] = (filled[column] ?? 0) + columnData.length;
      },
    }),
  );
  if (filled.some((count) => count !== rows)) {
    throw new InputError(`${from.file.name} is damaged: a column has fewer values than rows`);
  }
  return stored;
}

/** What a file is to hold that was written. */
export interface WrittenParquet {
  readonly schema: readonly SchemaElement[];
  readonly rows: number;
  readonly groups: number;
}

/**
 * Reads back what was written before it may stand: the footer, the counts, the first and the last row
 * group; the file is closed.
 *
 * @throws OutputError
 */
export async function checkWritten(
  file: RandomFile,
  written: WrittenParquet,
): Promise<{
  readonly columns: readonly ParquetColumn[];
  /** For each column the values of the first row group. */
  readonly stored: readonly ArrayLike<unknown>[];
}> {
  try {
    const hyparquet = await loadHyparquet();
    const buffer = bufferOf(file);
    const metadata = await readMetadata(file, buffer, hyparquet);
    const groups = metadata.row_groups;
    const isSame =
      Number(metadata.num_rows) === written.rows &&
      groups.length === written.groups &&
      groups.reduce((rows, group) => rows + Number(group.num_rows), 0) === written.rows &&
      isDeepStrictEqual(formsOf(metadata.schema), formsOf(written.schema));
    if (!isSame) throw new InputError('it does not tell what was written');
    const columns = parquetColumns(metadata.schema);
    const from = { file, buffer, metadata, columns, hyparquet };
    const stored = await readGroup(from, groups[0]);
    if (groups.length > 1) await readGroup(from, groups.at(-1));
    return { columns, stored };
  } catch (cause) {
    if (!isSluiceError(cause) || cause.code === 'missing_dependency') throw cause;
    throw new OutputError(
      `${file.name} was not written: read back, it is no Parquet file as it should be (${cause.message})`,
      { cause },
    );
  } finally {
    await file.close();
  }
}

/** What a schema says of each column, whatever is only absent. */
function formsOf(schema: readonly SchemaElement[]): unknown {
  return schema.map(({ name, type, type_length, num_children, ...rest }) => [
    [name, type, type_length, num_children].map((part) => part ?? null),
    [rest.converted_type, rest.precision, rest.scale].map((part) => part ?? null),
    JSON.parse(JSON.stringify(rest.logical_type ?? null)) as unknown,
  ]);
}

/** These columns without what they stand for. */
function storedSchema(
  columns: readonly ParquetColumn[],
  [root]: readonly SchemaElement[],
): SchemaElement[] {
  return [
    ...(root === undefined ? [] : [{ ...root, num_children: columns.length }]),
    ...columns.flatMap(({ elements }) => elementsToRead(elements)),
  ];
}

function bufferOf(file: RandomFile): AsyncBuffer {
  return {
    byteLength: file.size,
    async slice(start, end = file.size) {
      const bytes = await file.read(start, end);
      return new Uint8Array(bytes).buffer;
    },
  };
}

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
async function attempt<Result>(
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
      `${name} cannot be read as Parquet: it is damaged, or has something that is not supported${words === '' ? '' : ` (${words.slice(0, 200)})`}`,
    );
  }
}

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
  const [reader, { compressors }] = await Promise.all([
    import('hyparquet').catch(missing),
    import('hyparquet-compressors').catch(missing),
  ]);
  return { reader, compressors };
}

/** @throws ConfigurationError `missing_dependency` */
export async function loadHyparquetWriter() {
  return import('hyparquet-writer').catch(missing);
}
