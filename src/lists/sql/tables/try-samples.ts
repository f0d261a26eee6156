import { notice, type Notice } from '../../../platform/text/notices.js';
import type { ColumnsToValidate, OpenSinkOptions, OutputCell } from '../../rows/sink.js';
import type { SourceReading } from '../../rows/source.js';
import type { Connection } from '../connection.js';
import { checkingRefuser, withRowOf, type DatabaseFailure } from '../database-failure.js';
import type { TableAccess } from './table-access.js';
import type { TablePlan } from './table-plan.js';
import { trialWrite, type SampleRows } from './trial-write.js';

const patienceMs = 3000;

/** Plans a writing with what is known of the rows by then. */
export type PlanWriting<Database extends Connection> = (
  connection: Database,
  opening: OpenSinkOptions,
) => Promise<TablePlan>;

/** Writes sample rows with results of every kind into a table for trial, and reports what is unexpected. */
export async function trySamples<Database extends Connection>(
  access: TableAccess<Database>,
  plan: PlanWriting<Database>,
  rows: SampleRows,
  { reading, columns }: { readonly reading: SourceReading; readonly columns: ColumnsToValidate },
): Promise<void> {
  const numbers = rows.numbers();
  const failureOf = (error: unknown): DatabaseFailure =>
    withRowOf(access.failureOf(error), numbers);
  await access.use('look', checkingRefuser(access.name, failureOf), async (connection) => {
    const results = columns.samples.map((cells) => [...cells]);
    const cellsOf = (outcome: number, column: number): readonly OutputCell[] => {
      const cells = results[column] ?? [];
      return cells[outcome % cells.length] ?? [];
    };
    const opening: OpenSinkOptions = { ...columns, reading, cellsOf };
    const planned = await plan(connection, opening);
    for (const each of noticesOf(planned, access.into)) columns.onNotice?.(each);
    const tried = async (): Promise<void> => {
      const writing = await access.stage(connection, planned, opening, patienceMs);
      const exists = planned.mode === 'upsert' || planned.mode === 'update';
      const kinds = exists ? Math.max(...results.map((cells) => cells.length)) : 0;
      let start = 0;
      do {
        for (const joined of rows.joined(start, columns.verified.length)) {
          await writing.staging.write(joined);
        }
        start += numbers.length;
      } while (start < kinds && numbers.length > 0);
      await trialWrite(writing, numbers);
    };
    // Rows of this run that it may write again.
    const isOwn = columns.runId !== undefined && planned.marker?.run === columns.runId;
    if (!isOwn) {
      await tried().catch((error: unknown) => {
        if (access.failureOf(error).refusal?.kind !== 'locked') throw error;
        columns.onNotice?.(notice('lock_before_trial', { table: access.name }));
      });
    }
    await connection.close();
  });
}

/** Notices about unexpected treatment. */
function noticesOf({ unguarded, renamed }: TablePlan, table: string): readonly Notice[] {
  return [
    ...unguarded.map((column) => notice('unguarded_column', { column, table })),
    ...(renamed.length > 0 ? [notice('names_shortened', { table, columns: renamed })] : []),
  ];
}
