import type { KeyValue, SchemaElement } from 'hyparquet';
import type { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { InputError } from '../../platform/errors/errors.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import type { ByteOutput } from '../files/outputs/byte-output.js';
import type { FormatWriting, RowsWriter } from '../files/writer-sink.js';
import {
  refuseRepeatedNames,
  reportUnseenHalves,
  TableRows,
  tableValidator,
} from '../rows/chunks/table-rows.js';
import { type JoinedRows, type OpenSinkOptions, OutcomeForms } from '../rows/sink.js';
import {
  type ColumnFacts,
  factsOfKind,
  KindTally,
  reportTextColumns,
} from '../rows/values/kind-tally.js';
import { loadHyparquet, loadHyparquetWriter } from './hyparquet.js';
import { addColumns, CopiedRows, isParquetReading, ParquetChunk } from './stored-group.js';
import { checkWritten } from './parquet-reading.js';
import { elementsToWrite } from './schema-node.js';
import {
  holdsFloats,
  holdsNegativeZero,
  type ParquetForm,
  parquetForm,
  parquetFormOrText,
} from './parquet-form.js';
import { columnCopies, type ColumnCopy, copyExaminer, lastingNotes } from './trial-copy.js';

const groupRows = 50_000;
const groupBytes = 64 * 1024 * 1024;

/** A column of the output: its schema, its held cells, and how it is copied, if it is. */
interface OutputColumn extends Partial<ColumnCopy> {
  readonly name: string;
  /** How its values are stored; copied ones are in that form already. */
  form: ParquetForm;
  values: unknown[];
  /** For an added column: its verified column, and its position among the added cells. */
  readonly added?: { readonly verified: number; readonly at: number };
}

interface ParquetWriterOptions {
  readonly output: ByteOutput;
  readonly opening: OpenSinkOptions;
  readonly packages: Awaited<ReturnType<typeof loadHyparquetWriter>>;
  /** Kinds from all rows of the input, where they were examined; else the first group decides. */
  readonly tally: KindTally | undefined;
  /** How the columns of a Parquet input are copied; `undefined` for any other input. */
  readonly copies: readonly (ColumnCopy | undefined)[] | undefined;
  /** Notes of a Parquet input that hold for the output as well. */
  readonly notes: readonly KeyValue[];
  readonly report: (tally: KindTally) => void;
}

/**
 * Writes joined rows as Parquet, one row group at a time. The values of a Parquet input are copied in stored
 * form; any other input's columns get the types of their values.
 */
class ParquetRowsWriter implements RowsWriter {
  readonly #options: ParquetWriterOptions;
  readonly #rows: TableRows;
  readonly #added: OutcomeForms<readonly unknown[]>;
  #outcomes: (readonly unknown[])[][];
  readonly #columns: OutputColumn[];
  readonly #tally: KindTally;
  /** The held rows where a Parquet file stores them. */
  readonly #copied: CopiedRows | undefined;
  #file: { readonly bytes: ByteWriter; readonly writer: ParquetWriter } | undefined;
  #held = 0;
  #heldBytes = 0;
  #written = 0;
  #groups = 0;

  constructor(options: ParquetWriterOptions) {
    const { opening, copies } = options;
    const { header, kinds } = opening.reading;
    this.#options = options;
    this.#rows = new TableRows(header.length, reportUnseenHalves(opening));
    this.#added = new OutcomeForms(opening, (cells, column) =>
      cells.map((cell, at) => {
        const { store } = addedForm(opening.added[column]?.[at]?.kind);
        // A flag that the service did not send as a boolean is null.
        return cell === null ? null : (store(cell) ?? null);
      }),
    );
    this.#outcomes = opening.added.map(() => []);
    this.#tally = options.tally ?? new KindTally(header.length, kinds);
    this.#columns = this.#makeColumns();
    const isSame = copies?.every((copy) => copy !== undefined && copy.renew === undefined) === true;
    this.#copied = copies && new CopiedRows(isSame && opening.added.flat().length > 0);
  }

  async write(rows: JoinedRows): Promise<void> {
    const { chunk, from, to, outcomes, width } = rows;
    const columns = this.#columns;
    if (!this.#copied && !this.#options.tally && !this.#file) this.#tally.add(chunk, from, to);
    const inputColumns = this.#options.opening.reading.header.length;
    if (this.#copied && chunk instanceof ParquetChunk) this.#copied.add(chunk, from, to);
    else {
      for (let row = from; row < to; row += 1) {
        const cells = this.#rows.read(chunk, row);
        for (let column = 0; column < inputColumns; column += 1) {
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
    const isFull = this.#held >= groupRows || this.#heldBytes >= groupBytes;
    if (this.#copied?.isWhole ?? isFull) await this.#writeGroup();
  }

  async end(): Promise<void> {
    await this.#writeGroup();
    const { writer, bytes } = this.#begin();
    // The footer has the columns' full types.
    writer.schema = this.#schema((elements) => elements);
    await writer.finish();
    await this.#send(bytes);
    const file = await this.#options.output.readBack?.();
    const written = { schema: writer.schema, rows: this.#written, groups: this.#groups };
    if (file) await checkWritten(file, written);
  }

  #makeColumns(): OutputColumn[] {
    const { opening, copies } = this.#options;
    const { header, kinds } = opening.reading;
    const columns = header.map((name, column) => ({
      name,
      form: parquetFormOrText(factsOfKind(kinds?.[column] ?? { name: 'text' })),
      ...copies?.[column],
      values: [],
    }));
    const added = opening.added.map((fields, verified) =>
      fields.map(({ name, kind }, at) => ({
        name,
        form: addedForm(kind),
        values: [],
        added: { verified, at },
      })),
    );
    return [...columns, ...added.flat()];
  }

  async #writeGroup(): Promise<void> {
    if (this.#held === 0) return;
    const { writer, bytes } = this.#begin();
    const whole = this.#copied?.isWhole === true ? this.#copied : undefined;
    const copied = (await whole?.copyGroup(bytes, async () => this.#send(bytes))) ?? [];
    if (!whole) await this.#copied?.load();
    const inputColumns = this.#options.opening.reading.header.length;
    const columnData = this.#columns.slice(whole ? inputColumns : 0).map((column, at) => {
      const values = () => this.#valuesOf(column, at);
      // The writer's dictionary would merge 0.0 and -0.0.
      const isPlain =
        holdsFloats(column.elements ?? [column.form.element]) && values().some(holdsNegativeZero);
      return {
        name: column.name,
        // Made when it is written: one column's cells at a time.
        get data() {
          return values();
        },
        ...(isPlain && { encoding: 'PLAIN' as const }),
      };
    });
    await writer.write({ columnData, rowGroupSize: this.#held });
    const group = writer.row_groups.at(-1);
    if (group) addColumns(group, copied);
    await this.#send(bytes);
    for (const column of this.#columns) column.values = [];
    this.#outcomes = this.#outcomes.map(() => []);
    this.#copied?.clear();
    this.#groups += 1;
    this.#written += this.#held;
    this.#held = 0;
    this.#heldBytes = 0;
  }

  #valuesOf(
    { name, form, elements, renew, values, added }: OutputColumn,
    column: number,
  ): unknown[] {
    // Added cells were converted when their outcome first appeared.
    if (added) return this.#outcomes[added.verified]?.map((cells) => cells[added.at]) ?? [];
    if (elements) {
      const stored = this.#copied?.cells((chunk, row) => chunk.stored(row, column)) ?? [];
      return renew ? stored.map(renew) : stored;
    }
    const cells = this.#copied?.cells((chunk, row) => chunk.value(row, column)) ?? values;
    return cells.map((value, row) => {
      const stored = value === null || value === undefined ? null : form.store(value);
      if (stored !== undefined) return stored;
      throw new InputError(
        `data row ${grouped(this.#written + row + 1)} of the input has something in column ${JSON.stringify(name)} that is of another type than in the rows before it, which decided the column's`,
        { column: name, rows: [this.#written + row + 1], fault: 'misfit' },
      );
    });
  }

  #begin(): { readonly bytes: ByteWriter; readonly writer: ParquetWriter } {
    if (this.#file) return this.#file;
    const { ByteWriter, ParquetWriter } = this.#options.packages;
    if (!this.#copied) {
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
      ...(this.#options.notes.length > 0 && { kvMetadata: [...this.#options.notes] }),
      // Stored bytes may sort differently from their values.
      statistics: false,
    });
    return (this.#file = { bytes, writer });
  }

  #schema(form: (elements: readonly SchemaElement[]) => readonly SchemaElement[]): SchemaElement[] {
    const columns = this.#columns;
    return [
      { name: 'schema', num_children: columns.length },
      ...columns.flatMap(({ name, form: { element: ofCells }, elements }) => {
        if (elements) return form(elements);
        const element: SchemaElement = { ...ofCells, name, repetition_type: 'OPTIONAL' };
        // Text is passed as text; anything else is in stored form.
        return element.converted_type === 'UTF8' ? [element] : form([element]);
      }),
    ];
  }

  async #send(bytes: ByteWriter): Promise<void> {
    const written = Buffer.from(bytes.getBytes());
    // Written bytes are dropped; positions still count from the file's start.
    (bytes as ByteWriter & { index: number }).index = 0;
    await this.#options.output.write(written);
  }
}

function addedForm(kind: 'text' | 'boolean' = 'text'): ParquetForm {
  return parquetFormOrText(factsOfKind({ name: kind }));
}

/** The Parquet format of an output; one for each sink, as it remembers the columns' kinds. */
export function parquetWriting(): FormatWriting {
  let tally: KindTally | undefined;
  return {
    async check() {
      await loadHyparquetWriter();
      await loadHyparquet();
    },
    async validate(reading, { onTextColumn, onNotice }) {
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
      const validate = tableValidator(reading, undefined, onNotice);
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
      if (isCopied && opening.isOnlyReader === true) reading.copyGroups();
      const notes = isCopied && copies ? lastingNotes(reading.notes, copies, opening.added) : [];
      return new ParquetRowsWriter({ output, opening, packages, tally, copies, notes, report });
    },
  };
}

function isKept(facts: ColumnFacts): boolean {
  return parquetForm(facts) !== undefined;
}
