import { join } from 'node:path';
import type { Sink, Source } from '../../../../src/index.js';
import type { TextColumn } from '../../../../src/lists/rows/sink.js';
import type { OnNotice } from '../../../../src/platform/text/notices.js';
import { printKind } from '../../../../src/lists/rows/values/kinds.js';
import { withFolder } from '../../../service/with-service.js';
import { writeRows } from '../../rows/read-rows.js';

/** What a column was that became text: its name and its kind. */
type Reported = readonly (readonly [column: string, kind: string | undefined])[];

/**
 * Carries the rows of a source into a sink as a durable run does, in two readings and with nothing added;
 * gives what was notified before the second.
 */
export async function carry(given: Source, sink: Sink, onNotice?: OnNotice): Promise<Reported> {
  const source = given.keep ? await given.keep(join(await withFolder(), 'kept')) : given;
  const reported: TextColumn[] = [];
  const columns = { verified: [0], added: [[]], samples: [[]] };
  await sink.check(1);
  const first = await source.open({ wanted: () => [0], ...(onNotice && { onNotice }) });
  const validate = await sink.validate?.(first, {
    ...columns,
    ...(onNotice && { onNotice }),
    onTextColumn: (column) => reported.push(column),
  });
  for await (const chunk of first.chunks) validate?.(chunk);
  const reading = await source.open({ wanted: () => [0] });
  await writeRows(sink, { ...columns, reading, cellsOf: () => [] });
  return reported.map(({ column, kind }) => [column, kind && printKind(kind)]);
}

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
