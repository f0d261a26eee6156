import { randomBytes } from 'node:crypto';
import { ConfigurationError, InputError } from '../../../platform/errors/errors.js';
import { AddressTable } from '../../../platform/hashing/address-table.js';
import { optionName } from '../../../platform/text/option-name.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import { TableRows } from '../../rows/chunks/table-rows.js';
import type { RowValidator } from '../../rows/sink.js';
import type { KindTally } from '../../rows/values/kind-tally.js';
import type { SampleRows } from './trial-write.js';
import { TableChunk } from './table-reading.js';
import type { TablePlan } from './table-plan.js';
import { notice, type OnNotice } from '../../../platform/text/notices.js';
import { grouped } from '../../../platform/text/shown-numbers.js';

/**
 * Looks at rows that are to go into a database, for what no table has a form for: broken text, a NUL,
 * a key that is empty or that another row has; and for text that a column would make another number of.
 */
export function createRowValidator(
  header: readonly string[],
  { mode, key, keyPositions, isCaseless, numberTypeOf }: TablePlan,
  {
    tally,
    samples,
    onNotice,
  }: {
    readonly tally: KindTally;
    readonly samples: SampleRows;
    readonly onNotice: OnNotice | undefined;
  },
): RowValidator {
  // The types of a new table's columns take whatever the input has, and a table takes its own cells.
  const isWatched = mode === 'upsert';
  const rows = new TableRows(header.length);
  const seen = keyPositions.length === 0 ? undefined : new SeenKeys(key);
  const numeric = new Map(
    header.flatMap((_, column) => {
      const type = numberTypeOf(column);
      return type === undefined ? [] : [[column, type] as const];
    }),
  );
  let count = 0;
  const refuse = (column: number, what: string): never => {
    const name = JSON.stringify(header[column] ?? '');
    throw new InputError(`data row ${grouped(count)} of the input ${what} in column ${name}`);
  };
  return (chunk) => {
    tally.add(chunk);
    samples.addFirst(chunk);
    for (let row = 0; row < chunk.length; row += 1) {
      count += 1;
      for (const [column, type] of numeric) {
        const cell = chunk.value ? chunk.value(row, column) : chunk.text(row, column);
        if (typeof cell !== 'string' || !losesDigits.test(cell)) continue;
        numeric.delete(column);
        onNotice?.(notice('digits_lost', { column: header[column] ?? '', type }));
      }
      const watches = isWatched && samples.isWatched(count);
      const cells = isSound(chunk, row) && !watches ? undefined : rows.read(chunk, row);
      const nul = cells?.findIndex((cell) => typeof cell === 'string' && cell.includes('\0')) ?? -1;
      if (nul !== -1) refuse(nul, 'holds a NUL, which no table takes,');
      if (watches && cells) samples.watch(count, cells);
      if (!seen) continue;
      const keyCells = keyPositions.map((column) => {
        const text = chunk.text(row, column);
        if (typeof text !== 'string' || text === '') {
          return refuse(column, 'has no key: nothing is');
        }
        return isCaseless(column) ? text.toLowerCase() : text;
      });
      seen.add(keyCells);
    }
  };
}

/** Digits that are no longer the same as a number: of a phone number, a postcode, a long identifier. */
const losesDigits = /^(?:[+0]\d+|\d{19,})$/;

/** PostgreSQL gives nothing that a table has no form for, but in a database without an encoding. */
function isSound(chunk: RowChunk, row: number): boolean {
  return chunk instanceof TableChunk && chunk.form.dialect === 'postgres' && chunk.isText(row);
}

/**
 * Notices a key that is in two rows while it costs nothing: a table has one row for each. It holds
 * no key, only a hash of 96 bits, some 25 bytes for each row.
 */
export class SeenKeys {
  readonly #columns: readonly string[];
  readonly #table = new AddressTable({ seed: randomBytes(32) });

  /** @param columns names of the key's columns */
  constructor(columns: readonly string[]) {
    this.#columns = columns;
  }

  /** Takes the key of the next row. */
  add(cells: readonly string[]): void {
    // Of each cell its length too: "a" and "bc" are no other key than "ab" and "c" without it.
    const key = cells.length === 1 ? (cells[0] ?? '') : cells.map(lengthAndText).join('');
    const row = this.#table.size;
    const first = this.#table.add(0, key);
    if (first === row) return;
    // Up to here each row had a key of its own, so that the numbers of keys are those of rows.
    throw new ConfigurationError(
      `data rows ${first + 1} and ${row + 1} of the input have the same key in ${this.#columns.map((name) => JSON.stringify(name)).join(', ')}, and a table has one row for each key: take one of them out, or give a further column with ${optionName('key')}`,
    );
  }
}

function lengthAndText(text: string): string {
  return `${text.length} ${text}`;
}
