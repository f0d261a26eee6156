import type { SchemaElement } from 'hyparquet';
import type { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { InputError } from '../../errors/family.js';
import type { JoinedRows, OpenSinkOptions, OutputCell } from '../../rows/sink.js';
import type { ByteOutput } from '../../output-files/byte-output.js';
import { OutcomeForms } from '../outcome-forms.js';
import type { RowsWriter } from '../rows-writer.js';
import { TableRows } from '../table-rows.js';
import { elementOf, storedAs, widenKind, type ColumnKind } from './column-kind.js';
import type { loadHyparquetWriter } from './load-hyparquet.js';
import { int96Nanos } from './logical-value.js';
import { bare } from './open-parquet.js';
import { isFlat, ParquetChunk } from './parquet-chunk.js';

/** A row group is held until it is full. */
const groupRows = 50_000;
const groupBytes = 64 * 1024 * 1024;

/** A column of the output: its schema, and what is held of it. */
interface OutputColumn {
  readonly name: string;
  kind: ColumnKind;
  /** What is copied as it is stored: the elements of a Parquet input's column. */
  readonly elements: readonly SchemaElement[] | undefined;
  /** Makes of a stored value one that can be written. */
  readonly renew?: (stored: unknown) => unknown;
  values: unknown[];
}

export interface ParquetWriterOptions {
  readonly output: ByteOutput;
  readonly opening: OpenSinkOptions;
  readonly packages: Awaited<ReturnType<typeof loadHyparquetWriter>>;
  /** Kinds of the input's columns, when all rows were looked at; else those of the first group. */
  readonly kinds: readonly ColumnKind[] | undefined;
}

/**
 * Writes joined rows as Parquet, a row group at a time. The values of a Parquet input go over as they
 * are stored; the types of any other input's columns are those of its values.
 */
export class ParquetRowsWriter implements RowsWriter {
  readonly #options: ParquetWriterOptions;
  readonly #rows: TableRows;
  readonly #added: OutcomeForms<readonly unknown[]>;
  /** Made with the first rows: only they show whether the input is Parquet. */
  #columns: OutputColumn[] | undefined;
  #isCopied = false;
  #file: { readonly bytes: ByteWriter; readonly writer: ParquetWriter } | undefined;
  #held = 0;
  #heldBytes = 0;
  #written = 0;

  constructor(options: ParquetWriterOptions) {
    const { opening } = options;
    this.#options = options;
    this.#rows = new TableRows(opening.reading.header.length);
    this.#added = new OutcomeForms(opening, (cells, column) =>
      cells.map((cell, at) => storeAdded(opening.added[column]?.[at]?.kind ?? 'text', cell)),
    );
  }

  async write(rows: JoinedRows): Promise<void> {
    const { chunk, from, to, outcomes, width } = rows;
    const columns = (this.#columns ??= this.#makeColumns(chunk));
    const own = this.#options.opening.reading.header.length;
    for (let row = from; row < to; row += 1) {
      const cells =
        chunk instanceof ParquetChunk && this.#isCopied ? undefined : this.#rows.read(chunk, row);
      for (let column = 0; column < own; column += 1) {
        const value = cells ? (cells[column] ?? null) : (chunk as ParquetChunk).stored(row, column);
        columns[column]?.values.push(value);
      }
      let at = own;
      for (let column = 0; column < width; column += 1) {
        for (const value of this.#added.of(column, outcomes[(row - from) * width + column])) {
          columns[at]?.values.push(value);
          at += 1;
        }
      }
    }
    this.#held += to - from;
    this.#heldBytes += chunk.byteSize * ((to - from) / chunk.length);
    if (this.#held >= groupRows || this.#heldBytes >= groupBytes) await this.#writeGroup();
  }

  async end(): Promise<void> {
    await this.#writeGroup();
    const { writer, bytes } = this.#begin();
    // In the footer the columns are what they stand for, not only how they are stored.
    writer.schema = this.#schema((element) => element);
    await writer.finish();
    await this.#send(bytes);
  }

  #makeColumns(chunk: JoinedRows['chunk'] | undefined): OutputColumn[] {
    const { opening, kinds } = this.#options;
    const copied = chunk instanceof ParquetChunk ? chunk.columns : undefined;
    this.#isCopied = copied !== undefined;
    const own = opening.reading.header.map((name, column) => ({
      name,
      kind: kinds?.[column] ?? ('none' as const),
      ...copiedForm(copied?.[column]?.elements),
      values: [],
    }));
    const added = opening.added.flat().map(({ name, kind }) => ({
      name,
      kind,
      elements: undefined,
      values: [],
    }));
    return [...own, ...added];
  }

  async #writeGroup(): Promise<void> {
    if (this.#held === 0) return;
    const columns = this.#columns ?? [];
    const isFirst = this.#file === undefined;
    const columnData = columns.map((column) => {
      if (isFirst && column.elements === undefined && !this.#options.kinds) {
        column.kind = column.values.reduce(widenKind, column.kind);
      }
      const data = column.elements ? renewed(column) : this.#store(column);
      column.values = [];
      return { name: column.name, data };
    });
    const { writer, bytes } = this.#begin();
    await writer.write({ columnData, rowGroupSize: this.#held });
    await this.#send(bytes);
    this.#written += this.#held;
    this.#held = 0;
    this.#heldBytes = 0;
  }

  #store({ name, kind, values }: OutputColumn): unknown[] {
    return values.map((value, row) => {
      const stored = storedAs(kind, value);
      if (stored !== undefined) return stored;
      throw new InputError(
        `row ${String(this.#written + row + 1)} of the input has something in column ${JSON.stringify(name)} that is of another type than in the rows before it, which decided the column's`,
      );
    });
  }

  #begin(): { readonly bytes: ByteWriter; readonly writer: ParquetWriter } {
    if (this.#file) return this.#file;
    const { ByteWriter, ParquetWriter } = this.#options.packages;
    this.#columns ??= this.#makeColumns(undefined);
    const bytes = new ByteWriter();
    const writer = new ParquetWriter({
      writer: bytes,
      schema: this.#schema(bare),
      createdBy: 'sluice',
      // Stored bytes may order otherwise than what they stand for.
      statistics: false,
    });
    this.#file = { bytes, writer };
    return this.#file;
  }

  #schema(form: (element: SchemaElement) => SchemaElement): SchemaElement[] {
    const columns = this.#columns ?? [];
    return [
      { name: 'schema', num_children: columns.length },
      ...columns.flatMap(({ name, kind, elements }) => {
        if (elements) return isFlat(elements) ? elements.map(form) : elements;
        const element = elementOf(name, kind);
        // Text is given as text: only times and JSON are stored otherwise than they are called.
        return element.converted_type === 'UTF8' ? [element] : [form(element)];
      }),
    ];
  }

  async #send(bytes: ByteWriter): Promise<void> {
    const written = Buffer.from(bytes.getBytes());
    // What is written is not held any more; places are still counted from the file's start.
    (bytes as ByteWriter & { index: number }).index = 0;
    await this.#options.output.write(written);
  }
}

