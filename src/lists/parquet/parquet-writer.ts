import type { ColumnChunk, SchemaElement } from 'hyparquet';
import type { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { InputError } from '../../platform/errors/errors.js';
import { OutcomeForms, type RowsWriter } from '../files/rows-writer.js';
import type { ByteOutput } from '../files/outputs/byte-output.js';
import type { FormatWriting } from '../files/writer-sink.js';
import { refuseRepeatedNames, TableRows, tableValidator } from '../rows/chunks/table-rows.js';
import type { JoinedRows, OpenSinkOptions, OutputCell } from '../rows/sink.js';
import {
  type ColumnFacts,
  factsOfKind,
  KindTally,
  reportTextColumns,
} from '../rows/values/kind-tally.js';
import { loadHyparquet, loadHyparquetWriter } from './hyparquet.js';
import { checkWritten } from './parquet-reading.js';
import { elementsToWrite } from './schema-node.js';
import { type StoredGroup, isParquetReading, ParquetChunk } from './stored-group.js';
import { type ParquetForm, parquetForm, parquetFormOrText } from './parquet-form.js';
import { columnCopies, type ColumnCopy, copyExaminer } from './trial-copy.js';
import { grouped } from '../../platform/text/shown-numbers.js';

/** A row group is held until it is full. */
const groupRows = 50_000;
const groupBytes = 64 * 1024 * 1024;
/** A row group of the input that has fewer rows is not copied as it is: small groups become large ones. */
const leastCopiedRows = 10_000;

/** A column of the output: its schema, and what is held of it. */
interface OutputColumn {
  readonly name: string;
  /** How its values are stored; for what is copied they are stored so already. */
  form: ParquetForm;
  /** What is copied as it is stored: the elements of a Parquet input's column. */
  readonly elements: readonly SchemaElement[] | undefined;
  /** Makes of a stored value one that can be written. */
  readonly renew?: (stored: unknown) => unknown;
  values: unknown[];
  /** What is added: for which verified column, and which of its cells. */
  readonly added?: { readonly verified: number; readonly at: number };
}

interface ParquetWriterOptions {
  readonly output: ByteOutput;
  readonly opening: OpenSinkOptions;
  readonly packages: Awaited<ReturnType<typeof loadHyparquetWriter>>;
  /** What all rows showed of the input's columns, when they were looked at; else the first group does. */
  readonly tally: KindTally | undefined;
  /** How the columns of a Parquet input are copied; `undefined` for any other input. */
  readonly copies: readonly (ColumnCopy | undefined)[] | undefined;
  /** Is asked to tell which columns become text. */
  readonly report: (tally: KindTally) => void;
}

/**
 * Writes joined rows as Parquet, a row group at a time. The values of a Parquet input go over as they
 * are stored; the types of any other input's columns are those of its values.
 */
class ParquetRowsWriter implements RowsWriter {
  readonly #options: ParquetWriterOptions;
  readonly #rows: TableRows;
  readonly #added: OutcomeForms<readonly unknown[]>;
  /** For each verified column what is added to the held rows. */
  #outcomes: (readonly unknown[])[][];
  readonly #columns: OutputColumn[];
  readonly #tally: KindTally;
  /** Whether the rows come as a Parquet file stores them. */
  readonly #isCopied: boolean;
  /** The rows of a Parquet input that are held. */
  #copied: { readonly chunk: ParquetChunk; readonly from: number; readonly to: number }[] = [];
  /** The row group of the input that they are the first rows of, and nothing else. */
  #whole: StoredGroup | undefined;
  #file: { readonly bytes: ByteWriter; readonly writer: ParquetWriter } | undefined;
  #held = 0;
  #heldBytes = 0;
  #written = 0;
  #groups = 0;

  constructor(options: ParquetWriterOptions) {
    const { opening } = options;
    this.#options = options;
    this.#rows = new TableRows(opening.reading.header.length);
    this.#added = new OutcomeForms(opening, (cells, column) =>
      cells.map((cell, at) => storeAdded(addedForm(opening.added[column]?.[at]?.kind), cell)),
    );
    this.#outcomes = opening.added.map(() => []);
    const { reading } = opening;
    this.#isCopied = options.copies !== undefined;
    this.#tally = options.tally ?? new KindTally(reading.header.length, reading.kinds);
    this.#columns = this.#makeColumns();
  }

  async write(rows: JoinedRows): Promise<void> {
    const { chunk, from, to, outcomes, width } = rows;
    const columns = this.#columns;
    if (!this.#isCopied && !this.#options.tally && !this.#file) this.#tally.add(chunk, from, to);
    const own = this.#options.opening.reading.header.length;
    if (chunk instanceof ParquetChunk && this.#isCopied) {
      this.#copied.push({ chunk, from, to });
      const { group } = chunk;
      if (this.#held === 0) this.#whole = this.#canCopy(group) ? group : undefined;
      if (group !== this.#whole || chunk.from + from !== this.#held) this.#whole = undefined;
    } else {
      for (let row = from; row < to; row += 1) {
        const cells = this.#rows.read(chunk, row);
        for (let column = 0; column < own; column += 1) {
          columns[column]?.values.push(cells[column] ?? null);
        }
      }
    }
    for (const [column, held] of this.#outcomes.entries()) {
      for (let at = column; at < (to - from) * width; at += width) {
        held.push(this.#added.of(column, outcomes[at]));
      }
    }
    this.#held += to - from;
    this.#heldBytes += chunk.byteSize * ((to - from) / chunk.length);
    const isFull = this.#whole
      ? this.#held === this.#whole.rows
      : this.#held >= groupRows || this.#heldBytes >= groupBytes;
    if (isFull) await this.#writeGroup();
  }

  async end(): Promise<void> {
    await this.#writeGroup();
    const { writer, bytes } = this.#begin();
    // In the footer the columns are what they stand for, not only how they are stored.
    writer.schema = this.#schema((elements) => elements);
    await writer.finish();
    await this.#send(bytes);
    const written = await this.#options.output.readBack?.();
    if (!written) return;
    const { schema } = writer;
    await checkWritten(written, { schema, rows: this.#written, groups: this.#groups });
  }

  #makeColumns(): OutputColumn[] {
    const { opening, copies } = this.#options;
    const { header, kinds } = opening.reading;
    const own = header.map((name, column) => ({
      name,
      form: parquetFormOrText(factsOfKind(kinds?.[column] ?? { name: 'text' })),
      elements: undefined,
      ...copies?.[column],
      values: [],
    }));
    const added = opening.added.map((columns, verified) =>
      columns.map(({ name, kind }, at) => ({
        name,
        form: addedForm(kind),
        elements: undefined,
        values: [],
        added: { verified, at },
      })),
    );
    return [...own, ...added.flat()];
  }

  /** Whether a row group can be copied without a look into it. */
  #canCopy({ kept, rows }: StoredGroup): boolean {
    const { reading, added } = this.#options.opening;
    return (
      kept !== undefined &&
      rows >= leastCopiedRows &&
      added.flat().length > 0 &&
      this.#columns
        .slice(0, reading.header.length)
        .every(({ elements, renew }) => elements !== undefined && renew === undefined)
    );
  }

  async #writeGroup(): Promise<void> {
    if (this.#held === 0) return;
    const { writer, bytes } = this.#begin();
    const isWhole = this.#held === this.#whole?.rows;
    const copied = isWhole ? await this.#copyGroup(this.#whole?.kept ?? []) : [];
    for (const { chunk } of isWhole ? [] : this.#copied) await chunk.group.load();
    const own = this.#options.opening.reading.header.length;
    const columnData = this.#columns.slice(isWhole ? own : 0).map((column, at) => {
      const values = () => this.#valuesOf(column, at);
      // Of 0.0 and -0.0 the writer's dictionary would keep the one that comes first.
      const isPlain = holdsFloats(column) && values().some(holdsNegativeZero);
      return {
        name: column.name,
        // Made when it is written: the cells of one column at a time.
        get data() {
          return values();
        },
        ...(isPlain && { encoding: 'PLAIN' as const }),
      };
    });
    await writer.write({ columnData, rowGroupSize: this.#held });
    const group = writer.row_groups.at(-1);
    if (group) {
      group.columns.unshift(...copied);
      group.total_byte_size = sizeOf(group.columns, 'total_uncompressed_size');
      group.total_compressed_size = sizeOf(group.columns, 'total_compressed_size');
    }
    await this.#send(bytes);
    for (const column of this.#columns) column.values = [];
    this.#outcomes = this.#outcomes.map(() => []);
    this.#copied = [];
    this.#whole = undefined;
    this.#groups += 1;
    this.#written += this.#held;
    this.#held = 0;
    this.#heldBytes = 0;
  }

  /** Writes the columns of a row group as they are in the input, and gives what the footer says of them. */
  async #copyGroup(kept: NonNullable<StoredGroup['kept']>): Promise<readonly ColumnChunk[]> {
    const { bytes } = this.#begin();
    const copied: ColumnChunk[] = [];
    for (const { data, start, bytes: part } of kept.flat()) {
      const place = BigInt(bytes.offset);
      copied.push({
        file_offset: place,
        meta_data: {
          type: data.type,
          encodings: data.encodings,
          path_in_schema: data.path_in_schema,
          codec: data.codec,
          num_values: data.num_values,
          total_uncompressed_size: data.total_uncompressed_size,
          total_compressed_size: data.total_compressed_size,
          data_page_offset: data.data_page_offset - start + place,
          // At 0 there is none.
          ...(data.dictionary_page_offset && {
            dictionary_page_offset: data.dictionary_page_offset - start + place,
          }),
          ...(data.encoding_stats && { encoding_stats: data.encoding_stats }),
        },
      });
      bytes.appendBytes(part);
      await this.#send(bytes);
    }
    return copied;
  }

  /** The held cells of a column as they are stored. */
  #valuesOf(
    { name, form, elements, renew, values, added }: OutputColumn,
    column: number,
  ): unknown[] {
    // What is added was stored when its outcome came first.
    if (added) return this.#outcomes[added.verified]?.map((cells) => cells[added.at]) ?? [];
    if (elements) {
      const stored = this.#cellsOf((chunk, row) => chunk.stored(row, column));
      return renew ? stored.map(renew) : stored;
    }
    const cells = this.#isCopied ? this.#cellsOf((chunk, row) => chunk.value(row, column)) : values;
    return cells.map((value, row) => {
      const stored = value === null || value === undefined ? null : form.store(value);
      if (stored !== undefined) return stored;
      throw new InputError(
        `data row ${grouped(this.#written + row + 1)} of the input has something in column ${JSON.stringify(name)} that is of another type than in the rows before it, which decided the column's`,
      );
    });
  }

  #cellsOf(cell: (chunk: ParquetChunk, row: number) => unknown): unknown[] {
    const cells: unknown[] = [];
    for (const { chunk, from, to } of this.#copied) {
      for (let row = from; row < to; row += 1) cells.push(cell(chunk, row));
    }
    return cells;
  }

  #begin(): { readonly bytes: ByteWriter; readonly writer: ParquetWriter } {
    if (this.#file) return this.#file;
    const { ByteWriter, ParquetWriter } = this.#options.packages;
    if (!this.#isCopied) {
      this.#options.report(this.#tally);
      for (const [at, facts] of this.#tally.facts.entries()) {
        const column = this.#columns[at];
        if (column) column.form = parquetFormOrText(facts);
      }
    }
    const bytes = new ByteWriter();
    const writer = new ParquetWriter({
      writer: bytes,
      schema: this.#schema(elementsToWrite),
      createdBy: 'sluice',
      // Stored bytes may order otherwise than what they stand for.
      statistics: false,
    });
    this.#file = { bytes, writer };
    return this.#file;
  }

  #schema(form: (elements: readonly SchemaElement[]) => readonly SchemaElement[]): SchemaElement[] {
    const columns = this.#columns;
    return [
      { name: 'schema', num_children: columns.length },
      ...columns.flatMap(({ name, form: { element: own }, elements }) => {
        if (elements) return form(elements);
        const element: SchemaElement = { ...own, name, repetition_type: 'OPTIONAL' };
        // Text is given as text: all else is stored otherwise than it is called.
        return element.converted_type === 'UTF8' ? [element] : form([element]);
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

function sizeOf(
  columns: readonly ColumnChunk[],
  size: 'total_uncompressed_size' | 'total_compressed_size',
): bigint {
  return columns.reduce((all, { meta_data: data }) => all + (data?.[size] ?? 0n), 0n);
}

function holdsFloats({ form, elements }: OutputColumn): boolean {
  const types = (elements ?? [form.element]).map(({ type }) => type);
  return types.includes('FLOAT') || types.includes('DOUBLE');
}

/** Whether a stored value is -0.0, or has one in it. */
function holdsNegativeZero(stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null) return Object.is(stored, -0);
  if (ArrayBuffer.isView(stored)) return false;
  return Object.values(stored).some(holdsNegativeZero);
}

function addedForm(kind: 'text' | 'boolean' = 'text'): ParquetForm {
  return parquetFormOrText(factsOfKind({ name: kind }));
}

/** A flag that the service has sent as something else than a boolean stands for nothing. */
function storeAdded({ store }: ParquetForm, cell: OutputCell): unknown {
  return cell === null ? null : (store(cell) ?? null);
}

/** How rows are written as Parquet; one for each sink, as it remembers the columns' kinds. */
export function parquetWriting(): FormatWriting {
  let tally: KindTally | undefined;
  return {
    async check() {
      await loadHyparquetWriter();
      await loadHyparquet();
    },
    async validate(reading, { onTextColumn }) {
      const { header } = reading;
      refuseRepeatedNames(header, 'Parquet');
      const found = new KindTally(header.length, reading.kinds);
      tally = found;
      if (isParquetReading(reading)) {
        const packages = await loadHyparquetWriter();
        const copies = await columnCopies(reading.columns, packages);
        for (const [at, { name: column, kind }] of reading.columns.entries()) {
          if (!copies[at]) onTextColumn?.({ column, kind, output: 'Parquet' });
        }
        return copyExaminer(reading.columns, copies, packages);
      }
      const validate = tableValidator(reading);
      const report = reportTextColumns({ reading, output: 'Parquet', onTextColumn }, isKept);
      report(found);
      return (chunk) => {
        validate(chunk);
        found.add(chunk);
        report(found);
      };
    },
    async create(output, opening) {
      const { reading } = opening;
      refuseRepeatedNames(reading.header, 'Parquet');
      const packages = await loadHyparquetWriter();
      const report = reportTextColumns({ ...opening, output: 'Parquet' }, isKept);
      const isCopied = isParquetReading(reading);
      const copies = isCopied ? await columnCopies(reading.columns, packages) : undefined;
      if (isCopied && opening.isOnlyReader === true) reading.copyGroups(opening.verified);
      return new ParquetRowsWriter({ output, opening, packages, tally, copies, report });
    },
  };
}

function isKept(facts: ColumnFacts): boolean {
  return parquetForm(facts) !== undefined;
}
