import { randomBytes } from 'node:crypto';
import {
  ConfigurationError,
  type ErrorFault,
  InputError,
} from '../../../platform/errors/errors.js';
import { AddressTable } from '../../../platform/hashing/address-table.js';
import { optionName } from '../../../platform/text/sentence.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import { bufferOf } from '../../rows/values/print-value.js';
import { reportHalves, TableRows } from '../../rows/chunks/table-rows.js';
import type { RowValidator } from '../../rows/sink.js';
import type { KindTally } from '../../rows/values/kind-tally.js';
import type { SampleRows } from './trial-write.js';
import { TableChunk } from './table-reading.js';
import type { TablePlan } from './table-plan.js';
import { notice, type OnNotice } from '../../../platform/text/notices.js';
import { grouped } from '../../../platform/text/shown-numbers.js';

/** Checks rows for a database: invalid text, a NUL, an empty or repeated key, text that would become another number. */
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
  // A new table's types accept whatever the input has, and a table accepts its own cells.
  const isWatched = mode === 'upsert';
  const rows = new TableRows(header.length, reportHalves({ header }, onNotice));
  const seen = keyPositions.length === 0 ? undefined : new SeenKeys(key);
  const numeric = new Map(
    header.flatMap((_, column) => {
      const type = numberTypeOf(column);
      return type === undefined ? [] : [[column, type] as const];
    }),
  );
  let count = 0;
  const refuse = (column: number, what: string, fault: ErrorFault): never => {
    const name = JSON.stringify(header[column] ?? '');
    throw new InputError(`data row ${grouped(count)} of the input ${what} in column ${name}`, {
      rows: [count],
      column: header[column],
      fault,
    });
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
      if (nul !== -1) refuse(nul, 'holds a NUL, which no table takes,', 'unsupported');
      if (watches && cells) samples.watch(count, cells);
      if (!seen) continue;
      const keyCells = keyPositions.map((column) => {
        const text = keyText(chunk, row, column);
        if (text === '') {
          return refuse(column, 'has no key: nothing is', 'missing');
        }
        return isCaseless(column) ? text.toLowerCase() : text;
      });
      seen.add(keyCells);
    }
  };
}

/** A cell as it is compared with other keys: bytes may be no text. */
function keyText(chunk: RowChunk, row: number, column: number): string {
  const text = chunk.text(row, column);
  if (typeof text === 'string') return text;
  const cell = chunk.value?.(row, column);
  // No text has a NUL.
  return cell instanceof Uint8Array ? `\0${bufferOf(cell).toString('hex')}` : '';
}

/** Digits that change as a number: of a phone number, a postcode, a long identifier. */
const losesDigits = /^(?:[+0]\d+|\d{19,})$/;

/** PostgreSQL returns only valid text, except from a database without an encoding. */
function isSound(chunk: RowChunk, row: number): boolean {
  return chunk instanceof TableChunk && chunk.form.dialect === 'postgres' && chunk.isText(row);
}

/** Finds a repeated key before it costs anything: a table has one row for each. 25 bytes a row, for a 96-bit hash. */
export class SeenKeys {
  readonly #columns: readonly string[];
  readonly #table = new AddressTable({ seed: randomBytes(32) });

  constructor(columns: readonly string[]) {
    this.#columns = columns;
  }

  add(cells: readonly string[]): void {
    // With the length of each cell: otherwise "a" and "bc" would equal "ab" and "c".
    const key = cells.length === 1 ? (cells[0] ?? '') : cells.map(lengthAndText).join('');
    const row = this.#table.size;
    const first = this.#table.add(0, key);
    if (first === row) return;
    // Each earlier row had its own key, so key numbers are row numbers.
    throw new ConfigurationError(
      `data rows ${first + 1} and ${row + 1} of the input have the same key in ${this.#columns.map((name) => JSON.stringify(name)).join(', ')}, and a table has one row for each key: take one of them out, or give a further column with ${optionName('key')}`,
      { option: 'key', rows: [first + 1, row + 1], fault: 'repeated' },
    );
  }
}

function lengthAndText(text: string): string {
  return `${text.length} ${text}`;
}
