import type { Sink } from '../../../src/lists/rows/sink.js';
import type { CellText } from '../../../src/lists/rows/chunks/row-chunk.js';
import type { SourceReading } from '../../../src/lists/rows/source.js';

/** The texts of all rows, in these columns. */
export async function textsOf(
  reading: SourceReading,
  columns: readonly number[] = [...reading.header.keys()],
): Promise<CellText[][]> {
  const rows: CellText[][] = [];
  for await (const chunk of reading.chunks) {
    for (let row = 0; row < chunk.length; row += 1) {
      rows.push(columns.map((column) => chunk.text(row, column)));
    }
  }
  return rows;
}

/** Writes all rows of a reading as a run does, all with the outcome 0. */
export async function writeRows(sink: Sink, opening: Parameters<Sink['open']>[0]): Promise<void> {
  const writing = await sink.open(opening);
  const width = opening.verified.length;
  try {
    for await (const chunk of opening.reading.chunks) {
      const outcomes = new Uint32Array(chunk.length * width);
      await writing.write({ chunk, from: 0, to: chunk.length, outcomes, width });
    }
    await writing.finish();
  } catch (error) {
    await writing.abort();
    throw error;
  }
}
