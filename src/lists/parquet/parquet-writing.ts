import { KindTally, type ColumnFacts } from '../rows/values/kind-tally.js';
import { tellTextColumns } from '../rows/values/tell-text-columns.js';
import { refuseRepeatedNames, TableRows } from '../rows/chunks/table-rows.js';
import type { FormatWriting } from '../files/writer-sink.js';
import { loadHyparquet, loadHyparquetWriter } from './load-hyparquet.js';
import { isParquetReading } from './parquet-chunk.js';
import { parquetForm } from './parquet-form.js';
import { ParquetRowsWriter } from './parquet-writer.js';
import { columnCopies, copyExaminer } from './trial-copy.js';

/** How rows are written as Parquet; one for each sink, as it remembers the columns' kinds. */
export function parquetWriting(): FormatWriting {
  let tally: KindTally | undefined;
  return {
    async check() {
      await loadHyparquetWriter();
      await loadHyparquet();
    },
    async examine(reading, { onTextColumn }) {
      const { header } = reading;
      refuseRepeatedNames(header, 'Parquet');
      const found = new KindTally(header.length, reading.kinds);
      tally = found;
      if (isParquetReading(reading)) {
        const packages = await loadHyparquetWriter();
        const copies = await columnCopies(reading.columns, packages);
        for (const [at, { name: column, kind }] of reading.columns.entries()) {
          if (!copies[at]) onTextColumn?.({ column, kind, output: 'Parquet' });
        }
        return copyExaminer(reading.columns, copies, packages);
      }
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
      const copies = isParquetReading(reading)
        ? await columnCopies(reading.columns, packages)
        : undefined;
      return new ParquetRowsWriter({ output, opening, packages, tally, copies, tell });
    },
  };
}

function isKept(facts: ColumnFacts): boolean {
  return parquetForm(facts) !== undefined;
}