function renewed({ values, renew }: OutputColumn): unknown[] {
  return renew ? values.map(renew) : values;
}

/** Times of 96 bits can be read, but are not written any more: they become nanoseconds in 64. */
function copiedForm(
  elements: readonly SchemaElement[] | undefined,
): Pick<OutputColumn, 'elements' | 'renew'> {
  const [element] = elements ?? [];
  if (element?.type !== 'INT96' || !isFlat(elements ?? [])) return { elements };
  return {
    elements: [
      {
        ...bare(element),
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' },
      },
    ],
    renew: (stored) => (typeof stored === 'bigint' ? int96Nanos(stored) : stored),
  };
}

/** A flag that the service has sent as something else than a boolean stands for nothing. */
function storeAdded(kind: ColumnKind, cell: OutputCell): unknown {
  return storedAs(kind, cell) ?? null;
}

/** Looks at all values for their kinds. */
export class KindFinder {
  readonly kinds: ColumnKind[];
  readonly #rows: TableRows;

  constructor(columns: number) {
    this.kinds = Array.from({ length: columns }, () => 'none' as const);
    this.#rows = new TableRows(columns);
  }

  add(chunk: JoinedRows['chunk']): void {
    for (let row = 0; row < chunk.length; row += 1) {
      const cells = this.#rows.read(chunk, row);
      for (let column = 0; column < this.kinds.length; column += 1) {
        this.kinds[column] = widenKind(this.kinds[column] ?? 'none', cells[column]);
      }
    }
  }
}
