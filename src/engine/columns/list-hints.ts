import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import { changedChunks, type CellText, type RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import { withMembers } from '../../lists/rows/guarded-ends.js';
import type { SourceReading } from '../../lists/rows/source.js';
import { notice, type Notice } from '../../platform/text/notices.js';
import { trimCell } from '../addresses/address.js';
import { findCountryInColumn } from '../addresses/country/parse-country.js';
import { areSurelyCountries } from './cell-patterns.js';
import type { ColumnLayout } from './column-layout.js';
import { readColumnName } from './column-words.js';
import { isNamedOptOut, optOutOf } from './opt-outs.js';

/** So many rows are enough to say what there is; who has opted out is counted in all, in columns that say so. */
const firstRows = 1000;

export interface HintOptions {
  /** Types of addresses for which rows that have opted out are counted. */
  readonly optOutsOf: readonly VerificationType[];
  /** Whether the address of a verified column, by its place among them, is sent. */
  readonly isSent: (chunk: RowChunk, row: number, column: number) => boolean;
  /** The country for which all rows are verified. @default none: rows have their own */
  readonly countryOfAll?: CountryCode | undefined;
  readonly hasPhones: boolean;
  readonly isOfQuery: boolean;
  readonly verified: () => ColumnLayout['columns'];
}

export function hintPositions(header: readonly string[], options: HintOptions): readonly number[] {
  const { optOuts, foreign } = talliesOf(header, options);
  return [optOuts.ofAll, foreign].flatMap((tally) => tally?.positions ?? []);
}

function talliesOf(
  header: readonly string[],
  { optOutsOf, countryOfAll }: HintOptions,
): {
  readonly optOuts: OptOutTallies;
  readonly foreign: RowTally | undefined;
  /** Cells beside the foreign ones that name no country. */
  readonly unread: RowTally | undefined;
} {
  const inCountries = (says: (cell: string) => boolean) =>
    countryOfAll &&
    new RowTally(header, (title) =>
      isNamedCountry(title) || mayBeCountry(title) ? says : undefined,
    );
  return {
    optOuts: new OptOutTallies(header, optOutsOf),
    foreign: inCountries((cell) => (findCountryInColumn(cell) ?? countryOfAll) !== countryOfAll),
    unread: inCountries((cell) => cell !== '' && findCountryInColumn(cell) === undefined),
  };
}

function isNamedCountry(title: string): boolean {
  return readColumnName(title).meaning === 'country';
}

/** A column whose cells decide. */
function mayBeCountry(title: string): boolean {
  const { meaning, mayBeCountry: isLikely } = readColumnName(title);
  return meaning === undefined && isLikely;
}

/** The same rows; says of the first what would be paid for though nobody may have meant it. */
export function withListHints(
  reading: SourceReading,
  options: HintOptions,
  onNotice: (notice: Notice) => void,
): SourceReading {
  const { countryOfAll, isSent } = options;
  const { optOuts, foreign, unread } = talliesOf(reading.header, options);
  const ofCountries = [foreign, unread].filter((tally) => tally !== undefined);
  let seen = 0;
  let isReported = false;
  const undecided = reading.header.flatMap((title, at) =>
    countryOfAll && mayBeCountry(title) ? [{ title, at, cells: [] as string[] }] : [],
  );
  const look = (chunk: RowChunk): void => {
    for (let row = 0; row < chunk.length; row += 1, seen += 1) {
      if (seen === firstRows) optOuts.narrow();
      if (seen >= firstRows && !optOuts.hasColumns) return;
      const cellAt = (column: number): CellText => chunk.text(row, column);
      optOuts.add(cellAt, (type) =>
        options
          .verified()
          .some((column, place) => column.type === type && isSent(chunk, row, place)),
      );
      if (seen >= firstRows) continue;
      if (seen === 0) {
        const above = (chunk.number?.(row) ?? 2) - 1;
        const names = columnNamesIn(chunk, row, options.verified());
        // Without a header its absence is meant.
        if (names && above > 0) {
          const hasLines = chunk.number !== undefined && chunk.path === undefined;
          onNotice(notice('second_header', { names, skip_rows: hasLines ? above : null }));
        }
      }
      for (const tally of ofCountries) tally.add(cellAt);
      for (const { at, cells } of undecided) {
        const cell = chunk.text(row, at);
        if (typeof cell === 'string' && trimCell(cell) !== '') cells.push(trimCell(cell));
      }
    }
  };
  const reportCountries = (): void => {
    const isOfCountries = (column: string): boolean =>
      isNamedCountry(column) ||
      undecided.some(({ title, cells }) => title === column && areSurelyCountries(cells, true));
    const other = foreign?.columns.find(({ column }) => isOfCountries(column));
    if (!other || countryOfAll === undefined) return;
    const ofRows = seen < firstRows ? null : firstRows;
    const of = { read_as: countryOfAll, has_phones: options.hasPhones, of_rows: ofRows };
    const { rows = 0 } = unread?.columns.find(({ column }) => column === other.column) ?? {};
    onNotice(notice('other_countries', { ...other, ...of, unread: rows }));
  };
  const lookAndPass = (chunk: RowChunk): RowChunk => {
    look(chunk);
    if (seen >= firstRows && !isReported) {
      reportCountries();
      isReported = true;
    }
    return chunk;
  };
  const report = (): void => {
    if (!isReported) reportCountries();
    for (const found of optOuts.found) {
      onNotice(notice('opted_out', { ...found, of_query: options.isOfQuery }));
    }
  };
  const chunks = reading.chunks[Symbol.asyncIterator]();
  return withMembers(reading, { chunks: changedChunks(chunks, lookAndPass, report) });
}

/**
 * The names of columns that a row has in place of addresses, where the header above it has none for them: groups
 * of columns stand above their names.
 */
function columnNamesIn(
  chunk: RowChunk,
  row: number,
  verified: ColumnLayout['columns'],
): readonly string[] | undefined {
  const names = verified.flatMap(({ type, position, name }) => {
    const cell = chunk.text(row, position);
    const text = typeof cell === 'string' ? trimCell(cell) : '';
    const isName = readColumnName(text).meaning === type && !/[@\d]/.test(text);
    // Below a column's own name stands `no email`.
    return isName && readColumnName(name).meaning !== type ? [text] : [];
  });
  return names.length > 0 && names.length === verified.length ? names : undefined;
}

/** Counts the rows that have opted out of one type of address or another: who refuses texts may accept emails. */
class OptOutTallies {
  readonly #byType: readonly { readonly type: VerificationType; readonly tally: RowTally }[];
  readonly ofAll: RowTally;

  constructor(header: readonly string[], types: readonly VerificationType[]) {
    const of = (which: readonly VerificationType[]): RowTally =>
      new RowTally(header, (title) => optOutOf(title, which));
    this.#byType = types.map((type) => ({ type, tally: of([type]) }));
    const [only, another] = this.#byType;
    this.ofAll = only && !another ? only.tally : of(types);
  }

  get hasColumns(): boolean {
    return this.ofAll.positions.length > 0;
  }

  /** Any cell may say `unsubscribed`; beyond the first rows only columns are read whose name or first rows say so. */
  narrow(): void {
    for (const tally of [this.ofAll, ...this.#byType.map((each) => each.tally)]) {
      tally.keep(({ column, rows }) => rows > 0 || isNamedOptOut(column));
    }
  }

  /** @param isToBeSent whether the row has an address of a type that would be sent */
  add(cellAt: (column: number) => CellText, isToBeSent: (type: VerificationType) => boolean): void {
    for (const { type, tally } of this.#byType) tally.add(cellAt, () => isToBeSent(type));
    if (this.#byType.length === 1) return;
    this.ofAll.add(cellAt, () => this.#byType.some(({ type }) => isToBeSent(type)));
  }

  /** By type, or of all types where each column that says so is about all of them. */
  get found(): readonly ({ readonly type: VerificationType | null } & Pick<
    RowTally,
    'columns' | 'rows' | 'sent'
  >)[] {
    const some = this.#byType.filter(({ tally }) => tally.sent > 0);
    const areOfAll = this.ofAll.columns.every(({ column }) =>
      this.#byType.every(({ type }) => optOutOf(column, [type])),
    );
    return (some.length > 1 && areOfAll ? [{ type: null, tally: this.ofAll }] : some).map(
      ({ type, tally: { columns, rows, sent } }) => ({ type, columns, rows, sent }),
    );
  }
}

interface TalliedColumn {
  readonly column: string;
  readonly rows: number;
}

/** Counts the rows of which a cell says something, by column and all together. */
class RowTally {
  #columns: readonly {
    readonly column: string;
    readonly at: number;
    readonly says: (cell: string) => boolean;
    /** The latest cell, and what it says: the next is often the same. */
    cell: CellText;
    isSaid: boolean;
    rows: number;
  }[];
  rows = 0;
  /** Those with an address that would be sent. */
  sent = 0;

  constructor(
    header: readonly string[],
    testOf: (title: string) => ((cell: string) => boolean) | undefined,
  ) {
    this.#columns = header.flatMap((column, at) => {
      const says = testOf(column);
      return says ? [{ column, at, says, cell: '', isSaid: says(''), rows: 0 }] : [];
    });
  }

  get positions(): readonly number[] {
    return this.#columns.map(({ at }) => at);
  }

  /** Looks on only at some of its columns. */
  keep(isKept: (column: TalliedColumn) => boolean): void {
    this.#columns = this.#columns.filter(isKept);
  }

  add(cellAt: (column: number) => CellText, isSent?: () => boolean): void {
    let isAny = false;
    for (const column of this.#columns) {
      const cell = cellAt(column.at);
      if (cell !== column.cell) {
        column.cell = cell;
        column.isSaid = typeof cell === 'string' && column.says(trimCell(cell));
      }
      if (!column.isSaid) continue;
      column.rows += 1;
      isAny = true;
    }
    if (!isAny) return;
    this.rows += 1;
    if (isSent?.() === true) this.sent += 1;
  }

  get columns(): readonly TalliedColumn[] {
    return this.#columns.flatMap(({ column, rows }) => (rows > 0 ? [{ column, rows }] : []));
  }
}
