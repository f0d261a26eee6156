import type { OpenSinkOptions, Sink, SinkWriting } from '../../rows/sink.js';
import { createRowExaminer } from '../examine-rows.js';
import { placeToLookAt, refuseInMemory } from '../file-place.js';
import { keyColumns } from '../key-columns.js';
import { KindTally } from '../kind-tally.js';
import { planTable, type TablePlan } from '../plan-table.js';
import { writingRefuser } from '../refuse.js';
import { refuseRepeatedKeys, repeatedKeysQuery } from '../repeated-keys.js';
import { RowValues } from '../row-values.js';
import { createMarker, isMarked } from '../run-marker.js';
import { stagedStatements, type StagedTable } from '../staged-statements.js';
import type { TableKeyOptions } from '../table-key-options.js';
import { parseTableName } from '../table-name.js';
import { useConnection } from '../use-connection.js';
import { findTable, readMarker, writeMarker } from './find-table.js';
import { openSqlite, sqliteFailure, sqlitePath, type SqliteDatabase } from './open-sqlite.js';
import { quoteName } from '../quote-name.js';
import { sqliteTypeOf, sqliteValue } from './sqlite-kinds.js';

export interface SqliteSinkOptions extends TableKeyOptions {
  /** `sqlite:path`, or the path itself; the file is made when it is not there. */
  readonly url: string;
  /** Name of the table. */
  readonly into: string;
}

/**
 * A table in an SQLite file. Rows go into a staging table and are applied in one transaction, with a
 * marker of the run: all of them stand there or none, and writing them again changes nothing.
 *
 * @throws ConfigurationError when the table's name has not the form of one
 */
export function sqliteSink(options: SqliteSinkOptions): Sink {
  const path = sqlitePath(options.url);
  refuseInMemory(path, 'sqlite');
  const key = keyColumns(options.key);
  const [table = ''] = parseTableName(options.into, 1);
  const name = `${options.into} in sqlite:${path}`;
  let tally: KindTally | undefined;
  const refuse = writingRefuser(name, sqliteFailure);
  const withDatabase = async <Value>(
    place: string,
    use: (database: SqliteDatabase) => Value,
  ): Promise<Value> => useConnection(() => openSqlite(place, { mustExist: false }), refuse, use);
  const plan = (
    database: SqliteDatabase,
    opening: Pick<OpenSinkOptions, 'reading' | 'added' | 'runId'>,
  ): TablePlan =>
    planTable(
      {
        dialect: 'sqlite',
        store: database.store,
        name: quoteName(table),
        table: findTable(database, table),
        marker: readMarker(database, table),
        typeOf: sqliteTypeOf,
      },
      { key, isUpdate: options.isUpdate, kinds: tally?.kinds },
      opening,
    );
  return {
    name,
    async check() {
      await withDatabase(await placeToLookAt(path).catch(refuse), (database) => {
        findTable(database, table);
        database.close();
      });
    },
    async examine(reading, { added, runId }) {
      return withDatabase(await placeToLookAt(path).catch(refuse), (database) => {
        const planned = plan(database, {
          reading,
          added,
          ...(runId !== undefined && { runId }),
        });
        database.close();
        tally = new KindTally(reading.header.length);
        return createRowExaminer(reading.header, planned, tally);
      });
    },
    async open(opening) {
      return withDatabase(path, (database) => {
        const writing = plan(database, opening);
        return new SqliteTableWriting(database, { name, table, plan: writing, opening });
      });
    },
  };
}

/** Rows before they are where they belong: this connection's own, which locks nobody out of the file. */
const staged: StagedTable = {
  name: 'temp.sluice_staging',
  rowNumber: 'rowid',
  // The triggers of a table are to see each row that is given for it.
  skipsSame: ['update'],
  differs: (cell, other) => `${cell} IS NOT ${other} COLLATE BINARY`,
};

interface TableWritingParts {
  readonly name: string;
  readonly table: string;
  readonly plan: TablePlan;
  readonly opening: OpenSinkOptions;
}

class SqliteTableWriting implements SinkWriting {
  readonly #database: SqliteDatabase;
  readonly #parts: TableWritingParts;
  readonly #values: RowValues;
  readonly #insert: (values: readonly unknown[]) => void;
  #isOpen = true;

  constructor(database: SqliteDatabase, parts: TableWritingParts) {
    const { plan, opening } = parts;
    this.#database = database;
    this.#parts = parts;
    this.#values = new RowValues(plan, opening);
    const cells = plan.columns.map((_, at) => `c${at}`);
    database.run(`CREATE TABLE ${staged.name} (${cells.join(', ')})`);
    database.run('BEGIN');
    this.#insert = database.prepare(
      `INSERT INTO ${staged.name} VALUES (${cells.map(() => '?').join(', ')})`,
    );
  }

  async write(rows: Parameters<SinkWriting['write']>[0]): Promise<void> {
    this.#orRefuse(() => {
      for (const values of this.#values.read(rows)) this.#insert(values.map(sqliteValue));
    });
  }

  async finish(): Promise<void> {
    const { plan, table, opening } = this.#parts;
    this.#orRefuse(() => {
      this.#database.run('COMMIT');
      const marker = createMarker(opening.runId, this.#values.digest(), this.#values.count);
      if (isMarked(plan.marker, marker)) return;
      this.#refuseRepeatedKeys();
      const statements = stagedStatements({ ...plan, target: `main.${plan.target}` }, staged);
      this.#database.run('BEGIN IMMEDIATE');
      for (const statement of statements) this.#database.run(statement);
      writeMarker(this.#database, table, marker);
      this.#database.run('COMMIT');
    });
    this.#close();
  }

  async abort(): Promise<void> {
    // A transaction that is not committed ends with its connection.
    this.#close();
  }

  #refuseRepeatedKeys(): void {
    const { key, columns } = this.#parts.plan;
    if (key.length === 0) return;
    const cells = key.map((name) => `c${columns.findIndex((column) => column.name === name)}`);
    refuseRepeatedKeys([...this.#database.rows(repeatedKeysQuery(staged.name, cells))], key);
  }

  #close(): void {
    if (this.#isOpen) this.#database.close();
    this.#isOpen = false;
  }

  #orRefuse(work: () => void): void {
    try {
      work();
    } catch (error) {
      writingRefuser(this.#parts.name, sqliteFailure)(error);
    }
  }
}
