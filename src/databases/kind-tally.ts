import type { RowChunk } from '../rows/row-chunk.js';
import type { ColumnKind } from './column-kind.js';
import { TableChunk } from './table-chunk.js';

/** Integers beyond are no 64-bit ones. */
const maxInteger = 2n ** 63n - 1n;

/**
 * Learns from the cells of a source that names no types what its columns hold. A column whose cells are
 * not all of one kind holds text.
 */
export class KindTally {
  readonly #kinds: (ColumnKind | undefined)[];

  constructor(columns: number) {
    this.#kinds = Array.from({ length: columns }, () => undefined);
  }

  /** By position; `undefined` for a column without any cell. */
  get kinds(): readonly (ColumnKind | undefined)[] {
    return this.#kinds;
  }

  add(chunk: RowChunk): void {
    const isTyped =
      chunk instanceof TableChunk && chunk.form.columns.every((c) => c.kind !== 'any');
    if (isTyped || !chunk.value) return;
    for (let row = 0; row < chunk.length; row += 1) {
      for (let column = 0; column < this.#kinds.length; column += 1) {
        if (this.#kinds[column] === 'text') continue;
        const kind = kindOf(chunk.value(row, column));
        if (kind !== undefined) this.#kinds[column] = join(this.#kinds[column], kind);
      }
    }
  }
}

function join(known: ColumnKind | undefined, found: ColumnKind): ColumnKind {
  if (known === undefined || known === found) return found;
  const isNumber = (kind: ColumnKind): boolean => kind === 'integer' || kind === 'float';
  return isNumber(known) && isNumber(found) ? 'float' : 'text';
}

function kindOf(value: unknown): ColumnKind | undefined {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'float';
    case 'bigint':
      return value <= maxInteger && value >= -maxInteger ? 'integer' : 'decimal';
    case 'undefined':
      return undefined;
    case 'object':
      if (value === null) return undefined;
      if (value instanceof Date) return 'timestamptz';
      return value instanceof Uint8Array ? 'bytes' : 'json';
    default:
      return 'text';
  }
}
