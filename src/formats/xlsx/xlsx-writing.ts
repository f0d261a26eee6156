import { ConfigurationError } from '../../errors/family.js';
import { printValue } from '../../rows/print-value.js';
import { TableRows } from '../table-rows.js';
import type { FormatWriting } from '../writer-sink.js';
import { refuseLong, XlsxWriter } from './xlsx-writer.js';

/** What a sheet can hold; one row is for the names. */
const mostRows = 1_048_576 - 1;
const mostColumns = 16_384;

/** How rows are written as a workbook. */
export const xlsxWriting: FormatWriting = {
  maxRows: mostRows,
  create: (output, opening) => new XlsxWriter(output, opening),
  examine({ header }, { added }) {
    const columns = header.length + added.flat().length;
    if (columns > mostColumns) {
      throw new ConfigurationError(
        `the output has ${String(columns)} columns, and a workbook at most ${String(mostColumns)}: write another format`,
      );
    }
    const rows = new TableRows(header.length);
    return (chunk) => {
      for (let row = 0; row < chunk.length; row += 1) {
        for (const cell of rows.read(chunk, row)) refuseLong(printValue(cell) ?? '');
      }
    };
  },
};
