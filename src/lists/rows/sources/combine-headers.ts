import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { Kind, KindName } from '../values/kinds.js';
import type { SourceReading } from '../source.js';
import type { CellFormat, CellText, RawCells, RowChunk } from '../chunks/row-chunk.js';

/** For each column of the combined header its position in a source; -1 where missing. */
export type ColumnMap = readonly number[];

/** Kinds whose values are text: nothing but the column shows them. */
const isPrinted: ReadonlySet<KindName> = new Set([
  'decimal',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'interval',
  'uuid',
]);

/** Rows of one of several sources, with cells in the order of the combined header. */
export class CombinedChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  /** The rows as in their own source, whose bytes need no common header; these, where it names a column differently. */
  readonly copied: RowChunk;
  readonly raw?: RawCells;
  readonly path?: (column: number) => readonly string[];
  readonly #source: RowChunk;
  readonly #map: ColumnMap;
  readonly #kinds: SourceReading['kinds'];

  /** @param reading whose rows they are */
  constructor(
    source: RowChunk,
    map: ColumnMap,
    { kinds, isRenamed = false }: Pick<SourceReading, 'kinds'> & { isRenamed?: boolean } = {},
  ) {
    this.#kinds = kinds;
    this.#source = source;
    this.copied = isRenamed ? this : source;
    this.#map = map;
    this.length = source.length;
    this.byteSize = source.byteSize;
    if (source.raw) this.raw = mapRaw(source.raw, map);
    if (source.path && !isRenamed) {
      this.path = (column) => {
        const at = map[column] ?? -1;
        return at === -1 ? [] : (source.path?.(at) ?? []);
      };
    }
  }

  text(row: number, column: number): CellText {
    const at = this.#map[column] ?? -1;
    return at === -1 ? undefined : this.#source.text(row, at);
  }

  value(row: number, column: number): unknown {
    const at = this.#map[column] ?? -1;
    if (at === -1) return undefined;
    return this.#source.value ? this.#source.value(row, at) : this.#source.text(row, at);
  }

  kind(row: number, column: number): Kind | undefined {
    const at = this.#map[column] ?? -1;
    if (at === -1) return undefined;
    const kind = this.#kinds?.[at];
    return this.#source.kind?.(row, at) ?? (kind && isPrinted.has(kind.name) ? kind : undefined);
  }

  format(row: number, column: number): CellFormat | undefined {
    const at = this.#map[column] ?? -1;
    return at === -1 ? undefined : this.#source.format?.(row, at);
  }

  cells(row: number): readonly unknown[] {
    const cells = this.#source.cells?.(row);
    return this.#map.map((at, column) =>
      at === -1 ? undefined : cells ? cells[at] : this.value(row, column),
    );
  }

  unlisted(row: number): string | undefined {
    return this.#source.unlisted?.(row);
  }
}

function mapRaw(raw: RawCells, map: ColumnMap): RawCells {
  const at = (column: number): number => map[column] ?? -1;
  return {
    bytes: raw.bytes,
    // An absent cell ends before it starts.
    cellStart: (row, column) => (at(column) === -1 ? 1 : raw.cellStart(row, at(column))),
    cellEnd: (row, column) => (at(column) === -1 ? 0 : raw.cellEnd(row, at(column))),
  };
}

export interface OneHeader {
  readonly name: string;
  readonly header: readonly string[];
  readonly isUnnamed: boolean;
}

interface CombinedHeader {
  readonly header: readonly string[];
  readonly isUnnamed: boolean;
  /** For each source; `undefined` where its header is the combined one. */
  readonly maps: readonly (ColumnMap | undefined)[];
  readonly renamed: readonly boolean[];
}

/**
 * Combines headers by name: the first one's columns, then additional ones of the others. A differently
 * written name (`email`, `Email `) takes the first spelling, where it is unambiguous.
 */
