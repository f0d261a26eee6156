import { refuseRepeatedNames } from '../table-rows.js';
import type { FormatWriting } from '../writer-sink.js';
import type { ColumnKind } from './column-kind.js';
import { loadHyparquetWriter } from './load-hyparquet.js';
import { ParquetChunk } from './parquet-chunk.js';
import { KindFinder, ParquetRowsWriter } from './parquet-writer.js';

/** How rows are written as Parquet; one for each sink, as it remembers the columns' types. */
export function parquetWriting(): FormatWriting {
  let kinds: readonly ColumnKind[] | undefined;
  return {
    async check() {
      await loadHyparquetWriter();
    },
    examine({ header }) {
      refuseRepeatedNames(header, 'Parquet');
      const finder = new KindFinder(header.length);
      ({ kinds } = finder);
      return (chunk) => {
        // Rows that are copied need no form.
        if (!(chunk instanceof ParquetChunk)) finder.add(chunk);
      };
    },
    async create(output, opening) {
      refuseRepeatedNames(opening.reading.header, 'Parquet');
      const packages = await loadHyparquetWriter();
      return new ParquetRowsWriter({ output, opening, packages, kinds });
    },
  };
}
