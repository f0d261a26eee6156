import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { OpenSinkOptions, Sink, SinkWriting } from '../../rows/sink.js';
import { createRowExaminer } from '../examine-rows.js';
import { isThere, placeToLookAt, refuseInMemory } from '../file-place.js';
import { keyColumns } from '../key-columns.js';
import { KindTally } from '../kind-tally.js';
import { planTable, type TablePlan } from '../plan-table.js';
import { checkingRefuser, writingRefuser } from '../refuse.js';
import { RowValues } from '../row-values.js';
import { createMarker, isMarked } from '../run-marker.js';
import type { TableKeyOptions } from '../table-key-options.js';
import { parseTableName } from '../table-name.js';
import { duckdbFailure } from './duckdb-failure.js';
import { duckdbTypeOf } from './duckdb-kinds.js';
import {
  findTable,
  qualifyName,
  quoteTable,
  readMarker,
  writeMarker,
  type DuckdbName,
} from './find-table.js';
import { duckdbPath, openDuckdb, type DuckdbDatabase } from './open-duckdb.js';
import { applyStatements, rehearse, StagedRows, type StagedColumn } from './staged-rows.js';

export interface DuckdbSinkOptions extends TableKeyOptions {
  /** `duckdb:path`, or the path itself; the file is made when it is not there. */
  readonly url: string;
  /** Name of the table: `contacts`, `crm.contacts`, or `"my.table"` where a dot belongs to it. */
  readonly into: string;
}

/**
 * A table in a DuckDB file. Rows go into a staging table and are applied in one transaction, with a
 * marker of the run: all of them stand there or none, and writing them again changes nothing.
 *
 * @throws ConfigurationError when the table's name has not the form of one, or no file is named
 */
export function duckdbSink(options: DuckdbSinkOptions): Sink {
  const path = duckdbPath(options.url);
  refuseInMemory(path, 'duckdb');
  const key = keyColumns(options.key);
  const into = parseTableName(options.into, 2);
  const name = `${options.into} in duckdb:${path}`;
  const refuse = writingRefuser(name, duckdbFailure);
  let tally: KindTally | undefined;
  const looking = async <Value>(
    use: (database: DuckdbDatabase) => Promise<Value>,
  ): Promise<Value> => {
    const place = await placeToLookAt(path).catch(refuse);
    const database = await openDuckdb(place, { isWritten: true }).catch(refuse);
    try {
      return await use(database);
    } catch (error) {
      return checkingRefuser(name, duckdbFailure)(error);
    } finally {
      database.close();
    }
  };
  const plan = async (
    database: DuckdbDatabase,
    opening: Pick<OpenSinkOptions, 'reading' | 'added' | 'runId'>,
  ): Promise<TableWritingPlan> => {
    const target = await qualifyName(database, into);
    const table = await findTable(database, target);
    const planned = planTable(
      {
        dialect: 'duckdb',
        store: resolve(path),
        name: quoteTable(target),
        table,
        marker: await readMarker(database, target),
        typeOf: duckdbTypeOf,
      },
      { key, isUpdate: options.isUpdate, kinds: tally?.kinds },
      opening,
    );
    // Cells become what the table has in their columns, where it has them.
    const columns = planned.columns.map(({ name: column, type }) => ({
      name: column,
      type: table?.types.get(column) ?? type,
    }));
    return { target, plan: planned, columns };
  };
  return {
    name,
    async check() {
      await looking((database) => qualifyName(database, into));
    },
    async examine(reading, { added, runId }) {
      return looking(async (database) => {
        const opening = { reading, added, ...(runId !== undefined && { runId }) };
        const planned = await plan(database, opening);
        await rehearse(database, planned.plan, planned.columns);
        tally = new KindTally(reading.header.length);
        return createRowExaminer(reading.header, planned.plan, tally);
      });
    },
    async open(opening) {
      const isNew = !(await isThere(path));
      const database = await openDuckdb(path, { isWritten: true }).catch(refuse);
      const drop = async (): Promise<void> => {
        database.close();
        if (isNew) await rm(path, { force: true }).catch(() => undefined);
      };
      try {
        const planned = await plan(database, opening);
        const rows = await StagedRows.create(database, planned.columns);
        return new DuckdbTableWriting(database, { ...planned, rows, opening, refuse, drop });
      } catch (error) {
        await drop();
        return refuse(error);
      }
    },
  };
}

interface TableWritingPlan {
  readonly target: DuckdbName;
  readonly plan: TablePlan;
  readonly columns: readonly StagedColumn[];
}

interface TableWritingParts extends TableWritingPlan {
  readonly rows: StagedRows;
  readonly opening: OpenSinkOptions;
  readonly refuse: (error: unknown) => never;
  /** Lets go of the file, and of what was made of it. */
  readonly drop: () => Promise<void>;
}

class DuckdbTableWriting implements SinkWriting {
  readonly #database: DuckdbDatabase;
  readonly #parts: TableWritingParts;
  readonly #values: RowValues;
  #isOpen = true;

  constructor(database: DuckdbDatabase, parts: TableWritingParts) {
    this.#database = database;
    this.#parts = parts;
    this.#values = new RowValues(parts.plan, parts.opening);
  }

  async write(rows: Parameters<SinkWriting['write']>[0]): Promise<void> {
    try {
      for (const values of this.#values.read(rows)) this.#parts.rows.add(values);
    } catch (error) {
      this.#parts.refuse(error);
    }
  }

  async finish(): Promise<void> {
    await this.#apply().catch(this.#parts.refuse);
    this.#isOpen = false;
    this.#database.close();
  }

  async abort(): Promise<void> {
    if (this.#isOpen) await this.#parts.drop();
    this.#isOpen = false;
  }

  async #apply(): Promise<void> {
    const { plan, target, rows, opening } = this.#parts;
    rows.end();
    const marker = createMarker(opening.runId, this.#values.digest(), this.#values.count);
    if (isMarked(plan.marker, marker)) return;
    await rows.check(plan.key);
    // A key's index has to be held whole: what is paid for must not end in a bound of ours.
    await this.#database.run('RESET max_memory');
    await this.#database.run('BEGIN');
    for (const statement of applyStatements(plan)) await this.#database.run(statement);
    await writeMarker(this.#database, target, marker);
    await this.#database.run('COMMIT');
  }
}
