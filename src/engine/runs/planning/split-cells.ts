import type { VerificationType } from '../../../contract/enums.js';
import {
  changedChunks,
  invalidText,
  type CellFormat,
  type CellText,
  type RowChunk,
} from '../../../lists/rows/chunks/row-chunk.js';
import type { JoinedRows } from '../../../lists/rows/sink.js';
import type { OpenSourceOptions, Source, SourceReading } from '../../../lists/rows/source.js';
import { withMembers } from '../../../lists/rows/guarded-ends.js';
import type { Kind } from '../../../lists/rows/values/kinds.js';
import { trimCell } from '../../addresses/address.js';
import { addressesIn, isListText, listText } from '../../addresses/cell-form.js';
import { type ColumnOptions, layOutColumns } from '../../columns/column-layout.js';
import { notice } from '../../../platform/text/notices.js';
import { derivedSource, limitedSource } from '../../../lists/rows/sources/derived-sources.js';

type SplitColumns = readonly { readonly type: VerificationType; readonly position: number }[];

/** The source itself, or with `splitCells` or `limit` one with split cells or the first rows. */
export function askedSource(
  source: Source,
  options: ColumnOptions & {
    readonly splitCells?: boolean | undefined;
    readonly limit?: number | undefined;
  },
): Source {
  const split = options.splitCells === true ? splitCellsSource(source, options) : source;
  return limitedSource(split, options.limit);
}

/** Repeats each row for every address in a verified cell. Several such columns are split together, by position. */
function splitCellsSource(source: Source, columns: ColumnOptions): Source {
  const decides = { ...source.decides, 'split-cells': 'true' };
  const open: Source['open'] = async (opening) => openSplit(source, columns, opening);
  return derivedSource(source, { decides, open }, (kept) => splitCellsSource(kept, columns));
}

