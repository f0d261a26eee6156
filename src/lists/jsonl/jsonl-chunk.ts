import { lineEnd, type Lines } from '../files/bytes/line-feed.js';
import { type CellText, invalidText, type RowChunk } from '../rows/chunks/row-chunk.js';
import { textOfValue } from '../rows/values/print-value.js';
import { isUtf8 } from 'node:buffer';
import { InputError, type ErrorFault } from '../../platform/errors/errors.js';
import { JsonText } from '../rows/values/kinds.js';
import { isDeeperThan } from '../../platform/json.js';
import { grouped } from '../../platform/text/shown-numbers.js';

/** A column of a JSONL file: the path of names to its values, the outermost first. */
interface JsonColumn {
  readonly name: string;
  readonly path: readonly string[];
}

/**
 * The columns of rows that are JSON objects, in order of appearance: the members of an inner object are
 * columns of their own; lists are values.
 */
export class JsonColumns {
  readonly #columns = new Map<string, JsonColumn>();

  get all(): readonly JsonColumn[] {
    return [...this.#columns.values()];
  }

  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }

  get size(): number {
    return this.#columns.size;
  }

  /** @param text of the row, for the order of its names */
  add(row: JsonRow, text: () => string): void {
    let hasNumber = false;
    const added: (readonly string[])[] = [];
    walk(row, [], (path) => {
      if (this.#columns.has(keyOf(path))) return true;
      hasNumber ||= path.some((name) => isDigit(name.charAt(0)));
      added.push([...path]);
      return true;
    });
    for (const path of hasNumber ? pathsInOrder(text()) : added) {
      const key = keyOf(path);
      if (!this.#columns.has(key)) this.#columns.set(key, { name: path.join('.'), path });
    }
  }

  unlisted(row: JsonRow): string | undefined {
    let unknown: string | undefined;
    walk(row, [], (path) => {
      if (!this.#columns.has(keyOf(path))) unknown = path.join('.');
      return unknown === undefined;
    });
    return unknown;
  }
}

/** A row's value at the end of a path; nothing for an object, whose members are columns. */
function valueAt(row: JsonRow, path: readonly string[]): unknown {
  let value: unknown = row;
  for (const name of path) {
    // A prototype's values are not cells.
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return isJsonObject(value) && Object.keys(value).length > 0 ? undefined : value;
}

/** Joined with dots, two paths may look alike, as names may contain dots. */
function keyOf(path: readonly string[]): string {
  return path.length === 1 ? String(path[0]) : path.join('\u0000');
}

/** Calls `visit` for each value that is not an object with members, until it returns false. */
function walk(row: JsonRow, path: string[], visit: (path: readonly string[]) => boolean): boolean {
  for (const name of Object.keys(row)) {
    const value = row[name];
    path.push(name);
    const goesOn =
      isJsonObject(value) && Object.keys(value).length > 0 ? walk(value, path, visit) : visit(path);
    path.pop();
    if (!goesOn) return false;
  }
  return true;
}

export interface JsonlHeader {
  readonly name: string;
  /** In the header's order. */
  readonly columns: readonly JsonColumn[];
  readonly known: JsonColumns;
  /** Of the chunk that is being read alone: its rows are asked for again and again, and are large. */
  parsed?: { readonly chunk: JsonlChunk; readonly rows: JsonRow[] };
}

/** Rows of a JSONL file: their own bytes, parsed when a cell is read. */
export class JsonlChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  /** Bytes that the bounds refer to; never overwritten. */
  readonly bytes: Buffer;
  readonly #header: JsonlHeader;
  /** For each row its line's start, the next line's start, and the line's number. */
  readonly #rows: Uint32Array;
  readonly #firstLine: number;
  /** The latest row: cells are read row by row. */
  #exact: { readonly row: number; readonly value: JsonRow } | undefined;

  constructor(lines: Lines, header: JsonlHeader) {
    this.bytes = lines.bytes;
    this.#header = header;
    this.#firstLine = lines.firstLine;
    this.#rows = findRows(lines);
    this.length = this.#rows.length / 3;
    this.byteSize = lines.bytes.length + this.#rows.byteLength;
  }

  text(row: number, column: number): CellText {
    const value = this.value(row, column);
    return value === invalidText ? value : textOfValue(value);
  }

  value(row: number, column: number): unknown {
    const path = this.path(column);
    const value = valueAt(this.row(row), path);
    if (typeof value !== 'number' && typeof value !== 'object') return value;
    return value === null ? null : valueAt(this.#exactRow(row), path);
  }

  path(column: number): readonly string[] {
    const found = this.#header.columns[column];
    if (found === undefined) throw new RangeError(`there is no column ${String(column)}`);
    return found.path;
  }

  /** Whether an object of the row has a name twice, of which `JSON.parse` keeps the last value. */
  repeatsName(row: number): boolean {
    return countColons(this.bytes, ...this.bounds(row)) > countNames(this.row(row));
  }

  json(row: number): string {
    return this.bytes.toString('utf8', ...this.bounds(row));
  }

  unlisted(row: number): string | undefined {
    return this.#header.known.unlisted(this.row(row));
  }

  row(row: number): JsonRow {
    if (this.#header.parsed?.chunk !== this) this.#header.parsed = { chunk: this, rows: [] };
    return (this.#header.parsed.rows[row] ??= this.#parse(row, true));
  }

  /** The same with numbers as written: readers of text alone need not wait for it. */
  #exactRow(row: number): JsonRow {
    if (this.#exact?.row !== row) {
      const isExact = !hasOddNumber(this.json(row));
      this.#exact = { row, value: isExact ? this.row(row) : this.#parse(row, false) };
    }
    return this.#exact.value;
  }

  #parse(row: number, isRounded: boolean): JsonRow {
    const [start, next] = this.bounds(row);
    const bytes = this.bytes.subarray(start, next);
    const at = { name: this.#header.name, line: this.line(row) };
    return parseJsonRow(bytes, at, isRounded) ?? {};
  }

  line(row: number): number {
    return this.#firstLine + (this.#rows[3 * row + 2] as number);
  }

  bounds(row: number): readonly [start: number, next: number] {
    if (!(row >= 0 && row < this.length)) throw new RangeError(`there is no row ${String(row)}`);
    return [this.#rows[3 * row] as number, this.#rows[3 * row + 1] as number];
  }
}

/** Lines of white space are not rows. */
function findRows({ bytes, starts }: Lines): Uint32Array {
  const rows = new Uint32Array(3 * (starts.length - 1));
  let used = 0;
  for (let line = 0; line < starts.length - 1; line += 1) {
    const [start, next] = [starts[line] as number, starts[line + 1] as number];
    if (isBlank(bytes, start, lineEnd(bytes, start, next))) continue;
    rows.set([start, next, line], used);
    used += 3;
  }
  return rows.slice(0, used);
}

function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

type JsonRow = Readonly<Record<string, unknown>>;

/** Lists of contacts are not deeper; the walk must not exhaust the stack. */
const maxDepth = 200;

/**
 * Parses a line as a JSON object. Whole numbers too large for a double become bigints, others that a double
 * would print differently keep their text: no digit is lost. Invalid UTF-8 is `invalidText`.
 *
 * @param isRounded whether numbers may be doubles all the same: faster for readers of text
 *
 * @returns `undefined` for a line of white space
 */
export function parseJsonRow(
  bytes: Buffer,
  at: { readonly name: string; readonly line: number },
  isRounded = false,
): JsonRow | undefined {
  const text = bytes.toString('utf8');
  if (text.trim() === '') return undefined;
  const refuse = (why: string, fault: ErrorFault = 'not_json'): InputError =>
    new InputError(`${at.name}, line ${grouped(at.line)}: ${why}`, { line: at.line, fault });
  if (isDeeperThan(bytes, maxDepth))
    throw refuse(`more than ${String(maxDepth)} brackets are nested`, 'too_large');
  let value: unknown;
  try {
    value = !isRounded && hasOddNumber(text) ? parseExactly(text) : JSON.parse(text);
  } catch {
    // Its message would quote the line.
    throw refuse('this is not JSON; each line has to hold one object, with nothing after it');
  }
  if (!isJsonObject(value)) throw refuse('this is JSON, but no object with names and values');
  return isUtf8(bytes) ? value : (withInvalidText(value) as JsonRow);
}

function isJsonObject(value: unknown): value is JsonRow {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonText)
  );
}

/** Numbers that may print differently: many digits, a trailing zero, an exponent, a negative zero. */
function hasOddNumber(json: string): boolean {
  return (
    /\d{16}|\.0{6}|-0[\s,\]}]/.test(json) ||
    /\.\d*0[\s,\]}]/.test(json) ||
    /[eE][+-]?\d+[\s,\]}]/.test(json)
  );
}

