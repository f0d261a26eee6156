import { chmod, stat } from 'node:fs/promises';
import { mostOpen } from '../../files/outputs/output-path.js';
import { KindTally, reportTextColumns } from '../../rows/values/kind-tally.js';
import { type FilePermissions, exists } from '../../../platform/files/file-system.js';
import type {
  ColumnsToValidate,
  SkippedUpdates,
  OpenSinkOptions,
  RowValidator,
  Sink,
  SinkWriting,
} from '../../rows/sink.js';
import { checkOptions, type OptionShape } from '../../../platform/check-options.js';
import { columnNames, count, flag, required, text, url } from '../../../platform/option-kinds.js';
import { ofLibrary } from '../../rows/guarded-ends.js';
import type { SourceReading } from '../../rows/source.js';
import { applyStaged, type TableWriting } from './apply-staged.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { optionName } from '../../../platform/text/sentence.js';
import { discardConnection, retryOnLock, type Connection } from '../connection.js';
import { textOfUrl } from '../../location.js';
import type { Dialect, DialectForm } from '../dialect.js';
import { createRowValidator } from './validate-rows.js';
import {
  checkingRefuser,
  openingRefuser,
  writingRefuser,
  type DatabaseFailure,
  type Refuse,
} from '../database-failure.js';
import { TableAccess, type TableAddress } from './table-access.js';
import type { TablePlan } from './table-plan.js';
import { sourceTypes, planTable } from './plan-table.js';
import { rethrowRefusal, SampleRows, trySamples, type PlanWriting } from './trial-write.js';

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

interface TableSinkOptions extends TableKeyOptions, Omit<TableAddress, 'url'> {
  readonly url: string | URL;
}

