import { ConfigurationError } from '../../platform/errors/errors.js';
import { printValue } from '../rows/values/print-value.js';
import { tellTextCells } from '../rows/values/tell-text-columns.js';
import { TableRows } from '../rows/chunks/table-rows.js';
import type { FormatWriting } from '../files/writer-sink.js';
import { isCellKind } from './number-cell.js';
import { refuseLong, XlsxWriter } from './xlsx-writer.js';

/** What a sheet can hold; one row is for the names. */
const mostRows = 1_048_576 - 1;
const mostColumns = 16_384;

/** How rows are written as a workbook. */
export const xlsxWriting: FormatWriting = {
  maxRows: mostRows,
  create(output, opening) {
    const { reading, onTextColumn } = opening;
    // What is only seen in rows is told where they are looked at first.
    tellTextCells({ reading, output: 'XLSX', onTextColumn }, isCellKind);
    return new XlsxWriter(output, opening);
  },
  examine(reading, { added, onTextColumn }) {
    const { header } = reading;
    const columns = header.length + added.flat().length;
    if (columns > mostColumns) {
      throw new ConfigurationError(
        `the output has ${String(columns)} columns, and a workbook at most ${String(mostColumns)}: write another format`,
      );
    }
    const rows = new TableRows(header.length);
    const tell = tellTextCells({ reading, output: 'XLSX', onTextColumn }, isCellKind);
    return (chunk) => {
      for (let row = 0; row < chunk.length; row += 1) {
        const cells = rows.read(chunk, row);
        for (const cell of cells) refuseLong(printValue(cell) ?? '');
        tell(chunk, row, cells);
      }
    };
  },
};
