import { parseDate, parseTime, parseTimestamp } from '../rows/values/civil-time.js';
import type { CellFormat } from '../rows/chunks/row-chunk.js';
import { asShown, days1904, textOfSerial, timeOfSerial } from './number-format.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import { attribute, type PlainCell, XmlError } from './scan-xml.js';
import { decodeEscapes, type Sheet, type Workbook } from './workbook.js';

export interface SheetRow {
  readonly number: number;
  /** By a filter or by hand. */
  readonly isHidden: boolean;
  values: unknown[];
  formats: (CellFormat | undefined)[] | undefined;
}

const mostColumns = 16_384;
/** Wider empty columns in front of all others are left out. */
const widestMargin = 255;

interface OpenCell {
  readonly column: number;
  readonly type: string;
  readonly style: number;
  /** Of its value, or the number of a shared text. */
  text: string;
  inline: string;
  hasFormula: boolean;
  hasResult: boolean;
}

/**
 * The rows of a sheet with a value, in order. A formula counts by its result; formatting alone is no value.
 *
 * @param onUncomputed called for each formula without a result, or with 0 where it is to be calculated: written
 *   by a program that does not calculate
 */
export async function* readSheetRows(
  workbook: Workbook,
  sheet: Sheet,
  onUncomputed: () => void,
): AsyncGenerator<SheetRow[]> {
  let row: SheetRow | undefined;
  let cell: OpenCell | undefined;
  let margin: number | undefined;
  let number = 0;
  let column = -1;
  let inside: 'text' | 'inline' | undefined;
  let isPhonetic = false;
  let isOver = false;
  for await (const tokens of sheet.tokens()) {
    const rows: SheetRow[] = [];
    for (const token of tokens) {
      if (token.kind === 'text') {
        if (cell && inside && !isPhonetic) cell[inside] += token.text;
        continue;
      }
      if (token.kind === 'cell') {
        const plain = plainCell(token);
        column = plain.column;
        if (row) takeCell(row, plain, workbook, margin);
        continue;
      }
      const isOpen = token.kind === 'open' && !token.isEmpty;
      switch (token.name) {
        case 'row':
          if (token.kind === 'open') {
            number = rowNumber(attribute(token.attributes, 'r'), number);
            // Most rows have no such attribute, and looking for one costs as much as a cell.
            const mayBeHidden = token.attributes.includes('hidden');
            const hidden = mayBeHidden ? attribute(token.attributes, 'hidden') : undefined;
            const isHidden = hidden === '1' || hidden === 'true';
            row = { number, isHidden, values: [], formats: undefined };
            column = -1;
          }
          if (!isOpen) {
            if (row && row.values.length > 0) rows.push(row);
            row = undefined;
          }
          break;
        case 'c':
          if (token.kind === 'open' && row) {
            cell = openCell(token.attributes, column);
            column = cell.column;
          }
          if (!isOpen && cell && row) {
            const hasValue = takeCell(row, cell, workbook, margin);
            // An empty text is a result, too.
            const isText = cell.type === 'str' && cell.hasResult;
            const isZero = workbook.isUncalculated && cell.type === 'n' && cell.text === '0';
            if (cell.hasFormula && (isZero || (!hasValue && !isText))) onUncomputed();
            cell = undefined;
          }
          break;
        case 'f':
          if (cell && token.kind === 'open') cell.hasFormula = true;
          break;
        case 'v':
          if (cell) cell.hasResult = true;
          inside = isOpen ? 'text' : undefined;
          break;
        case 't':
          inside = isOpen ? 'inline' : undefined;
          break;
        case 'rPh':
          isPhonetic = isOpen;
          break;
        case 'worksheet':
          isOver = token.kind === 'close' || token.isEmpty;
          break;
        default:
      }
    }
    if (rows.length === 0) continue;
    margin ??= leaveMarginOut(row ? [...rows, row] : rows);
    yield rows;
  }
  if (!isOver) throw new XmlError('the sheet ends too early', 'cut_short');
}

function rowNumber(given: string | undefined, before: number): number {
  const number = given === undefined ? before + 1 : Number(given);
  if (Number.isSafeInteger(number) && number > before) return number;
  throw new XmlError('the rows of the sheet are not in order');
}

const upperCase = 0xdf;

/** Without a place of its own a cell is after the one before it. */
function openCell(attributes: string, before: number): OpenCell {
  const place = attribute(attributes, 'r');
  return {
    column: place === undefined ? before + 1 : columnOf(place),
    type: attribute(attributes, 't') ?? 'n',
    style: Number(attribute(attributes, 's') ?? 0),
    text: '',
    inline: '',
    hasFormula: false,
    hasResult: false,
  };
}

