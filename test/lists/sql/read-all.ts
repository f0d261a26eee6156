import type { Source } from '../../../src/index.js';

/** All cells of a source, as values. */
export async function readAll(source: Source): Promise<unknown[][]> {
  const reading = await source.open({ wanted: () => [] });
  const rows: unknown[][] = [];
  for await (const chunk of reading.chunks) {
    for (let row = 0; row < chunk.length; row += 1) {
      const cells = chunk.cells?.(row);
      rows.push(cells ? [...cells] : reading.header.map((_, at) => chunk.value?.(row, at)));
    }
  }
  return rows;
}
