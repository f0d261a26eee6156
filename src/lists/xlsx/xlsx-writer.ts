import { ConfigurationError } from '../../platform/errors/errors.js';
import { notice, type Notice } from '../../platform/text/notices.js';
import type { ByteOutput } from '../files/outputs/byte-output.js';
import type { FormatWriting, RowsWriter } from '../files/writer-sink.js';
import { TableRows, tableValidator } from '../rows/chunks/table-rows.js';
import type { JoinedRows, OpenSinkOptions } from '../rows/sink.js';
import { printValue } from '../rows/values/print-value.js';
import { reportTextCells } from '../rows/values/kind-tally.js';
import { KeptWorkbook, type OtherSheets } from './kept-workbook.js';
import { isCellKind } from './number-format.js';
import { refuseLong, SheetWriter, Styles } from './sheet-writer.js';
import type { SheetTable } from './workbook.js';
import { stylesPart, workbookParts } from './xlsx-parts.js';
import { isXlsxReading, type XlsxReading } from './xlsx-reading.js';
import { ZipWriter } from './zip/zip-writer.js';

/** Writes joined rows as a workbook: a sheet for each header of the input's sheets. */
class XlsxWriter implements RowsWriter {
  readonly #opening: OpenSinkOptions;
  readonly #zip: ZipWriter;
  readonly #rows: TableRows;
  readonly #styles: Styles;
  readonly #kept: KeptWorkbook | undefined;
  /** Of an input with several. */
  readonly #tables: readonly SheetTable[];
  #sheet: SheetWriter | undefined;
  #sheets = 0;

  private constructor(output: ByteOutput, opening: OpenSinkOptions, kept?: KeptWorkbook) {
    this.#opening = opening;
    this.#kept = kept;
    this.#styles = new Styles(kept?.firstStyle ?? 1);
    this.#zip = new ZipWriter(output);
    const { reading } = opening;
    this.#rows = new TableRows(reading.header.length);
    const tables = isXlsxReading(reading) ? reading.tables : [];
    this.#tables = tables.length > 1 || kept ? tables : [];
  }

  static async create(output: ByteOutput, opening: OpenSinkOptions): Promise<XlsxWriter> {
    const { reading, isNewList = false } = opening;
    const others = isXlsxReading(reading) && !isNewList ? await reading.keepOthers() : undefined;
    if (!(others?.kept instanceof KeptWorkbook)) return new XlsxWriter(output, opening);
    const writer = new XlsxWriter(output, opening, others.kept);
    // The input may be closed before its first row is written.
    await writer.#begin();
    return writer;
  }

  async write(rows: JoinedRows): Promise<void> {
    const { sheetName } = rows.chunk;
    if (!this.#sheet) await this.#begin(sheetName);
    const table = this.#tables.findIndex(({ sheets }) => sheets.includes(sheetName ?? ''));
    while (this.#sheets <= table) await this.#nextSheet();
    await this.#sheet?.write(rows, this.#rows);
  }

  async end(): Promise<void> {
    if (!this.#sheet) await this.#begin();
    while (this.#sheets < this.#tables.length) await this.#nextSheet();
    await this.#sheet?.end();
    const { added } = this.#styles;
    const [name, xml] = this.#kept?.stylesWith(added) ?? ['xl/styles.xml', stylesPart(added)];
    await this.#put(name, xml);
    await this.#zip.end();
  }

  async #begin(sheetName = 'Sheet1'): Promise<void> {
    await this.#kept?.writeTo(this.#zip);
    const names = this.#tables.map(({ sheets: [name = ''] }) => name);
    const parts = this.#kept ? [] : workbookParts(names.length === 0 ? [sheetName] : names);
    for (const [name, xml] of parts) await this.#put(name, xml);
    await this.#nextSheet();
  }

  async #put(name: string, xml: string): Promise<void> {
    await this.#zip.begin(name);
    await this.#zip.write(Buffer.from(xml));
    await this.#zip.close();
  }

  async #nextSheet(): Promise<void> {
    await this.#sheet?.end();
    const { header } = this.#opening.reading;
    const listed = this.#tables[this.#sheets];
    const table = listed ?? { sheets: [], header, columns: [...header.keys()], isBelow: false };
    this.#sheets += 1;
    await this.#zip.begin(
      this.#kept?.partOf(listed?.sheets[0] ?? '') ?? `xl/worksheets/sheet${this.#sheets}.xml`,
    );
    this.#sheet = new SheetWriter(this.#zip, table, {
      opening: this.#opening,
      styles: this.#styles,
    });
  }
}

/** Most rows of a sheet; one is for the names. */
const mostRows = 1_048_576 - 1;
const mostColumns = 16_384;

export const xlsxWriting: FormatWriting = {
  maxRows: mostRows,
  create(output, opening) {
    // Properties that only rows show are reported where they are first examined.
    reportTextCells({ ...opening, output: 'XLSX' }, isCellKind);
    return XlsxWriter.create(output, opening);
  },
  async validate(reading, { added, isNewList, onTextColumn, onNotice }) {
    const { header } = reading;
    const columns = header.length + added.flat().length;
    if (columns > mostColumns) {
      throw new ConfigurationError(
        `the output has ${String(columns)} columns, and a workbook at most ${String(mostColumns)}: write another format`,
        { option: 'sink', fault: 'too_large' },
      );
    }
    if (isXlsxReading(reading) && isNewList !== true) {
      const others = await reading.keepOthers();
      if (others) onNotice?.(othersNotice(reading, others));
    }
    const report = reportTextCells({ reading, output: 'XLSX', onTextColumn }, isCellKind);
    return tableValidator(reading, (cells, chunk, row) => {
      for (const cell of cells) refuseLong(printValue(cell) ?? '');
      report(cells, chunk, row);
    });
  },
};

function othersNotice({ tables }: XlsxReading, { input, names, kept }: OtherSheets): Notice {
  if (!(kept instanceof KeptWorkbook)) {
    return notice('sheets_not_kept', { input, sheets: names, why: kept });
  }
  const moved = tables.filter(({ isBelow }) => isBelow).map(({ sheets: [first = ''] }) => first);
  return notice('sheets_kept', { input, sheets: names, lost: kept.lost, moved });
}
