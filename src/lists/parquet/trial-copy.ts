import { isDeepStrictEqual } from 'node:util';
import type { KeyValue, SchemaElement } from 'hyparquet';
import type { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { InputError } from '../../platform/errors/errors.js';
import type { RandomFile } from '../files/bytes/random-file.js';
import type { OpenSinkOptions, RowValidator } from '../rows/sink.js';
import { withAddedFields } from './arrow-schema.js';
import type { loadHyparquetWriter } from './hyparquet.js';
import { checkWritten } from './parquet-reading.js';
import { int96Nanos, type ParquetColumn, storedChanger } from './parquet-values.js';
import {
  bare,
  elementsToWrite,
  isFlat,
  isList,
  isVariant,
  nodeOf,
  type SchemaNode,
} from './schema-node.js';
import { ParquetChunk } from './stored-group.js';

type Writer = Awaited<ReturnType<typeof loadHyparquetWriter>>;

export interface ColumnCopy {
  readonly elements: readonly SchemaElement[];
  readonly renew?: (stored: unknown) => unknown;
}

/**
 * How each column of a Parquet input is copied; `undefined` for those that cannot be written in stored form,
 * which is tried: a sample value of the type is written and read back.
 */
export async function columnCopies(
  columns: readonly ParquetColumn[],
  packages: Writer,
): Promise<readonly (ColumnCopy | undefined)[]> {
  const copies = columns.map(({ elements }) => copyOf(elements));
  if (await isKept(columns, copies, packages)) return copies;
  if (columns.length <= 1) return columns.map(() => undefined);
  const middle = Math.ceil(columns.length / 2);
  return [
    ...(await columnCopies(columns.slice(0, middle), packages)),
    ...(await columnCopies(columns.slice(middle), packages)),
  ];
}

/** Notes of programs that list all columns and their types: a reader of them would miss the new columns, or fail. */
const schemaNotes: ReadonlySet<string> = new Set([
  'ARROW:schema',
  'avro.schema',
  'huggingface',
  'iceberg.schema',
  'org.apache.spark.sql.parquet.row.metadata',
  'parquet.avro.schema',
  'parquet.proto.class',
  'parquet.proto.descriptor',
  'thrift.class',
  'thrift.descriptor',
]);

/** The notes that are still true: pandas' index, the columns of geographies, those of a user, and Arrow's with the new columns. */
export function lastingNotes(
  notes: readonly KeyValue[],
  copies: readonly (ColumnCopy | undefined)[],
  added: OpenSinkOptions['added'],
): readonly KeyValue[] {
  const isWhole = copies.every((copy) => copy !== undefined);
  const isSame = isWhole && copies.every(({ renew }) => !renew);
  return notes.flatMap((note) => {
    const { key, value } = note;
    if (isSame && added.flat().length === 0) return [note];
    if (isSame && key === 'ARROW:schema') {
      const grown = withAddedFields(value ?? '', copies.length, added.flat());
      return grown === undefined ? [] : [{ key, value: grown }];
    }
    // Geographies are bytes or structures, which a column of text is not.
    return schemaNotes.has(key) || (key === 'geo' && !isWhole) ? [] : [note];
  });
}

/** 96-bit times can be read but are no longer written: they become 64-bit nanoseconds. */
function copyOf(elements: readonly SchemaElement[]): ColumnCopy {
  const column = elements[0]?.name ?? '';
  const renew = storedChanger(elements, ({ type }) =>
    type === 'INT96' ? (stored) => renewTime(stored, column) : undefined,
  );
  return {
    elements: elements.map((element) =>
      element.type === 'INT96'
        ? {
            ...bare(element),
            type: 'INT64',
            logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' },
          }
        : asWritten(element),
    ),
    ...(renew && { renew }),
  };
}

/**
 * The writer's integer width is unreadable for other programs, unlike the older annotation. It omits a
 * variant's version, of which there is only one.
 */
function asWritten(element: SchemaElement): SchemaElement {
  const { logical_type: logical, ...rest } = element;
  if (logical?.type === 'VARIANT') return { ...rest, logical_type: { type: 'VARIANT' } };
  if (logical?.type !== 'INTEGER') return element;
  const { bitWidth, isSigned } = logical;
  return { ...rest, converted_type: `${isSigned ? '' : 'U'}INT_${bitWidth}` as 'INT_8' };
}

/** @throws InputError where it does not fit 64 bits */
function renewTime(stored: unknown, column: string): unknown {
  if (typeof stored !== 'bigint') return stored;
  const nanos = int96Nanos(stored);
  if (BigInt.asIntN(64, nanos) === nanos) return nanos;
  throw new InputError(
    `column ${JSON.stringify(column)} holds times (INT96) outside of the years 1678 to 2261, which Parquet has no other type with nanoseconds for: name another format for the output, or write the input with TIMESTAMP(MICROS)`,
    { column, fault: 'unsupported' },
  );
}

async function isKept(
  columns: readonly ParquetColumn[],
  copies: readonly ColumnCopy[],
  packages: Writer,
): Promise<boolean> {
  const samples = columns.map(({ elements }) => sampleOf(nodeOf(elements)));
  try {
    const values = samples.map((sample, at) => [renewed(copies[at] as ColumnCopy, sample)]);
    const { bytes, writer } = writeGroup(columns, copies, { packages, values });
    writer.schema = schemaOf(copies, (elements) => elements);
    await writer.finish();
    const written = { schema: writer.schema, rows: 1, groups: 1 };
    const back = await checkWritten(memoryFile(bytes.getBytes()), written);
    return columns.every(({ read }, at) =>
      isDeepStrictEqual(back.columns[at]?.read(back.first?.values(at).at(0)), read(samples[at])),
    );
  } catch {
    return false;
  }
}

function renewed({ renew }: ColumnCopy, stored: unknown): unknown {
  return renew ? renew(stored) : stored;
}

function schemaOf(
  copies: readonly ColumnCopy[],
  form: (elements: readonly SchemaElement[]) => readonly SchemaElement[],
): SchemaElement[] {
  return [
    { name: 'schema', num_children: copies.length },
    ...copies.flatMap(({ elements }) => form(elements)),
  ];
}

function writeGroup(
  columns: readonly ParquetColumn[],
  copies: readonly ColumnCopy[],
  from: { readonly packages: Writer; readonly values: readonly unknown[][] },
): { readonly bytes: ByteWriter; readonly writer: ParquetWriter } {
  const bytes = new from.packages.ByteWriter();
  const writer = new from.packages.ParquetWriter({
    writer: bytes,
    schema: schemaOf(copies, elementsToWrite),
    statistics: false,
  });
  const columnData = columns.map(({ name }, at) => ({ name, data: from.values[at] ?? [] }));
  // Synchronous: bytes in memory need no waiting.
  void writer.write({ columnData, rowGroupSize: from.values[0]?.length ?? 1 });
  return { bytes, writer };
}

/** No names, and an empty value. */
const bytesInVariant: Readonly<Record<string, Uint8Array>> = {
  metadata: Uint8Array.of(1, 0, 0),
  value: Uint8Array.of(0),
};

/**
 * A sample value of a column in stored form: two of each repeated element, and nothing omitted.
 *
 * @param isPart whether it is within a variant, whose bytes describe themselves
 */
function sampleOf(node: SchemaNode, isPart = false): unknown {
  const sampleIn = (child: SchemaNode): unknown => sampleOf(child, isPart || isVariant(node));
  const one = (): unknown => {
    const { children } = node;
    const [first] = children;
    if (!first) {
      return (isPart && bytesInVariant[node.element.name]) || sampleOfLeaf(node.element);
    }
    if (isList(node)) {
      const [item] = first.children;
      return [1, 2].map(() => (item ? sampleIn(item) : sampleOfLeaf(first.element)));
    }
    return Object.fromEntries(children.map((child) => [child.element.name, sampleIn(child)]));
  };
  return node.element.repetition_type === 'REPEATED' ? [one(), one()] : one();
}

function sampleOfLeaf({ type, type_length: length = 1 }: SchemaElement): unknown {
  switch (type) {
    case 'BOOLEAN':
      return true;
    case 'INT64':
      return 1n;
    case 'INT96':
      // Noon of a day in 2024.
      return (2_460_370n << 64n) + 43_200_000_000_000n;
    case 'BYTE_ARRAY':
      return Uint8Array.of(0x31);
    case 'FIXED_LEN_BYTE_ARRAY':
      return new Uint8Array(length).fill(1);
    default:
      return 1;
  }
}

function memoryFile(bytes: Uint8Array): RandomFile {
  const file = Buffer.from(bytes);
  return {
    name: 'a trial',
    size: file.length,
    signal: undefined,
    read: async (from, to) => file.subarray(from, to),
    digest: async () => '',
    close: async () => undefined,
  };
}

/**
 * Checks, before anything is paid, what a copy cannot keep: times that have no other form, and nested values
 * that the writer does not accept; `undefined` where nothing is to check.
 *
 * @throws InputError
 */
export function copyExaminer(
  columns: readonly ParquetColumn[],
  copies: readonly (ColumnCopy | undefined)[],
  packages: Writer,
): RowValidator | undefined {
  const examined = columns.flatMap((column, at) => {
    const copy = copies[at];
    if (!copy || (isFlat(column.elements) && !copy.renew)) return [];
    return [{ column, copy, at }];
  });
  if (examined.length === 0) return undefined;
  return (chunk) => {
    if (!(chunk instanceof ParquetChunk)) return;
    for (const { column, copy, at } of examined) {
      const values = Array.from({ length: chunk.length }, (_, row) =>
        renewed(copy, chunk.stored(row, at)),
      );
      if (isFlat(column.elements)) continue;
      try {
        writeGroup([column], [copy], { packages, values: [values] });
      } catch {
        throw new InputError(
          `column ${JSON.stringify(column.name)} holds a value that cannot be written as Parquet: name another format for the output`,
          { column: column.name, fault: 'unsupported' },
        );
      }
    }
  };
}