const sinkShape: OptionShape<TableSinkOptions> = {
  url: required(url),
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
export function tableSink(dialect: Dialect, given: TableSinkOptions): Sink {
  checkOptions(given, sinkShape);
  const address = { ...given, url: textOfUrl(given.url) };
  const access = new TableAccess(dialect, address);
  const { name, refuse } = access;
  const { key = [], isUpdate } = given;
  let tally: KindTally | undefined;
  let skippedUpdates: SkippedUpdates | undefined;
  let makesTable = false;
  const plan: PlanWriting = async (connection, opening) => {
    const wanted = { key: typeof key === 'string' ? [key] : key, isUpdate, facts: tally?.facts };
    return planTable(await access.look(connection), wanted, opening);
  };
  return {
    ...ofLibrary,
    name,
    async check() {
      const refuseCheck = checkingRefuser(name, access.failureOf);
      await access.use('look', refuseCheck, (connection) => connection.close());
    },
    hold: (patience) => access.hold(key.length > 0, patience),
    async validate(reading, columns) {
      if (reading.hasNoRows === true) return undefined;
      return access.use('look', checkingRefuser(name, access.failureOf), async (connection) => {
        const planned = await plan(connection, { ...columns, reading, cellsOf: () => [] });
        makesTable = planned.mode === 'create';
        if (planned.mode === 'update') refuseLeavingOut(name, columns);
        await connection.close();
        tally = tallyOf(reading, dialect, connection);
        const samples = new SampleRows(reading.header);
        const validate = validatorOf(reading, dialect, planned, { columns, tally, samples });
        return Object.assign(validate, {
          end: () => trySamples(access, plan, samples, { reading, columns }),
        });
      });
    },
    mayWaitMs: () => (makesTable ? (dialect.newTableMayWaitMs ?? 0) : 0),
    skippedUpdates: () => skippedUpdates,
    hasWritten: (runId) =>
      access.use('look', refuse, async (connection) => {
        const { marker } = await access.look(connection);
        await connection.close();
        return marker !== undefined && (runId === undefined || marker.run === runId);
      }),
    async open(opening) {
      const { reading, permissions, onNotice, onTextColumn, signal } = opening;
      if (reading.hasNoRows === true) return noWriting;
      const file = dialect.fileOf?.(address.url);
      const isNew = file !== undefined && !(await exists(file));
      // Without a trial nothing is sent yet.
      const refuseOpening = tally ? openingRefuser(name, access.failureOf) : refuse;
      const write = async (connection: Connection): Promise<SinkWriting> => {
        // A new file is empty so far, and no more open than the rows' own.
        if (isNew) await holdBack(file, permissions);
        let planned = await plan(connection, opening);
        if (planned.mode === 'create' && key.length > 0) {
          release = await claimInTurn(access, opening);
          planned = await plan(connection, opening);
        }
        if (!tally) {
          textColumnReporter(
            reading,
            dialect,
            planned,
            onTextColumn,
          )(tallyOf(reading, dialect, connection));
        }
        const stage = async (as: TablePlan): Promise<TableWriting> =>
          access.stage(connection, as, opening, patienceMs);
        const writing = await stage(planned).catch(async (error: unknown) => {
          // The new table may have appeared since: from this run, see `hasAppeared`, or from another one.
          if (planned.mode !== 'create') throw error;
          await connection.query('ROLLBACK').catch(() => undefined);
          const again = await plan(connection, opening).catch(rethrowRefusal(error));
          if (again.mode === 'create') throw error;
          return stage(again);
        });
        const onApplied = (skipped: SkippedUpdates | undefined): void => {
          skippedUpdates = skipped;
        };
        return stagedRows(writing, refuse, onApplied, release);
      };
      let release: (() => Promise<void>) | undefined;
      try {
        return await access.use('write', refuseOpening, write, { onNotice, signal, patienceMs });
      } catch (error) {
        await release?.();
        throw error;
      }
    },
  };
}

/** A row without new results would keep those of an earlier run, which say of another address that it is valid. */
function refuseLeavingOut(name: string, { leftOutBy: [option] = [] }: ColumnsToValidate): void {
  if (option === undefined) return;
  throw new ConfigurationError(
    `${optionName(option)} cannot leave rows out of ${name}: they are there already, and would keep what an earlier run wrote; write all rows, and choose in the query that uses the table, such as where email_valid`,
    { option, fault: 'unsupported' },
  );
}

/** Waits for other runs that make the table: with a key the second goes on with what the first has made. */
async function claimInTurn(
  access: TableAccess,
  { onNotice, signal }: OpenSinkOptions,
): Promise<() => Promise<void>> {
  const { name } = access;
  const failureOf = (error: unknown): DatabaseFailure =>
    isSluiceError(error, 'state_locked')
      ? { words: error.message, code: undefined, isMisuse: false, isBusy: true }
      : access.failureOf(error);
  const waiting = { name, failureOf, onNotice, signal, patienceMs };
  return retryOnLock(waiting, undefined, () => access.claim()).catch(
    writingRefuser(name, failureOf),
  );
}

/** A column with its own type is accepted unchanged. */
function tallyOf(reading: SourceReading, dialect: DialectForm, { store }: Connection): KindTally {
  const { header, kinds } = reading;
  const declaredTypes = sourceTypes(reading, { dialect, store });
  const declared = header.map((_, at) => (declaredTypes[at] === undefined ? kinds?.[at] : taken));
  return new KindTally(header.length, declared);
}

function textColumnReporter(
  reading: SourceReading,
  { label, typeOf }: DialectForm,
  { mode }: TablePlan,
  onTextColumn: OpenSinkOptions['onTextColumn'],
): (found: KindTally) => void {
  return reportTextColumns(
    { reading, output: label, onTextColumn },
    (facts) => mode !== 'create' || typeOf(facts) !== undefined,
  );
}

/** Checks rows, learns their kinds and takes samples of them. */
function validatorOf(
  reading: SourceReading,
  dialect: DialectForm,
  planned: TablePlan,
  {
    columns: { onTextColumn, onNotice },
    tally,
    samples,
  }: {
    readonly columns: ColumnsToValidate;
    readonly tally: KindTally;
    readonly samples: SampleRows;
  },
): RowValidator {
  const reportTexts = textColumnReporter(reading, dialect, planned, onTextColumn);
  reportTexts(tally);
  const validate = createRowValidator(reading.header, planned, { tally, samples, onNotice });
  return (chunk) => {
    validate(chunk);
    reportTexts(tally);
  };
}

function stagedRows(
  writing: TableWriting,
  refuse: Refuse,
  onApplied: (skipped: SkippedUpdates | undefined) => void,
  release?: () => Promise<void>,
): SinkWriting {
  const { connection, staging } = writing;
  let isOpen = true;
  return {
    async write(rows) {
      await staging.write(rows).catch(refuse);
    },
    async finish() {
      onApplied(await applyStaged(writing).catch(refuse));
      isOpen = false;
      await connection.close();
      await release?.();
    },
    async abort() {
      if (!isOpen) return;
      isOpen = false;
      await discardConnection(connection);
      await release?.();
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

/** Restricts a file's permissions to those of another. */
async function holdBack(path: string, than: FilePermissions | undefined): Promise<void> {
  if (!than) return;
  const { mode, gid } = await stat(path);
  await chmod(path, mode & mostOpen(than, gid));
}
