import type { Duplex } from 'node:stream';
import type { Open } from '../../contract/enums.js';
import type {
  EmailRecord,
  emailRecordFields,
  PhoneRecord,
  phoneRecordFields,
} from '../../contract/records.js';
import { ObjectChunk, type Row } from '../../lists/rows/chunks/object-chunk.js';
import { isSame } from '../../lists/rows/sources/combine-headers.js';
import type { AddedColumn, JoinedRows, OutputCell } from '../../lists/rows/sink.js';
import type { NotSubmittedReason } from '../addresses/address.js';
import type { FailedReason } from '../batches/batch-state.js';
import type { Plan } from '../plan/plan.js';
import type { Verification } from '../results/outcome-table.js';
import type { AddedField, originFields } from '../columns/added-fields.js';

/** Why a cell has no result; `''` where it has one. */
type Reason = Open<'' | NotSubmittedReason | 'no_record' | FailedReason | 'not_finished'>;

/** Added for any verified column. */
interface CommonCells {
  readonly verification: Verification;
  /** Why there is no result; `''` when verified. */
  readonly reason: Reason;
  /** This and the next three: only with `provenance`, or where `columns` names them. */
  readonly submitted: string | null;
  readonly verified_at: string | null;
  readonly source: 'service' | 'history' | null;
  readonly batch_uuid: string | null;
}

/** A record's fields: null unless the cell is verified. */
type RecordCells<Fields extends string, Verdict> = {
  readonly [Field in Fields & keyof Verdict]-?: Exclude<Verdict[Field], undefined> | null;
};

type EmailCells = CommonCells &
  RecordCells<(typeof emailRecordFields)[number], EmailRecord> & {
    /** Only with `suggest`, or where `columns` names it. */
    readonly suggestion: string | null;
  };
type PhoneCells = CommonCells & RecordCells<(typeof phoneRecordFields)[number], PhoneRecord>;

/** The prefix of a column's added columns. */
type PrefixOf<Column extends string, Prefix> = Column extends keyof Prefix
  ? Prefix[Column] & string
  : Column;

type Added<Columns extends string, Cells, Prefix, Chosen> = UnionToIntersection<
  Columns extends string
    ? {
        readonly [
          Field in keyof Cells & string & Chosen as `${PrefixOf<Columns, Prefix>}_${Field}`
        ]: Cells[Field];
      }
    : never
>;

/** The columns that other options add, by option. */
interface AskedFields {
  readonly provenance: (typeof originFields)[number];
  readonly suggest: 'suggestion';
}

/** The fields that a call's options surely add. @template Given the options, where they are known */
export type SureFields<Given> = {
  [Option in keyof AskedFields]: Given extends { readonly [Name in Option]: true }
    ? AskedFields[Option]
    : never;
}[keyof AskedFields];

/** The fields that they may add, depending on values at run time. */
export type OpenFields<Given> = Exclude<
  {
    [Option in keyof AskedFields]: unknown extends Given
      ? AskedFields[Option]
      : Option extends keyof Given
        ? AskedFields[Option]
        : never;
  }[keyof AskedFields],
  SureFields<Given>
>;

type UnionToIntersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/**
 * An output row: its own columns, and those that are added for each verified column.
 *
 * @template Email names of the columns of email addresses
 * @template Phone names of the columns of phone numbers
 * @template Prefix what added columns begin with in place of their column's name, by column
 * @template Chosen which of the added columns are written, where they are chosen
 * @template Asked those that `provenance` and `suggest` add
 * @template Open those that they may add
 */
export type EnrichedRow<
  Input,
  Email extends string,
  Phone extends string = never,
  Prefix = unknown,
  Chosen extends AddedField = never,
  Asked extends AddedField = never,
  Open extends AddedField = never,
> = Shown<
  Input &
    ([Chosen] extends [never]
      ? AddedTo<Email, Phone, Prefix, Exclude<AddedField, AskedFields[keyof AskedFields]> | Asked>
      : // Chosen at run time, any of them may be missing.
        [AddedField] extends [Chosen]
        ? Partial<AddedTo<Email, Phone, Prefix, AddedField>>
        : AddedTo<Email, Phone, Prefix, Chosen | Asked>) &
    ([Open] extends [never] ? unknown : Partial<AddedTo<Email, Phone, Prefix, Open>>)
>;

/** The same type, shown by editors with its columns. */
type Shown<Type> = { [Name in keyof Type]: Type[Name] } & {};

type AddedTo<Email extends string, Phone extends string, Prefix, Fields> = Added<
  Email,
  EmailCells,
  Prefix,
  Fields
> &
  Added<Phone, PhoneCells, Prefix, Fields>;

