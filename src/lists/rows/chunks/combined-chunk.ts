import type { CellText, RawCells, RowChunk } from './row-chunk.js';

/** For each column of the combined header its position in a source's own; -1 where that lacks it. */
export type ColumnMap = readonly number[];

/** Rows of one of several sources, their cells in the order of the combined header. */
export class CombinedChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  /**
   * The rows as their own source has them: what is copied byte by byte needs no common header. These rows,
   * where the source calls a column otherwise.
   */
  readonly copied: RowChunk;
  readonly raw?: RawCells;
  readonly #source: RowChunk;
  readonly #map: ColumnMap;

  constructor(source: RowChunk, map: ColumnMap, isRenamed = false) {
    this.#source = source;
    this.copied = isRenamed ? this : source;
    this.#map = map;
    this.length = source.length;
    this.byteSize = source.byteSize;
    if (source.raw) this.raw = mapRaw(source.raw, map);
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