/** Longer whole numbers stay text: arithmetic takes longer than reading them. */
const mostBigintDigits = 1000;

function parseExactly(text: string): unknown {
  // No text of the file can contain the mark, which is unpredictable.
  const mark = `\u0000${Math.random().toString(36)}`;
  // Checked before anything is replaced: invalid JSON must not become valid.
  JSON.parse(text);
  const marked = replaceNumbers(text, (digits) =>
    String(Number(digits)) === digits ? digits : JSON.stringify(mark + digits),
  );
  return JSON.parse(marked, (_, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    const digits = value.slice(mark.length);
    const isWhole = digits.length <= mostBigintDigits && /^-?[1-9]\d*$/.test(digits);
    return isWhole ? BigInt(digits) : new JsonText(digits);
  });
}

/** Replaces the numbers of a JSON text, but nothing in its strings. */
function replaceNumbers(json: string, replace: (digits: string) => string): string {
  let replaced = '';
  let done = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at);
    if (character === '"') {
      at = endOfString(json, at);
    } else if (character === '-' || isDigit(character)) {
      const from = at;
      while (numberPart.has(json.charAt(at + 1))) at += 1;
      replaced += json.slice(done, from) + replace(json.slice(from, at + 1));
      done = at + 1;
    }
  }
  return replaced + json.slice(done);
}