/** The columns of a row that may hold text. */
export type TextColumn<Input> = ColumnOf<Input, string>;

/** The columns of a row that may hold phone numbers; numbers are read as they print. */
export type PhoneColumn<Input> = ColumnOf<Input, string | number | bigint>;

/** Any name for rows without a type. */
type ColumnOf<Input, Cell> = string extends keyof Input
  ? string
  : {
      [Column in keyof Input & string]-?: unknown extends Input[Column]
        ? Column
        : Input[Column] extends Cell | null | undefined
          ? Column
          : never;
    }[keyof Input & string];

/** A Duplex with typed rows on both sides. */
export interface RowStream<Input, Output> extends Duplex {
  [Symbol.asyncIterator](): AsyncIterableIterator<Output>;
  [Symbol.asyncIterator](text?: never): ReturnType<Duplex[typeof Symbol.asyncIterator]>;
  read(): Output | null;
  read(text: never): never;
  // The overload with `never` serves `pipe` and `pipeline`, which expect streams of text: no call matches it.
  write(text: never, ...more: never[]): boolean;
  write(row: Input, done?: WriteDone): boolean;
  end(text: never, ...more: never[]): this;
  end(row: Input, done?: () => void): this;
  end(done?: () => void): this;
  on(event: 'data', listener: (row: Output) => void): this;
  on(event: string | symbol, listener: Parameters<Duplex['on']>[1]): this;
}

type WriteDone = (error: Error | null | undefined) => void;

/** Slots for the values of recent outcomes; there are a few dozen, or millions. */
const recentSlots = 1024;
/** Remembered shapes of rows: rows that are all different must not fill the memory. */
const maxShapes = 64;

/** The columns of a row, and a row to copy and fill. */
interface Shape {
  readonly columns: readonly string[];
  readonly model: Record<string, unknown>;
}

interface Recent {
  readonly outcome: number;
  readonly cells: readonly OutputCell[];
}

/**
 * Adds the output columns to row objects. Spreading two objects takes V8 some 20 µs a row at this size;
 * copying a row of the same shape and filling it takes less than one.
 */
export class RowEnricher {
  readonly #plan: Plan;
  readonly #recent: Recent[][];
  readonly #shapes = new Map<string, Shape>();
  #shape: Shape = { columns: [], model: {} };

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#recent = plan.layout.columns.map(() => []);
  }

  /** The rows of a stretch. @param onLeft called when all were taken */
  *rowsOf(joined: JoinedRows, onLeft?: () => void): Generator<Row> {
    if (!(joined.chunk instanceof ObjectChunk)) {
      throw new TypeError('rows that are no objects are joined as stretches of their chunks');
    }
    for (let row = joined.from; row < joined.to; row += 1) {
      yield this.enrich(joined.chunk.rows[row] as Row, joined, row);
    }
    onLeft?.();
  }

  /** @param row its position in the stretch's chunk */
  enrich(input: Row, joined: JoinedRows, row: number): Row {
    const columns = Object.keys(input);
    if (!isSame(columns, this.#shape.columns)) this.#shape = this.#shapeOf(columns);
    const enriched = { ...this.#shape.model };
    // The model owns every key by now: not even `__proto__` reaches a setter.
    for (const column of columns) enriched[column] = input[column];
    const { layout, hasPerCellValues } = this.#plan;
    const start = (row - joined.from) * joined.width;
    for (let k = 0; k < joined.width; k += 1) {
      const added = layout.added[k] ?? [];
      const outcome = this.#cellsOf(joined.outcomes[start + k] ?? 0, k);
      const cells = hasPerCellValues
        ? this.#plan.withPerCellValues(outcome, joined.chunk, row, k)
        : outcome;
      for (let n = 0; n < added.length; n += 1) {
        enriched[(added[n] as AddedColumn).name] = cells[n] ?? null;
      }
    }
    return enriched;
  }

  #shapeOf(columns: readonly string[]): Shape {
    const key = JSON.stringify(columns);
    const known = this.#shapes.get(key);
    if (known) return known;
    const names = [...columns, ...this.#plan.layout.added.flat().map(({ name }) => name)];
    const shape = { columns, model: Object.fromEntries(names.map((name) => [name, null])) };
    if (this.#shapes.size >= maxShapes) this.#shapes.clear();
    this.#shapes.set(key, shape);
    return shape;
  }

  #cellsOf(outcome: number, column: number): readonly OutputCell[] {
    const slots = this.#recent[column] ?? [];
    const slot = outcome % recentSlots;
    const known = slots[slot];
    if (known?.outcome === outcome) return known.cells;
    const cells = this.#plan.cellsOf(outcome, column);
    slots[slot] = { outcome, cells };
    return cells;
  }
}
