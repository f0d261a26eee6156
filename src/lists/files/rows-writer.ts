import type { AddedCells, JoinedRows, OpenSinkOptions, OutputCell } from '../rows/sink.js';
import type { ByteOutput } from './outputs/byte-output.js';

/** Turns rows into the bytes of a format. */
export interface RowsWriter {
  /** As `givesBack` of a `SinkWriting`. */
  readonly givesBack?: boolean;
  write(rows: JoinedRows): Promise<void>;
  /** Writes what is left; the output is not finished by it. */
  end(): Promise<void>;
}

/** What a writing of one file is given. */
interface OpenWriterOptions extends OpenSinkOptions {
  /** Nobody else asks for the cells of the reading's rows. @default somebody may */
  readonly isOnlyReader?: boolean;
}

/** Begins to write a format. */
export type CreateWriter = (
  output: ByteOutput,
  opening: OpenWriterOptions,
) => RowsWriter | Promise<RowsWriter>;

/** Slots for the forms of outcomes asked for lately; there are a few dozen, or millions. */
const recentSlots = 1024;

/** What a format makes of the added cells of an outcome, made once for those that come often. */
export class OutcomeForms<Form> {
  readonly #opening: AddedCells;
  readonly #make: (cells: readonly OutputCell[], column: number) => Form;
  readonly #recent: readonly { readonly outcome: number; readonly form: Form }[][];

  constructor(opening: AddedCells, make: (cells: readonly OutputCell[], column: number) => Form) {
    this.#opening = opening;
    this.#make = make;
    this.#recent = opening.added.map(() => []);
  }

  /** @param column position among the verified columns */
  of(column: number, outcome = -1): Form {
    const slots = this.#recent[column];
    const slot = outcome % recentSlots;
    const known = slots?.[slot];
    if (known?.outcome === outcome) return known.form;
    const cells = this.#opening.cellsOf(outcome, column);
    if (slots === undefined || cells.length !== this.#opening.added[column]?.length) {
      throw new RangeError(`no cells for outcome ${String(outcome)} of column ${String(column)}`);
    }
    const form = this.#make(cells, column);
    if (outcome >= 0) slots[slot] = { outcome, form };
    return form;
  }
}
