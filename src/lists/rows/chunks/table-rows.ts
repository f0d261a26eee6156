import {
  ConfigurationError,
  type ErrorPlace,
  InputError,
} from '../../../platform/errors/errors.js';
import { isPrintable } from '../values/print-value.js';
import type { OpenSinkOptions } from '../sink.js';
import type { SourceReading } from '../source.js';
import type { RowChunk } from './row-chunk.js';
import { notice, type OnNotice } from '../../../platform/text/notices.js';
import { optionName } from '../../../platform/text/sentence.js';
import { grouped } from '../../../platform/text/shown-numbers.js';

/** Takes rows apart for another format, without loss: cells without a name and invalid text are refused. */
export class TableRows {
  readonly #columns: number;
  readonly #reportHalves: ((cells: readonly unknown[]) => void) | undefined;
  #count = 0;

  /** @param reportHalves called with the cells of each row */
  constructor(columns: number, reportHalves?: (cells: readonly unknown[]) => void) {
    this.#columns = columns;
    this.#reportHalves = reportHalves;
  }

  /** The cells of a row, in the header's order; nothing for missing ones. */
  read(chunk: RowChunk, row: number): readonly unknown[] {
    this.#count += 1;
    const unlisted = chunk.unlisted?.(row);
    if (unlisted !== undefined) {
      throw this.#refuse(
        `has a value named ${JSON.stringify(unlisted)}, which the header does not have: it is found in the first rows of a stream, so put a row with all names first`,
        { column: unlisted },
      );
    }
    const cells = chunk.cells?.(row) ?? this.#oneByOne(chunk, row);
    const broken = cells.findIndex((cell) => !isPrintable(cell));
    if (broken === -1) {
      this.#reportHalves?.(cells);
      return cells;
    }
    throw this.#refuse(
      `holds in column ${String(broken + 1)} bytes that are not valid text, and only an output in the input's own format can take them over: name the input's encoding with ${optionName('encoding')}, such as windows-1252, which many programs on Windows write`,
      { fault: 'encoding' },
    );
  }

  #oneByOne(chunk: RowChunk, row: number): readonly unknown[] {
    return Array.from({ length: this.#columns }, (_, column) =>
      chunk.value === undefined ? chunk.text(row, column) : chunk.value(row, column),
    );
  }

  #refuse(what: string, place: ErrorPlace): InputError {
    return new InputError(`data row ${grouped(this.#count)} of the input ${what}`, {
      ...place,
      rows: [this.#count],
    });
  }
}

/**
 * For outputs in UTF-8, which has no form for half of a surrogate pair: reports each column that holds one
 * once, as its cells will differ.
 */
export function reportHalves(
  { header }: Pick<SourceReading, 'header'>,
  onNotice: OnNotice | undefined,
): ((cells: readonly unknown[]) => void) | undefined {
  if (!onNotice) return undefined;
  const reported = new Set<number>();
  return (cells) => {
    for (const [at, cell] of cells.entries()) {
      if (typeof cell !== 'string' || !/\p{Surrogate}/u.test(cell) || reported.has(at)) continue;
      reported.add(at);
      onNotice(notice('half_character', { column: header[at] ?? '' }));
    }
  };
}

/** The same for a writing, where its rows were not validated before: a stream is read once. */
export function reportUnseenHalves({
  reading,
  onNotice,
  onTextColumn,
}: OpenSinkOptions): ReturnType<typeof reportHalves> {
  return reportHalves(reading, onTextColumn && onNotice);
}

/** Checks rows as a writing takes them apart. @param look called with the cells of each row */
export function tableValidator(
  reading: SourceReading,
  look?: (cells: readonly unknown[], chunk: RowChunk, row: number) => void,
  onHalves?: OnNotice,
): (chunk: RowChunk) => void {
  const rows = new TableRows(reading.header.length, reportHalves(reading, onHalves));
  return (chunk) => {
    for (let row = 0; row < chunk.length; row += 1) {
      const cells = rows.read(chunk, row);
      look?.(cells, chunk, row);
    }
  };
}

/** Refuses names that are twice in a header, for formats that identify cells by name. */
export function refuseRepeatedNames(header: readonly string[], format: string): void {
  const seen = new Set<string>();
  for (const name of header) {
    if (seen.has(name)) {
      throw new ConfigurationError(
        `the input has more than one column named ${JSON.stringify(name)}, and ${format} has one value for each name: rename one of them, or write another format`,
        { code: 'column_exists', column: name, fault: 'repeated' },
      );
    }
    seen.add(name);
  }
}
