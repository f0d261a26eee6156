import { KindTally, type ColumnFacts } from '../rows/values/kind-tally.js';
import { tellTextColumns } from '../rows/values/tell-text-columns.js';
import { refuseRepeatedNames, TableRows } from '../rows/chunks/table-rows.js';
import type { FormatWriting } from '../files/writer-sink.js';
import { loadHyparquet, loadHyparquetWriter } from './load-hyparquet.js';
import { isParquetReading } from './parquet-chunk.js';
import { parquetForm } from './parquet-form.js';
import { copyExaminer, ParquetRowsWriter } from './parquet-writer.js';

/** How rows are written as Parquet; one for each sink, as it remembers the columns' kinds. */
export function parquetWriting(): FormatWriting {
  let tally: KindTally | undefined;
  return {
    async check() {
      await loadHyparquetWriter();
      await loadHyparquet();
    },
    examine(reading, { onTextColumn }) {
      const { header } = reading;
      refuseRepeatedNames(header, 'Parquet');
      const found = new KindTally(header.length, reading.kinds);
      tally = found;
      // Rows that are copied need no form.
      if (isParquetReading(reading)) return copyExaminer(reading.columns);
      const rows = new TableRows(header.length);
      const tell = tellTextColumns({ reading, output: 'Parquet', onTextColumn }, isKept);
      tell(found);
      return (chunk) => {
        for (let row = 0; row < chunk.length; row += 1) rows.read(chunk, row);
        found.add(chunk);
        tell(found);
      };
    },
    async create(output, opening) {
      const { reading, onTextColumn } = opening;
      refuseRepeatedNames(reading.header, 'Parquet');
      const packages = await loadHyparquetWriter();
      const tell = tellTextColumns({ reading, output: 'Parquet', onTextColumn }, isKept);
      return new ParquetRowsWriter({ output, opening, packages, tally, tell });
    },
  };
}

function isKept(facts: ColumnFacts): boolean {
  return parquetForm(facts) !== undefined;
}
