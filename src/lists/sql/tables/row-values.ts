import { createHash } from 'node:crypto';
import { TableRows } from '../../rows/chunks/table-rows.js';
import { JsonText } from '../../rows/values/kinds.js';
import { printValue } from '../../rows/values/print-value.js';
import {
  type AddedColumn,
  type JoinedRows,
  type OpenSinkOptions,
  type OutputCell,
  OutcomeForms,
} from '../../rows/sink.js';
import { writeAny, writeValue } from '../cell-text.js';
import type { Staging } from '../dialect.js';
import type { TablePlan } from './table-plan.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import { TableChunk } from './table-reading.js';

export type CellValue = string | number | bigint | boolean | Uint8Array | null;

/** Stages rows as values. @param take stages a row's values @param end stages the rest */
export function stageValues(
  plan: TablePlan,
  opening: OpenSinkOptions,
  take: (values: readonly CellValue[]) => Promise<void> | undefined | void,
  end: () => Promise<void> | void,
): Staging {
  const values = new RowValues(plan, opening);
  return {
    async write(rows) {
      for (const row of values.read(rows)) {
        const taken = take(row);
        if (taken) await taken;
      }
    },
    async end() {
      await end();
      return { digest: values.digest(), rows: values.count };
    },
  };
}

/** Converts joined rows to the values of a table's columns, with a digest of them. */
class RowValues {
  readonly #plan: TablePlan;
  readonly #rows: TableRows;
  readonly #added: OutcomeForms<readonly CellValue[]>;
  /** Columns of JSON, where a number keeps its digits. */
  readonly #isJson: readonly boolean[];
  readonly #hash = createHash('sha256');
  #count = 0;

  constructor(plan: TablePlan, opening: OpenSinkOptions) {
    this.#plan = plan;
    const { header, kinds = [] } = opening.reading;
    this.#rows = new TableRows(header.length);
    this.#isJson = kinds.map((kind) => kind?.name === 'json');
    this.#added = new OutcomeForms(opening, addedValues(plan, opening));
  }

  get count(): number {
    return this.#count;
  }

  /** Of all values so far; ends the digest. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  /** The values of each row, in the order of the plan's columns. */
  *read({ chunk, from, to, outcomes, width }: JoinedRows): Generator<readonly CellValue[]> {
    const plan = this.#plan;
    for (let row = from; row < to; row += 1) {
      this.#count += 1;
      const cells = this.#rows.read(chunk, row);
      const values = plan.positions.map((position, at) => {
        const cell = cells[position];
        const isText = plan.columns[at]?.isPrinted === true || this.#isJson[position] === true;
        const value = isText ? plainText(cell) : plainValue(cell);
        return value === '' && !plan.isText(position) ? null : value;
      });
      for (let column = 0; column < width; column += 1) {
        values.push(...this.#added.of(column, outcomes[(row - from) * width + column]));
      }
      this.#hash.update(values.map(writeAny).join('\t'));
      yield values;
    }
  }
}

function plainText(value: unknown): string | null {
  return value === null || value === undefined ? null : (printValue(value) ?? null);
}

function plainValue(value: unknown): CellValue {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value;
    default:
      if (value === null || value === undefined) return null;
      if (value instanceof JsonText && value.number !== undefined) return value.number;
      return value instanceof Uint8Array ? value : (printValue(value) ?? null);
  }
}

/** Converts the cells that an outcome adds for a verified column. */
function addedValues(
  { columns, positions }: TablePlan,
  { added }: OpenSinkOptions,
): (cells: readonly OutputCell[], column: number) => readonly CellValue[] {
  return (cells, column) => {
    const first = positions.length + added.slice(0, column).flat().length;
    return cells.map((cell, at) => {
      const value = addedValue(added[column]?.[at], cell);
      return columns[first + at]?.isPrinted === true ? plainText(value) : value;
    });
  };
}

