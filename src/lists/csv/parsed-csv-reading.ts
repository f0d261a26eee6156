import { isUtf8 } from 'node:buffer';
import { InputError } from '../../platform/errors/errors.js';
import { markBytesOf } from '../files/file-signature.js';
import { CellsChunk } from '../rows/chunks/object-chunk.js';
import { closableChunks, invalidText, type CellText } from '../rows/chunks/row-chunk.js';
import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import { optionName } from '../../platform/text/sentence.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import { csvError, type CsvForm, emptyInput, quoteByte } from './csv-format.js';
import type { FooterReader } from './dialect/footer-reader.js';
import type { CsvTable } from './dialect/header-detection.js';
import { type ParsedRow, type ParsedRows, parseRows, nextRows } from './parse-rows.js';

interface ParsedTable extends CsvTable {
  /** That of the first row. */
  readonly lineEnd: Uint8Array;
}

/**
 * One reading of a CSV input in an unusual dialect: other quotes and escapes, delimiters of several
 * characters. csv-parse reads it, about ten times slower.
 */
export class ParsedCsvReading implements SourceReading {
  readonly header: readonly string[];
  readonly isUnnamed: boolean;
  readonly form: CsvForm;
  readonly chunks: AsyncIterable<CellsChunk>;

  private constructor(
    header: readonly string[],
    rows: ParsedRows,
    input: ParsedTable,
    footer: () => Uint8Array,
  ) {
    const aboveHeader = Buffer.concat([input.above.bytes, rows.mark()]);
    this.header = header;
    this.isUnnamed = input.header === false;
    this.form = {
      aboveHeader,
      footer,
      headerBytes: undefined,
      hasMark: markBytesOf(aboveHeader) > 0,
      lineEnd: input.lineEnd,
      delimiter: input.dialect.delimiter,
      isBare: input.dialect.quote === undefined,
      isTsv: input.isTsv,
      isTxt: input.isTxt,
    };
    this.chunks = closableChunks(this.#toChunks(rows.gathered, input), rows.close);
  }

  /** Reads up to the first row; closes the reader when that fails. @throws InputError; what `wanted` throws */
  static async open(
    reader: FooterReader,
    input: ParsedTable,
    opening: OpenSourceOptions,
  ): Promise<ParsedCsvReading> {
    const { name, header: hasHeader = true, above } = input;
    const { gathered: parsed, close, mark } = parseRows(reader, input);
    const isMixed = input.dialect.quote === undefined && input.quote === undefined;
    const gathered = isMixed ? withWholeRows(parsed, input) : parsed;
    try {
      const first = await nextRows(gathered, input);
      const [head] = first ?? [];
      if (first === undefined || head === undefined) throw emptyInput(name, above.lines + 1);
      const names = head.record.map((cell, at) =>
        hasHeader ? cell.toString('utf8') : `#${String(at + 1)}`,
      );
      opening.wanted(names);
      const rows = { gathered: after(hasHeader ? first.slice(1) : first, gathered), close, mark };
      return new ParsedCsvReading(names, rows, input, () => reader.footer);
    } catch (error) {
      await close();
      throw error;
    }
  }

  async *#toChunks(
    gathered: AsyncGenerator<ParsedRow[]>,
    input: CsvTable,
  ): AsyncGenerator<CellsChunk> {
    for (;;) {
      const rows = await nextRows(gathered, input);
      if (rows === undefined) return;
      yield new CellsChunk(rows.map((row) => this.#cellsOf(row, input)));
    }
  }

  #cellsOf({ record, info }: ParsedRow, { name, above }: CsvTable): readonly CellText[] {
    const columns = this.header.length;
    if (record.length <= columns) return record.map((cell) => textOfBytes(cell));
    const figures = `${String(record.length)} cells, expected ${String(columns)}`;
    throw csvError('too_many_cells', { name, line: above.lines + info.lines, figures });
  }
}

/**
 * Where quotes are ordinary characters because one was found inside a cell, refuses a quote that begins a cell
 * and is closed on a later line: programs that read both forms see one row there.
 */
async function* withWholeRows(
  gathered: AsyncGenerator<ParsedRow[]>,
  { name, above }: CsvTable,
): AsyncGenerator<ParsedRow[]> {
  let columns: number | undefined;
  let openedAt: number | undefined;
  for await (const rows of gathered) {
    for (const { record, info } of rows) {
      columns ??= record.length;
      const odd = record.filter((cell) => cell.includes(quoteByte) && hasOpenQuote(cell));
      if (openedAt !== undefined && odd[0]?.at(-1) === quoteByte) {
        throw new InputError(
          `${name}, line ${grouped(above.lines + openedAt)}: a quote that begins a cell here is closed on a later line, and other cells have quotes inside, so this may be one row or several; put whole cells in quotes and double the quotes inside them, or, if quotes are ordinary characters here, say so with ${optionName('quote', 'none')}`,
          { line: above.lines + openedAt, fault: 'unclosed_quote' },
        );
      }
      // What cannot be inside a quoted cell: a quote that neither ends it nor is doubled, or a whole row.
      if (odd.length > 0 || (columns > 1 && record.length === columns)) openedAt = undefined;
      if (odd.at(-1)?.[0] === quoteByte) openedAt ??= info.lines;
    }
    yield rows;
  }
}

/** Whether a cell has a quote that it neither doubles nor closes. */
function hasOpenQuote(cell: Buffer): boolean {
  let quotes = 0;
  for (const byte of cell) if (byte === quoteByte) quotes += 1;
  return quotes % 2 === 1;
}

async function* after<Item>(first: Item[], rest: AsyncGenerator<Item[]>): AsyncGenerator<Item[]> {
  if (first.length > 0) yield first;
  yield* rest;
}

function textOfBytes(cell: Buffer): CellText {
  return isUtf8(cell) ? cell.toString('utf8') : invalidText;
}
