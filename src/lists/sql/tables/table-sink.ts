import { chmod, stat } from 'node:fs/promises';
import { mostOpen } from '../../files/outputs/output-path.js';
import { KindTally, reportTextColumns } from '../../rows/values/kind-tally.js';
import { type FilePermissions, exists } from '../../../platform/files/file-system.js';
import type {
  ColumnsToValidate,
  SkippedUpdates,
  OpenSinkOptions,
  OutputCell,
  Sink,
  SinkWriting,
} from '../../rows/sink.js';
import { checkOptions, type OptionShape } from '../../../platform/check-options.js';
import { columnNames, count, flag, required, text } from '../../../platform/option-kinds.js';
import { ofLibrary } from '../../rows/guarded-ends.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import type { SourceReading } from '../../rows/source.js';
import { applyStaged, type TableWriting } from './apply-staged.js';
import { discardConnection, retryOnLock, useConnection, type Connection } from '../connection.js';
import type { Dialect, Purpose } from '../dialect.js';
import { createRowValidator } from './validate-rows.js';
import {
  checkingRefuser,
  openingRefuser,
  RefusedRows,
  withRowOf,
  writingRefuser,
  type DatabaseFailure,
  type Refuse,
} from '../database-failure.js';
import { parseTableName, type TablePlan } from './table-plan.js';
import { sourceTypes, planTable } from './plan-table.js';
import { trialWrite, SampleRows } from './trial-write.js';
import { findWritten } from './run-marker.js';
import { notice, type Notice } from '../../../platform/text/notices.js';

export interface TableKeyOptions {
  /**
   * The column or columns that identify a row. With a key, existing rows are updated and the others added; it
   * is also the primary key of a new table.
   * @default none: the table must not exist
   */
  readonly key?: string | readonly string[] | undefined;
  /**
   * Whether existing rows only get the added columns, and none is inserted.
   * @default whether the rows came from the same table, as the key's column shows
   */
  readonly isUpdate?: boolean | undefined;
}

/** How long to retry for another session's lock: paid results wait on disk. */
const patienceMs = 10 * 60_000;
const trialWritePatienceMs = 3000;

interface TableSinkOptions extends TableKeyOptions {
  readonly url: string;
  readonly into: string;
  readonly maxRowsPerCommit?: number | undefined;
}

const sinkShape: OptionShape<TableSinkOptions> = {
  url: required(text),
  into: required(text),
  key: {
    what: 'the name of a column, or an array of such names',
    isRight: (value) => text.isRight(value) || columnNames.isRight(value),
  },
  isUpdate: flag,
  maxRowsPerCommit: count,
};

/** Stands for a kind that need not be determined. */
const taken = { name: 'text' } as const;

/**
 * A table in a database. Rows are staged and applied in one transaction, with a marker of the run: all or
 * none appear, and writing them again changes nothing.
 */