/** A flag that is neither true nor false is null in a boolean column; text cannot hold NUL. */
function addedValue(column: AddedColumn | undefined, cell: OutputCell): CellValue {
  if (column?.kind !== 'boolean') {
    return typeof cell === 'string' ? cell.replaceAll('\0', '') : cell;
  }
  if (cell === true || cell === 'true') return true;
  return cell === false || cell === 'false' ? false : null;
}

/** Writes joined rows in the format of `cell-text.ts`: cells already in that format are copied. */
export class RowLines {
  readonly #plan: TablePlan;
  readonly #isWhole: boolean;
  readonly #rows: TableRows;
  readonly #added: OutcomeForms<Buffer>;
  #count = 0;

  constructor(plan: TablePlan, opening: OpenSinkOptions) {
    const { header } = opening.reading;
    this.#plan = plan;
    this.#rows = new TableRows(header.length);
    this.#isWhole =
      plan.positions.length === header.length &&
      plan.positions.every((column, at) => column === at);
    const last = opening.added.length - 1;
    const valuesOf = addedValues(plan, opening);
    this.#added = new OutcomeForms(opening, (cells, column) => {
      const text = valuesOf(cells, column)
        .map((value) => `\t${writeValue(value)}`)
        .join('');
      return Buffer.from(column === last ? `${text}\n` : text);
    });
  }

  get count(): number {
    return this.#count;
  }

  write(joined: JoinedRows): Uint8Array {
    const { chunk, from, to, outcomes, width } = joined;
    this.#count += to - from;
    const added = Array.from(outcomes.subarray(0, (to - from) * width), (outcome, at) =>
      this.#added.of(at % width, outcome),
    );
    const formed = this.#isInForm(chunk) ? chunk : undefined;
    if (this.#isWhole && formed) return copyRows(formed, joined, added);
    const parts: Uint8Array[] = [];
    for (let row = from; row < to; row += 1) {
      const first = (row - from) * width;
      const fields = formed
        ? this.#plan.positions.map((column) => formed.field(row, column) ?? '')
        : this.#encodeCells(this.#rows.read(chunk, row));
      parts.push(Buffer.from(fields.join('\t')), ...added.slice(first, first + width));
    }
    return Buffer.concat(parts);
  }

  #encodeCells(cells: readonly unknown[]): readonly string[] {
    const { positions, columns } = this.#plan;
    return positions.map((position, at) => {
      const cell = cells[position];
      if (cell === '' && !this.#plan.isText(position)) return '\\N';
      const isPrinted = typeof cell !== 'string' && columns[at]?.isPrinted === true;
      return writeValue(isPrinted ? plainText(cell) : cell);
    });
  }

  /** Whether a chunk's cells are in the form that their columns take. */
  #isInForm(chunk: RowChunk): chunk is TableChunk {
    if (!(chunk instanceof TableChunk)) return false;
    const { positions, columns } = this.#plan;
    return chunk.form.columns.every(({ kind }, position) => {
      const isPrinted = columns[positions.indexOf(position)]?.isPrinted === true;
      return kind !== 'any' && !(isPrinted && (kind === 'boolean' || kind === 'binary'));
    });
  }
}

/** Copies rows unchanged, each with its added cells, into one piece. */
function copyRows(
  chunk: TableChunk,
  { from, to, width }: JoinedRows,
  added: readonly Buffer[],
): Uint8Array {
  let size = 0;
  for (let row = from; row < to; row += 1) size += chunk.rowEnd(row) - chunk.rowStart(row);
  for (const { length } of added) size += length;
  const lines = Buffer.allocUnsafeSlow(size);
  let at = 0;
  let next = 0;
  for (let row = from; row < to; row += 1) {
    at += chunk.bytes.copy(lines, at, chunk.rowStart(row), chunk.rowEnd(row));
    for (const last = next + width; next < last; next += 1) {
      at += (added[next] as Buffer).copy(lines, at);
    }
  }
  return lines;
}