/** From 0: `A1` is in column 0, `AB7` and `ab7` in column 27. */
function columnOf(place: string): number {
  let column = 0;
  for (let at = 0; at < place.length; at += 1) {
    const letter = (place.charCodeAt(at) & upperCase) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
    if (column > mostColumns) break;
  }
  if (column < 1 || column > mostColumns) throw new XmlError('a cell is in no column');
  return column - 1;
}

function plainCell({
  place,
  style = '0',
  type = 'n',
  text = '',
  inline = '',
}: PlainCell): OpenCell {
  return {
    column: columnOf(place),
    type,
    style: Number(style),
    text,
    inline,
    hasFormula: false,
    hasResult: true,
  };
}

/** Puts a cell's value into its row; returns whether it has one. */
function takeCell(row: SheetRow, cell: OpenCell, workbook: Workbook, margin?: number): boolean {
  const { value, format } = readCell(cell, workbook);
  if (value === undefined) return false;
  const at = cell.column - (margin ?? 0);
  if (at < 0) {
    throw new XmlError(
      `row ${grouped(row.number)} has a value in column ${grouped(cell.column + 1)}, and the first rows have none in front of column ${grouped((margin ?? 0) + 1)}; put the columns side by side`,
    );
  }
  // Until the margin is known, missing cells are absent.
  while (margin !== undefined && row.values.length < at) row.values.push(null);
  row.values[at] = value;
  if (format !== undefined) (row.formats ??= [])[at] = format;
  return true;
}

/** Removes empty columns in front of the rows. @returns their number */
function leaveMarginOut(rows: readonly SheetRow[]): number {
  const firsts = rows.flatMap(({ values }) => Object.keys(values).slice(0, 1).map(Number));
  const first = Math.min(...firsts);
  const margin = first > widestMargin ? first : 0;
  for (const row of rows) {
    const { values, formats } = row;
    row.values = Array.from(
      { length: Math.max(0, values.length - margin) },
      (_, at) => values[at + margin] ?? null,
    );
    row.formats = formats?.slice(margin);
  }
  return margin;
}

function readCell(
  { type, style, text, inline }: OpenCell,
  { sharedStrings, styles, is1904 }: Workbook,
): { readonly value?: unknown; readonly format?: CellFormat | undefined } {
  if (inline !== '') return present(decodeEscapes(inline));
  // An empty value is none: neither the first shared text nor `false`.
  if (text.trim() === '' && type !== 'str' && type !== 'inlineStr') return {};
  switch (type) {
    case 's': {
      const shared = sharedStrings[Number(text)];
      if (shared === undefined) throw new XmlError('a cell refers to a text that is not there');
      return present(shared);
    }
    case 'str':
    case 'inlineStr':
      return present(decodeEscapes(text));
    case 'b':
      return { value: text.trim() === '1' || text.trim() === 'true' };
    case 'e':
      return present(text);
    case 'd': {
      const local = asShown(text.replace(/Z$/, ''), styles[style]?.meaning ?? 'date');
      const kind = civilKind(local);
      return { value: local, format: { ...formatOf(styles[style]), ...(kind && { kind }) } };
    }
    default:
      return readNumber(text, styles[style], is1904);
  }
}

/** An empty text is an empty cell. */
function present(text: string): { readonly value?: string } {
  return text === '' ? {} : { value: text };
}

function readNumber(
  text: string,
  style: Workbook['styles'][number] | undefined,
  is1904: boolean,
): { readonly value?: unknown; readonly format?: CellFormat | undefined } {
  const number = Number(text);
  if (Number.isNaN(number)) throw new XmlError('a number is none');
  const format = formatOf(style);
  const { meaning = 'number' } = style ?? {};
  if (meaning === 'time' && number >= 0 && number < 1) {
    return {
      value: timeOfSerial(number),
      format: { ...format, serial: number, kind: 'time' },
    };
  }
  if (meaning !== 'number') {
    // More than a day is a date with its time, whatever is displayed.
    const value = textOfSerial(number, is1904, meaning);
    const kind = value === undefined ? undefined : civilKind(value);
    if (kind)
      return {
        value, // The output counts from 1900.
        format: { ...format, serial: is1904 ? number + days1904 : number, kind },
      };
  }
  const value = isLongInteger.test(text) && !Number.isSafeInteger(number) ? BigInt(text) : number;
  return { value, ...(format.code !== undefined && { format }) };
}

/** Programs other than Excel write long identifiers with all their digits. */
const isLongInteger = /^-?\d{16,1000}$/;

function civilKind(text: string): 'date' | 'time' | 'timestamp' | undefined {
  if (parseDate(text) !== undefined) return 'date';
  if (parseTime(text) !== undefined) return 'time';
  return parseTimestamp(text) === undefined ? undefined : 'timestamp';
}

function formatOf(style: Workbook['styles'][number] | undefined): CellFormat {
  return { code: style?.code, builtIn: style?.builtIn };
}