export function tableSink<Database extends Connection>(
  dialect: Dialect<Database>,
  given: TableSinkOptions,
): Sink {
  checkOptions(given, sinkShape);
  const { url, into, maxRowsPerCommit = Infinity, ...options } = given;
  const name = `${into} in ${dialect.nameOf(url, 'write')}`;
  const parts = parseTableName(into, dialect.nameParts);
  const key = typeof options.key === 'string' ? [options.key] : (options.key ?? []);
  let tally: KindTally | undefined;
  let skippedUpdates: SkippedUpdates | undefined;
  let makesTable = false;
  const failureOf = (error: unknown): DatabaseFailure =>
    error instanceof RefusedRows ? error : dialect.failureOf(error);
  const refuse = writingRefuser(name, failureOf);
  const use = async <Value>(
    purpose: Purpose,
    refuseWith: Refuse,
    work: (connection: Database) => Promise<Value>,
  ): Promise<Value> => useConnection(() => dialect.connect(url, purpose), refuseWith, work);
  const plan = async (connection: Database, opening: OpenSinkOptions): Promise<TablePlan> => {
    const place = await dialect.locate(connection, parts);
    const written = await findWritten(dialect, connection, place);
    const wanted = { key, isUpdate: options.isUpdate, facts: tally?.facts };
    return planTable(
      { dialect, store: connection.store, name: place, ...written },
      wanted,
      opening,
    );
  };
  /** The plan where the new table has appeared from this run since, see `hasAppeared`. */
  const planAgain = async (
    connection: Database,
    { mode }: TablePlan,
    opening: OpenSinkOptions,
  ): Promise<TablePlan | undefined> => {
    if (mode !== 'create' || opening.runId === undefined) return undefined;
    await connection.query('ROLLBACK').catch(() => undefined);
    const again = await plan(connection, opening).catch(() => undefined);
    return again?.marker?.run === opening.runId ? again : undefined;
  };
  /** A column with its own type is accepted unchanged. */
  const tallyOf = (reading: SourceReading, { store }: Connection): KindTally => {
    const { header, kinds } = reading;
    const own = sourceTypes(reading, { dialect, store });
    const declared = header.map((_, at) => (own[at] === undefined ? kinds?.[at] : taken));
    return new KindTally(header.length, declared);
  };
  const telling = (
    reading: SourceReading,
    { mode }: TablePlan,
    onTextColumn: OpenSinkOptions['onTextColumn'],
  ): ((found: KindTally) => void) =>
    reportTextColumns(
      { reading, output: dialect.label, onTextColumn },
      (facts) => mode !== 'create' || dialect.typeOf(facts) !== undefined,
    );
  const begin = async (
    connection: Database,
    planned: TablePlan,
    opening: OpenSinkOptions,
    patienceMs: number,
  ): Promise<TableWriting<Database>> => {
    const { runId, onNotice, signal } = opening;
    const waiting = { name, failureOf, onNotice, signal, patienceMs };
    const staging = await retryOnLock(waiting, connection, () =>
      dialect.stage(connection, planned, opening),
    );
    return {
      dialect,
      connection,
      plan: planned,
      staging,
      runId,
      maxRows: maxRowsPerCommit,
      waiting,
    };
  };
  const trialWriteWith = async (
    samples: SampleRows,
    reading: SourceReading,
    columns: ColumnsToValidate,
  ): Promise<void> => {
    const numbers = samples.numbers();
    const tell = (error: unknown): DatabaseFailure => withRowOf(failureOf(error), numbers);
    await use('look', checkingRefuser(name, tell), async (connection) => {
      const results = columns.samples.map((cells) => [...cells]);
      const cellsOf = (outcome: number, column: number): readonly OutputCell[] => {
        const cells = results[column] ?? [];
        return cells[outcome % cells.length] ?? [];
      };
      const opening: OpenSinkOptions = { ...columns, reading, cellsOf };
      const planned = await plan(connection, opening);
      for (const each of noticesOf(planned, into)) columns.onNotice?.(each);
      // Rows of this run that it may write again.
      const isOwn = columns.runId !== undefined && planned.marker?.run === columns.runId;
      if (!isOwn) {
        const tried = async (): Promise<void> => {
          const writing = await begin(connection, planned, opening, trialWritePatienceMs);
          const exists = planned.mode === 'upsert' || planned.mode === 'update';
          const kinds = exists ? Math.max(...results.map((cells) => cells.length)) : 0;
          let start = 0;
          do {
            for (const rows of samples.joined(start, columns.verified.length)) {
              await writing.staging.write(rows);
            }
            start += numbers.length;
          } while (start < kinds && numbers.length > 0);
          await trialWrite(writing, numbers);
        };
        await tried().catch((error: unknown) => {
          if (failureOf(error).refusal?.kind !== 'locked') throw error;
          columns.onNotice?.(notice('lock_before_trial', { table: name }));
        });
      }
      await connection.close();
    });
  };
  return {
    ...ofLibrary,
    name,
    async check() {
      await use('look', refuse, (connection) => connection.close());
    },
    async validate(reading, columns) {
      if (reading.hasNoRows === true) return undefined;
      return use('look', checkingRefuser(name, failureOf), async (connection) => {
        const opening = { ...columns, reading, cellsOf: () => [] };
        const planned = await plan(connection, opening);
        makesTable = planned.mode === 'create';
        await connection.close();
        const found = tallyOf(reading, connection);
        tally = found;
        const tell = telling(reading, planned, columns.onTextColumn);
        tell(found);
        const samples = new SampleRows(reading.header);
        const validate = createRowValidator(reading.header, planned, {
          tally: found,
          samples,
          onNotice: columns.onNotice,
        });
        const examineAndReport = (chunk: RowChunk): void => {
          validate(chunk);
          tell(found);
        };
        return Object.assign(examineAndReport, {
          end: () => trialWriteWith(samples, reading, columns),
        });
      });
    },
    mayWaitMs: () => (makesTable ? (dialect.newTableMayWaitMs ?? 0) : 0),
    skippedUpdates: () => skippedUpdates,
    hasWritten: (runId) =>
      use('look', refuse, async (connection) => {
        const place = await dialect.locate(connection, parts);
        const { marker } = await findWritten(dialect, connection, place);
        await connection.close();
        return marker !== undefined && (runId === undefined || marker.run === runId);
      }),
    async open(opening) {
      if (opening.reading.hasNoRows === true) return noWriting;
      const file = dialect.fileOf?.(url);
      const isNew = file !== undefined && !(await exists(file));
      // Without a trial nothing is sent yet.
      const refuseOpening = tally ? openingRefuser(name, failureOf) : refuse;
      return use('write', refuseOpening, async (connection) => {
        // A new file is empty so far, and no more open than the rows' own.
        if (isNew) await holdBack(file, opening.permissions);
        const planned = await plan(connection, opening);
        if (!tally)
          telling(
            opening.reading,
            planned,
            opening.onTextColumn,
          )(tallyOf(opening.reading, connection));
        const writing = await begin(connection, planned, opening, patienceMs).catch(
          async (error: unknown) => {
            const again = await planAgain(connection, planned, opening);
            if (!again) throw error;
            return begin(connection, again, opening, patienceMs);
          },
        );
        let isOpen = true;
        return {
          async write(rows) {
            await writing.staging.write(rows).catch(refuse);
          },
          async finish() {
            skippedUpdates = await applyStaged(writing).catch(refuse);
            isOpen = false;
            await connection.close();
          },
          async abort() {
            if (isOpen) await discardConnection(connection);
            isOpen = false;
          },
        };
      });
    },
  };
}

/** A list without rows and known columns changes no table and creates none. */
const noWriting: SinkWriting = {
  async write() {
    throw new TypeError('rows come from a list that has none');
  },
  async finish() {},
  async abort() {},
};

/** Notices about unexpected treatment. */
function noticesOf({ unguarded, renamed }: TablePlan, table: string): readonly Notice[] {
  return [
    ...unguarded.map((column) => notice('unguarded_column', { column, table })),
    ...(renamed.length > 0 ? [notice('names_shortened', { table, columns: renamed })] : []),
  ];
}

/** Restricts a file's permissions to those of another. */
async function holdBack(path: string, than: FilePermissions | undefined): Promise<void> {
  if (!than) return;
  const { mode, gid } = await stat(path);
  await chmod(path, mode & mostOpen(than, gid));
}