async function openSplit(
  source: Source,
  options: ColumnOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading> {
  const reading = await source.open({
    ...opening,
    wanted: (header) => [
      ...new Set([
        ...opening.wanted(header),
        ...layOutColumns(header, options).columns.map(({ position }) => position),
      ]),
    ],
  });
  const { columns } = layOutColumns(reading.header, options);
  const found = { rows: 0, more: 0, bare: 0, lists: 0, types: new Set<VerificationType>() };
  const reportSplit = (): void => {
    const { types, ...counts } = found;
    if (types.size === 0) return;
    const [type = null, ...others] = types;
    opening.onNotice?.(
      notice('split_rows', { ...counts, type: others.length === 0 ? type : null }),
    );
  };
  const positions = new Set(columns.map(({ position }) => position));
  return withMembers(reading, {
    // An address of a list, or of bytes, is text.
    kinds: reading.kinds?.map((kind, at): Kind | undefined =>
      positions.has(at) && (kind?.name === 'json' || kind?.name === 'binary')
        ? { name: 'text' }
        : kind,
    ),
    storedForm: undefined,
    chunks: changedChunks<RowChunk, RowChunk>(
      reading.chunks[Symbol.asyncIterator](),
      (chunk) => splitChunk(chunk, columns, found) ?? chunk,
      reportSplit,
    ),
  });
}

/** @returns `undefined` where no cell of the rows is split */
function splitChunk(
  chunk: RowChunk,
  columns: SplitColumns,
  counts: { rows: number; more: number; bare: number; lists: number; types: Set<VerificationType> },
): SplitChunk | undefined {
  let places: Place[] | undefined;
  for (let row = 0; row < chunk.length; row += 1) {
    const parts = new Map<number, readonly string[]>();
    let isBare = false;
    let isOfList = false;
    for (const { type, position } of columns) {
      const cell = chunk.text(row, position);
      const mayBeList = cell === invalidText || cell?.startsWith('[') === true;
      const list = mayBeList ? listText(chunk.value?.(row, position)) : undefined;
      // A list without values is an empty cell.
      if (list === '[]') {
        parts.set(position, ['']);
        continue;
      }
      const text = list ?? cell;
      const found = addressesIn(type, text);
      if (!found) continue;
      parts.set(position, found);
      counts.types.add(type);
      const isList = typeof text === 'string' && isListText(trimCell(text));
      isOfList ||= isList;
      isBare ||= !isList && found.length === 1;
    }
    if (parts.size === 0) {
      places?.push({ row });
      continue;
    }
    const count = Math.max(...[...parts.values()].map(({ length }) => length));
    if (count > 1) counts.rows += 1;
    else if (isBare) counts.bare += 1;
    else if (isOfList) counts.lists += 1;
    counts.more += count - 1;
    places ??= Array.from({ length: row }, (_, before) => ({ row: before }));
    for (let at = 0; at < count; at += 1) places.push({ row, at, parts });
  }
  return places && new SplitChunk(chunk, places);
}

/** A row's origin, and by position of the cells that are split: their parts, and which of them are its own. */
interface Place {
  readonly row: number;
  readonly at?: number;
  readonly parts?: ReadonlyMap<number, readonly string[]>;
}

/** The rows of a chunk, some repeated. */
class SplitChunk implements RowChunk {
  readonly source: RowChunk;
  readonly places: readonly Place[];
  readonly byteSize: number;
  readonly number?: (row: number) => number;
  readonly path?: (column: number) => readonly string[];
  readonly sheetName?: string;

  constructor(source: RowChunk, places: readonly Place[]) {
    this.source = source;
    this.places = places;
    this.byteSize = source.byteSize + places.length * placeBytes;
    if (source.sheetName !== undefined) this.sheetName = source.sheetName;
    if (source.path) this.path = source.path.bind(source);
    if (source.number) this.number = (row) => source.number?.(this.#at(row).row) ?? 0;
  }

  get length(): number {
    return this.places.length;
  }

  text(row: number, column: number): CellText {
    return this.#part(row, column) ?? this.source.text(this.#at(row).row, column);
  }

  value(row: number, column: number): unknown {
    const cell = this.#part(row, column);
    if (cell !== undefined) return cell;
    const { row: own } = this.#at(row);
    return this.source.value ? this.source.value(own, column) : this.source.text(own, column);
  }

  kind(row: number, column: number): Kind | undefined {
    return this.#ofWhole(row, column, this.source.kind?.bind(this.source));
  }

  format(row: number, column: number): CellFormat | undefined {
    return this.#ofWhole(row, column, this.source.format?.bind(this.source));
  }

  /** What the source says of a cell that is not split: a part is text. */
  #ofWhole<What>(
    row: number,
    column: number,
    of: ((row: number, column: number) => What) | undefined,
  ): What | undefined {
    return this.#part(row, column) === undefined ? of?.(this.#at(row).row, column) : undefined;
  }

  parts(row: number, column: number): readonly string[] | undefined {
    return this.#at(row).parts?.get(column);
  }

  isSplitOff(row: number): boolean {
    return row > 0 && this.#at(row).row === this.#at(row - 1).row;
  }

  unlisted(row: number): string | undefined {
    return this.source.unlisted?.(this.#at(row).row);
  }

  release(): void {
    this.source.release?.();
  }

  #part(row: number, column: number): string | undefined {
    const parts = this.parts(row, column);
    // A single address goes with each of the others.
    return parts && (parts.length === 1 ? parts[0] : (parts[this.#at(row).at ?? 0] ?? ''));
  }

  #at(row: number): Place {
    const place = this.places[row];
    if (!place) throw new RangeError(`there is no row ${row}`);
    return place;
  }
}

const placeBytes = 64;

/** Groups rows so that unsplit ones keep their source's chunk, which sinks can copy. */
export function* unsplitRows(rows: JoinedRows): Generator<JoinedRows> {
  const { chunk, from, to, outcomes, width } = rows;
  if (!(chunk instanceof SplitChunk)) {
    yield rows;
    return;
  }
  for (const { start, end, from: first } of stretchesOf(chunk, from, to)) {
    const cut = outcomes.subarray((start - from) * width, (end - from) * width);
    yield first === undefined
      ? { ...rows, from: start, to: end, outcomes: cut }
      : { chunk: chunk.source, from: first, to: first + end - start, outcomes: cut, width };
  }
}

/** The same before verification, for previews. */
export function validateUnsplit(
  chunk: RowChunk,
  validate: ((chunk: RowChunk) => void) | undefined,
): void {
  if (!validate) return;
  if (!(chunk instanceof SplitChunk)) return validate(chunk);
  validate(chunk.source);
  const split = chunk.places.filter(({ parts }) => parts);
  validate(new SplitChunk(chunk.source, split));
}

function* stretchesOf(
  { places }: SplitChunk,
  from: number,
  to: number,
): Generator<{ readonly start: number; readonly end: number; readonly from: number | undefined }> {
  for (let start = from; start < to;) {
    const isSplit = places[start]?.parts !== undefined;
    let end = start + 1;
    while (end < to && (places[end]?.parts !== undefined) === isSplit) {
      // Its own rows must be consecutive.
      if (!isSplit && places[end]?.row !== (places[end - 1]?.row ?? 0) + 1) break;
      end += 1;
    }
    yield { start, end, from: isSplit ? undefined : places[start]?.row };
    start = end;
  }
}