export function combineHeaders(all: readonly OneHeader[]): CombinedHeader {
  // A source without columns has no rows, such as an empty JSONL file.
  const [first, ...others] = all.filter(({ header }) => header.length > 0);
  if (!first) return { header: [], isUnnamed: false, maps: all.map(() => undefined), renamed: [] };
  const header = [...first.header];
  for (const other of others) {
    checkAgainst(first, other);
    if (isSame(other.header, header)) continue;
    refuseRepeated(first);
    refuseRepeated(other);
    const names = namesIn(header, other);
    if (!names.some((name) => header.includes(name))) {
      throw new ConfigurationError(
        `${other.name} has no column in common with ${first.name}: its columns are ${listed(other.header)}. Does it have no header, or is it another list?`,
        { fault: 'other_content' },
      );
    }
    header.push(...names.filter((name) => !header.includes(name)));
  }
  return {
    header,
    isUnnamed: first.isUnnamed,
    maps: all.map((one) => mapOf(one, header)),
    renamed: all.map((one) => one.header.some((name) => !header.includes(name))),
  };
}

/** Refuses a source without a required column. @param needed positions in the combined header */
export function checkNeeded(
  all: readonly OneHeader[],
  { header, maps }: { header: readonly string[]; maps: CombinedHeader['maps'] },
  needed: readonly number[],
): void {
  for (const [index, one] of all.entries()) {
    const map = maps[index];
    const missing = map && needed.find((column) => map[column] === -1);
    if (missing === undefined || one.header.length === 0) continue;
    throw new ConfigurationError(
      `${one.name} has no column ${JSON.stringify(header[missing])}; its columns are: ${listed(one.header)}. Add the column (its cells may be empty), or leave the file out`,
      { code: 'column_not_found', column: header[missing] },
    );
  }
}

/** Columns without names are identified by position, so their number must be the same. */
function checkAgainst(first: OneHeader, other: OneHeader): void {
  if (first.isUnnamed !== other.isUnnamed) {
    throw new ConfigurationError(
      `of ${first.name} and ${other.name} one has names for its columns and the other has none`,
      { fault: 'other_format' },
    );
  }
  if (first.isUnnamed && first.header.length !== other.header.length) {
    throw new ConfigurationError(
      `${first.name} has ${first.header.length} columns and ${other.name} has ${other.header.length}: without a header all files have the same columns`,
      { fault: 'other_format' },
    );
  }
}

function refuseRepeated({ name, header }: OneHeader): void {
  const repeated = header.find((column, at) => header.indexOf(column) !== at);
  if (repeated === undefined) return;
  throw new ConfigurationError(
    `${name} has more than one column named ${JSON.stringify(repeated)}, and the files do not have the same columns: rename one of them`,
    { code: 'column_exists', column: repeated, fault: 'repeated' },
  );
}

/** A source's column names in the combined header. */
function namesIn(header: readonly string[], { name: source, header: names }: OneHeader) {
  return names.map((name) => {
    if (header.includes(name)) return name;
    const isAlike = (other: string): boolean => caseless(other) === caseless(name);
    const [meant, ...others] = header.filter(isAlike);
    const isTaken = names.filter(isAlike).length > 1;
    if (meant === undefined || (others.length === 0 && !isTaken)) return meant ?? name;
    throw new ConfigurationError(
      `${source} has a column ${JSON.stringify(name)}, which may be ${[meant, ...others].map((other) => JSON.stringify(other)).join(' or ')} of the other files: write the name in one way in all of them`,
      { column: name },
    );
  });
}

function mapOf(one: OneHeader, header: readonly string[]): ColumnMap | undefined {
  if (isSame(one.header, header)) return undefined;
  const positions = new Map(namesIn(header, one).map((name, at) => [name, at]));
  return header.map((name) => positions.get(name) ?? -1);
}

const mostNames = 30;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).join(', ');
  return names.length > mostNames ? `${shown}, …` : shown;
}

/** Whether two lists have the same names in order. Called for each row: a program's strings are mostly identical. */
export function isSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

/** A column's name for comparison: equal for names that a person takes for the same. */
export function caseless(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}
