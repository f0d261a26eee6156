import { existsSync } from 'node:fs';
import { findLists, listSource } from '../../../lists/named-lists.js';
import type { CellText } from '../../../lists/rows/chunks/row-chunk.js';
import type { Source } from '../../../lists/rows/source.js';
import { ConfigurationError, InputError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { namesNear } from '../../../platform/text/closest-name.js';
import { notice, type Notice } from '../../../platform/text/notices.js';
import { optionName } from '../../../platform/text/sentence.js';
import { counted } from '../../../platform/text/shown-numbers.js';
import { judgeColumns } from '../../columns/detect-columns.js';
import { findColumn } from '../../columns/column-lookup.js';
import { type Plan, readCountry } from '../../plan/plan.js';
import { isEmail } from '../../columns/cell-patterns.js';
import { parseCountryCell } from '../../plan/row-countries.js';
import { isDomain, Suppressed } from '../../plan/suppressed.js';
import { type RunProgress, noticed } from '../reporting/run-progress.js';
import { isLocationName, sourceOf, type SourceInput } from './source-and-sink.js';

/** A list of addresses and domains that are never sent. */
export interface SuppressList {
  /** Where it is, or its rows. */
  readonly source: SourceInput;
  /** Its columns, by name or position. @default those with emails, phones or domains */
  readonly columns?: readonly string[] | undefined;
}

/** Parses `list.csv`, or `list.csv#email` with one of its columns. */
export function parseSuppressList(given: string): SuppressList & { readonly source: string } {
  const marks = Array.from(given.matchAll(/(?<!^)#/g), ({ index }) => index);
  // The name of a file may have the mark, and so may that of a column.
  const at = marks.findLast((each) => existsSync(given.slice(0, each))) ?? marks[0];
  return at === undefined || existsSync(given)
    ? { source: given }
    : { source: given.slice(0, at), columns: [given.slice(at + 1)] };
}

interface ReadSuppressed {
  readonly suppressed?: Suppressed;
  /** The varying part of a message: the lists, and how much they hold. */
  readonly lists?: string;
}

/**
 * Reads the suppress lists.
 *
 * @param options.country of most rows: their numbers without a calling code may be of it
 * @throws ConfigurationError for a list without a recognisable column; InputError, `input_suspect` for a list
 * without an address
 */
export async function readSuppressed(
  given: readonly (string | URL | SuppressList)[] = [],
  {
    country,
    signal,
    onProgress,
  }: {
    readonly country?: string | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((progress: RunProgress) => void) | undefined;
  },
): Promise<ReadSuppressed> {
  if (given.length === 0) return {};
  const suppressed = new Suppressed(readCountry(country));
  const lists: string[] = [];
  for (const each of given) {
    const { source, columns } = isLocationName(each) ? { source: each } : each;
    for (const opens of await sourcesOf(source)) {
      const figures = await readSheets({ opens, columns, suppressed, signal });
      lists.push(`${figures.name} with ${counted(figures.found, 'cell')}`);
      const { name: list, found: cells, withoutCountry: without_country, ...more } = figures;
      const { unread, sheets } = more;
      // An export that failed would have everybody who has opted out verified and mailed.
      if (cells === 0 && unread > 0) throw holdsOthers(list, columns, unread);
      if (cells === 0) throw holdsNothing(list);
      suppressed.lists.push(list);
      suppressed.cells += cells;
      // A sheet may say to all others what they hold; one without a column that was named may hold people.
      const isUnread = unread > 0 || (columns !== undefined && sheets.length > 0);
      const code = isUnread ? 'suppress_list_unread' : 'suppress_list';
      onProgress?.(noticed(notice(code, { list, cells, without_country, ...more })));
    }
  }
  return { suppressed, lists: lists.join(', ') };
}

/**
 * Lists of which nothing is in the rows may be wrong ones. A trial does not have all rows, and a list of one line may
 * be the one that says that nobody has opted out.
 */
export function suppressNotices(
  { planner, book }: Plan,
  {
    suppressed,
    limit,
  }: { readonly suppressed?: Suppressed | undefined; readonly limit?: number | undefined },
): readonly Notice[] {
  if (!suppressed || suppressed.cells < 2 || limit !== undefined) return [];
  if (planner.cells.hasSuppressed || book.size === 0) return [];
  const { lists, cells } = suppressed;
  return [notice('nothing_suppressed', { lists, cells })];
}

function holdsNothing(list: string): InputError {
  return new InputError(
    `${list} is to be suppressed, and holds no address or domain: it may be a failed export. Nothing was sent, paid or written: leave out ${optionName('suppress')}, or write a line into the list (such as example.com), if nobody has opted out`,
    { code: 'input_suspect', fault: 'empty' },
  );
}

/** A wrong column, more likely than a list without entries. */
function holdsOthers(list: string, columns: readonly string[] = [], unread: number): InputError {
  const [column] = columns;
  const where = column === undefined ? 'it' : `its column ${JSON.stringify(column)}`;
  return new InputError(
    `${list} is to be suppressed, and ${where} holds no address or domain, but ${counted(unread, 'other cell')}: name its column of addresses (${optionName('suppress')} <list>#<column>), or check what makes the list; nothing was sent, paid or written`,
    { code: 'input_suspect', column },
  );
}

/** Each list has columns of its own. */
async function sourcesOf(given: SourceInput): Promise<readonly Opens[]> {
  if (!isLocationName(given)) return [async () => sourceOf(given)];
  const lists = await findLists(given);
  return lists.map((list) => async (hasHeader, sheet) => {
    const header = hasHeader ? {} : { header: false };
    return listSource(list, { columns: 'all', sheet, ...header });
  });
}

type Opens = (hasHeader: boolean, sheet?: string) => Promise<Source>;

interface ListReading {
  readonly opens: Opens;
  readonly columns: readonly string[] | undefined;
  readonly suppressed: Suppressed;
  readonly signal: AbortSignal | undefined;
}

/** What is in a list, in all sheets of a workbook. */
class ListFigures {
  name = '';
  found = 0;
  /** Those that are numbers without a calling code and without a country. */
  withoutCountry = 0;
  unread = 0;
  /** The first rows with unread cells, of one sheet, as a spreadsheet numbers them. */
  readonly rows: number[] = [];
  /** The sheets in which no column of addresses was found, or none that is named. */
  readonly sheets: string[] = [];
}

const mostUnreadRows = 5;
const judgedRows = 3000;

/** @throws what is wrong with the first sheet, where none can be read */
async function readSheets(list: ListReading): Promise<ListFigures> {
  const figures = new ListFigures();
  const errors: unknown[] = [];
  let names: readonly string[] = [''];
  const onSheets = (found: readonly string[]): void => {
    names = found;
  };
  for (let at = 0; at < names.length; at += 1) {
    const sheet = at === 0 ? undefined : names[at];
    try {
      await readList(list, figures, { sheet, onSheets });
    } catch (error) {
      const isMissing = isSluiceError(error, 'column_not_found');
      if (names.length < 2 || !(isMissing || isSluiceError(error, 'input_suspect'))) throw error;
      errors.push(error);
      if (isMissing) figures.sheets.push(names[at] ?? '');
    }
  }
  if (errors.length === names.length) throw errors[0];
  return figures;
}

async function readList(
  list: ListReading,
  figures: ListFigures,
  of: { readonly sheet: string | undefined; readonly onSheets: (names: readonly string[]) => void },
  hasHeader = true,
): Promise<void> {
  const { opens, columns, suppressed, signal } = list;
  const source = await opens(hasHeader, of.sheet);
  let named: readonly number[] | undefined;
  let reading;
  try {
    reading = await source.open({
      ...(signal && { signal }),
      onSheets: of.onSheets,
      wanted(header) {
        named = columns?.map((column) => findColumn(header, column, source.name));
        return header.length === 1 ? [0] : [];
      },
    });
  } catch (error) {
    if (error instanceof InputError && error.fault === 'empty') throw holdsNothing(source.name);
    // Most lists consist of addresses alone.
    if (!hasHeader || !isSluiceError(error, 'header_missing')) throw error;
    return readList(list, figures, of, false);
  }
  const { header } = reading;
  const all = header.map((_, at) => at);
  const hasUnread = figures.unread > 0;
  // A list of one address a line has no header either.
  const hasHeaderRow = reading.isUnnamed !== true && !/\.txt(?:\.gz)?$/i.test(source.name);
  let number = hasHeaderRow ? 1 : 0;
  const take = (cellAt: CellAt, { positions, country }: ListColumns): number => {
    const ofRow = country === undefined ? undefined : parseCountryCell(cellAt(country));
    const ofEntry = typeof ofRow === 'string' ? ofRow : undefined;
    let others = 0;
    for (const position of positions) {
      const what = suppressed.add(cellAt(position), ofEntry);
      if (what === 'unread') others += 1;
      else if (what !== 'empty') figures.found += 1;
      if (what === 'without_country') figures.withoutCountry += 1;
    }
    return others;
  };
  const takeRow = (cellAt: CellAt, read: ListColumns): void => {
    number += 1;
    const others = take(cellAt, read);
    figures.unread += others;
    if (others > 0 && !hasUnread && figures.rows.length < mostUnreadRows) figures.rows.push(number);
  };
  let read: ListColumns | undefined = header.length === 1 ? { positions: [0] } : undefined;
  const judged: (readonly CellText[])[] = [];
  const judge = (): ListColumns => {
    const found = columnsOf(source.name, header, judged, named);
    for (const row of judged) takeRow((at) => row[at], found);
    return found;
  };
  for await (const chunk of reading.chunks) {
    for (let row = 0; row < chunk.length; row += 1) {
      if (read) takeRow((at) => chunk.text(row, at), read);
      else if (judged.push(all.map((at) => chunk.text(row, at))) === judgedRows) read = judge();
    }
  }
  // The supposed header may be the first address.
  take((at) => header[at], read ?? judge());
  figures.name ||= source.name;
}

type CellAt = (position: number) => CellText;

/** A column of domains, with emails among them, may have any name. */
const enoughEntries = 0.8;

function isEntry(cell: CellText): boolean {
  return isDomain(cell) || (typeof cell === 'string' && isEmail(cell));
}

interface ListColumns {
  readonly positions: readonly number[];
  /** Of the column that says whose numbers they are, row by row. */
  readonly country?: number | undefined;
}

/** @throws ConfigurationError where no column is named, and none holds addresses or domains */
function columnsOf(
  list: string,
  header: readonly string[],
  rows: readonly (readonly CellText[])[],
  named: readonly number[] | undefined,
): ListColumns {
  const { contacts, country: ofRows, all } = judgeColumns(header, rows);
  const country = ofRows && findColumn(header, ofRows.name);
  if (named) return { positions: named, country };
  const found =
    contacts.length > 0
      ? contacts.map(({ name }) => findColumn(header, name))
      : header.flatMap((_, at) => {
          const filled = rows
            .map((row) => row[at])
            .filter((cell) => cell !== undefined && cell !== '');
          const entries = filled.filter(isEntry).length;
          return entries > 0 && entries >= filled.length * enoughEntries ? [at] : [];
        });
  if (found.length > 0 || rows.length === 0) return { positions: found, country };
  const titles = all.map(({ title }) => title);
  const names = namesNear('email', titles);
  throw new ConfigurationError(
    `${list} is to be suppressed, and none of its columns seems to hold addresses: name it as ${optionName('suppress', `${list}#<column>`)}; its columns are: ${names}`,
    { code: 'column_not_found', option: 'suppress' },
  );
}
