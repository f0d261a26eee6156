import { isDeepStrictEqual } from 'node:util';
import type { AsyncBuffer, FileMetaData, RowGroup, SchemaElement } from 'hyparquet';
import { InputError, type ErrorFault, OutputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { RandomFile } from '../files/bytes/random-file.js';
import { describeFile, utf8Mark } from '../files/file-signature.js';
import { closableChunks } from '../rows/chunks/row-chunk.js';
import { digestAtEnd, type OpenSourceOptions } from '../rows/source.js';
import { attempt, forWriter, type Hyparquet, loadHyparquet } from './hyparquet.js';
import {
  ParquetChunk,
  type ParquetReading,
  type OpenParquet,
  startOf,
  StoredGroup,
} from './stored-group.js';
import { type ParquetColumn, parquetColumns } from './parquet-values.js';

const chunkRows = 4096;
/** A row group is held in memory: larger ones are not contacts. */
const maxGroupBytes = 2 ** 31;
const maxGroupRows = 2 ** 24;

/**
 * Opens one reading of a Parquet file, row group by row group; closes the file when that fails.
 *
 * @throws InputError `input_malformed`; ConfigurationError `missing_dependency`; errors of `wanted`
 */
export async function openParquet(
  file: RandomFile,
  opening: OpenSourceOptions,
): Promise<ParquetReading> {
  try {
    const from = await readFooter(file);
    const { columns, metadata } = from;
    const header = columns.map(({ name }) => name);
    const wanted = opening.wanted(header);
    let loaded: readonly number[] | undefined;
    let digest: string | undefined;
    const chunks = async function* (): AsyncGenerator<ParquetChunk> {
      yield* readGroups(from, (group) => (loaded ? group.keep(loaded) : group.load()));
      digest = await file.digest();
    };
    return {
      copyGroups() {
        loaded = [...wanted, ...(opening.needed?.(header) ?? [])];
      },
      header,
      columns,
      notes: metadata.key_value_metadata ?? [],
      kinds: columns.map(({ kind, elements: [element] }) =>
        // Without any value, unannotated bytes are bytes.
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

async function readFooter(file: RandomFile): Promise<OpenParquet> {
  const hyparquet = await loadHyparquet();
  const metadata = await readMetadata(file, hyparquet);
  const columns = parquetColumns(metadata.schema);
  return { file, metadata, columns, hyparquet: forWriter(hyparquet, metadata.created_by) };
}

async function readMetadata(file: RandomFile, hyparquet: Hyparquet): Promise<FileMetaData> {
  const mark = Buffer.from('PAR1');
  const head = await file.read(0, 16);
  if (!head.subarray(0, mark.length).equals(mark)) {
    const is = describeFile(head, file.name);
    const fault = head.length === 0 ? 'empty' : 'other_format';
    if (is === undefined) throw new InputError(`${file.name} is not a Parquet file`, { fault });
    throw new InputError(`${file.name} cannot be read as Parquet: it is ${is}`, { fault });
  }
  const tail = await file.read(Math.max(0, file.size - 8), file.size);
  if (file.size < 12 || !tail.subarray(4).equals(mark)) {
    throw new InputError(`${file.name} does not end as a Parquet file does: it was cut short`, {
      fault: 'cut_short',
    });
  }
  const metadata = await attempt(file, async () =>
    withMarks(
      await hyparquet.reader.parquetMetadataAsync(bufferOf(file), { geoparquet: false }),
      await file.read(file.size - 8 - tail.readUInt32LE(tail.length - 8), file.size - 8),
      hyparquet,
    ),
  );
  if (metadata.schema.length < 2)
    throw new InputError(`${file.name} has no columns`, { fault: 'empty' });
  metadata.row_groups.forEach((group, at) => checkGroup(group, at, file));
  const rows = metadata.row_groups.reduce((sum, group) => sum + group.num_rows, 0n);
  // Some old writers count rows only in the groups, not in the footer.
  if (rows === metadata.num_rows || metadata.num_rows === 0n)
    return { ...metadata, num_rows: rows };
  throw new InputError(`${file.name} is damaged: its row groups do not add up to its rows`, {
    fault: 'damaged',
  });
}

/** Gives names their byte-order marks, without which hyparquet reads them: `\ufeffid` and `id` are two columns. */
function withMarks(
  metadata: FileMetaData,
  footer: Buffer,
  { readThrift }: Hyparquet,
): FileMetaData {
  if (!footer.includes(Buffer.from(utf8Mark))) return metadata;
  const view = new DataView(footer.buffer, footer.byteOffset, footer.length);
  const raw: RawMetadata = readThrift({ view, offset: 0 }) as unknown as RawMetadata;
  for (const [at, { field_4: name }] of raw.field_2.entries()) {
    const element = metadata.schema[at];
    if (element && name) element.name = nameOf(name);
  }
  for (const [at, { field_1: chunks }] of raw.field_4.entries()) {
    for (const [column, { field_3: data }] of chunks.entries()) {
      const stored = metadata.row_groups[at]?.columns[column]?.meta_data;
      if (stored && data) stored.path_in_schema = data.field_3.map(nameOf);
    }
  }
  return metadata;
}

/** Parts of a footer as Thrift numbers them. */
interface RawMetadata {
  readonly field_2: readonly { readonly field_4?: Uint8Array }[];
  readonly field_4: readonly {
    readonly field_1: readonly { readonly field_3?: { readonly field_3: readonly Uint8Array[] } }[];
  }[];
}

function nameOf(name: Uint8Array): string {
  return Buffer.from(name).toString('utf8');
}

/** A group's metadata decides how much memory it takes: refuses an invalid one. */
function checkGroup({ columns, num_rows: rows }: RowGroup, at: number, file: RandomFile): void {
  const refuse = (why: string, fault: ErrorFault): never => {
    throw new InputError(`${file.name}, row group ${String(at + 1)}: ${why}`, { fault });
  };
  let bytes = 0;
  for (const { meta_data: data, crypto_metadata: encryption, file_path: otherFile } of columns) {
    if (otherFile) return refuse('a column lies in another file', 'unsupported');
    if (encryption)
      return refuse(
        'a column is encrypted; write the file without encryption first',
        'unsupported',
      );
    if (!data) return refuse('a column has no metadata', 'damaged');
    bytes += Number(data.total_uncompressed_size);
    const start = Number(startOf(data));
    const end = start + Number(data.total_compressed_size);
    // Damaged metadata may not be numbers.
    if (!(start >= 0 && end >= start && end <= file.size)) {
      refuse('a column lies after the end of the file: it was cut short or is damaged', 'damaged');
    }
  }
  if (rows < 0n || rows > BigInt(maxGroupRows) || bytes > maxGroupBytes || bytes < 0) {
    refuse(
      `with ${String(rows)} rows and ${String(bytes)} bytes it is too large to be held; write the file with smaller row groups`,
      'too_large',
    );
  }
}

async function* readGroups(
  from: OpenParquet,
  load: (group: StoredGroup) => Promise<void>,
): AsyncGenerator<ParquetChunk> {
  const { columns, metadata } = from;
  for (const group of metadata.row_groups) {
    const stored = new StoredGroup(from, group);
    const { rows } = stored;
    await load(stored);
    for (let at = 0; at < rows; at += chunkRows) {
      yield new ParquetChunk(columns, stored, at, Math.min(rows, at + chunkRows));
    }
  }
}

interface WrittenParquet {
  readonly schema: readonly SchemaElement[];
  readonly rows: number;
  readonly groups: number;
}

/** Reads back what was written before it may appear: the footer, the counts, first and last row group; then closes. */
export async function checkWritten(
  file: RandomFile,
  written: WrittenParquet,
): Promise<{
  readonly columns: readonly ParquetColumn[];
  readonly first: StoredGroup | undefined;
}> {
  try {
    const from = await readFooter(file);
    const { columns, metadata } = from;
    const groups = metadata.row_groups;
    const isSame =
      Number(metadata.num_rows) === written.rows &&
      groups.length === written.groups &&
      groups.reduce((rows, group) => rows + Number(group.num_rows), 0) === written.rows &&
      isDeepStrictEqual(formsOf(metadata.schema), formsOf(written.schema.map(asReadBack)));
    if (!isSame) throw new InputError('it does not tell what was written');
    const [first] = groups.map((group) => new StoredGroup(from, group));
    await first?.load();
    const last = groups.at(-1);
    if (last && groups.length > 1) await new StoredGroup(from, last).load();
    return { columns, first };
  } catch (cause) {
    if (!isSluiceError(cause) || cause.code === 'missing_dependency') throw cause;
    throw new OutputError(
      `${file.name} was not written: read back, it is not a Parquet file as it should be (${cause.message})`,
      { cause },
    );
  } finally {
    await file.close();
  }
}

/** Half of a surrogate pair has no bytes. */
function asReadBack(element: SchemaElement): SchemaElement {
  return { ...element, name: Buffer.from(element.name).toString('utf8') };
}

/** The essential properties of each column in a schema. */
function formsOf(schema: readonly SchemaElement[]): unknown {
  return schema.map(({ name, type, type_length, num_children, ...rest }) => [
    [name, type, type_length, num_children].map((part) => part ?? null),
    [rest.converted_type, rest.precision, rest.scale].map((part) => part ?? null),
    JSON.parse(JSON.stringify(rest.logical_type ?? null)) as unknown,
  ]);
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