const numberPart = new Set('0123456789+-.eE');

/** The paths of a row's values as written: an object has names that are numbers before all others. */
function pathsInOrder(json: string): readonly (readonly string[])[] {
  let marked = '';
  let done = 0;
  for (let at = 0; at < json.length; at += 1) {
    if (json.charAt(at) !== '"') continue;
    const end = endOfString(json, at);
    let next = end + 1;
    while (json.charAt(next).trim() === '' && next < json.length) next += 1;
    if (json.charAt(next) === ':') {
      marked += `${json.slice(done, at + 1)}.`;
      done = at + 1;
    }
    at = end;
  }
  const paths: (readonly string[])[] = [];
  walk(JSON.parse(marked + json.slice(done)) as JsonRow, [], (path) => {
    paths.push(path.map((name) => name.slice(1)));
    return true;
  });
  return paths;
}

/** Each name has one after it. */
function countColons(json: Uint8Array, from: number, to: number): number {
  let count = 0;
  let isInString = false;
  for (let at = from; at < to; at += 1) {
    const byte = json[at];
    if (byte === 0x22) isInString = !isInString;
    else if (byte === 0x5c) at += 1;
    else if (byte === 0x3a && !isInString) count += 1;
  }
  return count;
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values: readonly unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : values.length;
  return values.reduce((sum: number, each) => sum + countNames(each), own);
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

function endOfString(json: string, from: number): number {
  let at = from + 1;
  while (json.charAt(at) !== '"') at += json.charAt(at) === '\\' ? 2 : 1;
  return at;
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** A decoder's replacement characters mark invalid text. */
function withInvalidText(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\ufffd') ? invalidText : value;
  if (Array.isArray(value)) {
    return JSON.stringify(value, bigintAsText).includes('\ufffd') ? invalidText : value;
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withInvalidText(member)]),
  );
}
