import { ConfigurationError } from '../../errors/family.js';
import type { OpenSinkOptions, Sink, SinkWriting } from '../../rows/sink.js';
import { createRowExaminer } from '../examine-rows.js';
import { keyColumns } from '../key-columns.js';
import { KindTally } from '../kind-tally.js';
import { planTable, type TablePlan } from '../plan-table.js';
import { writingRefuser } from '../refuse.js';
import { RowValues } from '../row-values.js';
import { createMarker, isMarked } from '../run-marker.js';
import type { TableKeyOptions } from '../table-key-options.js';
import { parseTableName } from '../table-name.js';
import { useConnection } from '../use-connection.js';
import { applyStaging, createStaging, staging, stagingValue } from './apply-staging.js';
import { connectMysql, mysqlFailure, mysqlName, type MysqlConnection } from './connect-mysql.js';
import { findTable, qualifyName, quoteTable, readMarker, type MysqlName } from './find-table.js';
import { mysqlTypeOf } from './mysql-kinds.js';
import { quoteName } from './quote-name.js';

export interface MysqlSinkOptions extends TableKeyOptions {
  /** `mysql://user:password@host:port/database`, also of MariaDB; its password is never shown. */
  readonly url: string;
  /** Name of the table: `contacts`, or `crm.contacts` in another database of the server. */
  readonly into: string;
}

/** Rows go out in statements of so many. */
const rowsAtOnce = 500;

/**
 * A table in MySQL or MariaDB. Rows go into a staging table; a new table appears by rename, one that is
 * there is changed in one transaction, each with a marker of the run.
 *
 * @throws ConfigurationError when the URL or the table's name has not the form of one
 */
export function mysqlSink(options: MysqlSinkOptions): Sink {
  const key = keyColumns(options.key);
  const name = `${options.into} in ${mysqlName(options.url)}`;
  const into = parseTableName(options.into, 2);
  let tally: KindTally | undefined;
  const refuse = writingRefuser(name, mysqlFailure);
  const withConnection = async <Value>(
    use: (connection: MysqlConnection) => Promise<Value>,
  ): Promise<Value> => useConnection(() => connectMysql(options.url), refuse, use);
  const plan = async (
    connection: MysqlConnection,
    opening: Pick<OpenSinkOptions, 'reading' | 'added' | 'runId'>,
  ): Promise<{ readonly plan: TablePlan; readonly target: MysqlName }> => {
    const target = await qualifyName(connection, into);
    if (!target) throw new ConfigurationError(`there is no database for ${options.into}`);
    const found = await findTable(connection, target);
    const place = {
      dialect: 'mysql',
      store: connection.store,
      name: quoteTable(target),
      table: found?.there,
      marker: await readMarker(connection, target, found?.comment ?? ''),
      typeOf: mysqlTypeOf,
    } as const;
    const wanted = { key, isUpdate: options.isUpdate, kinds: tally?.kinds };
    return { plan: planTable(place, wanted, opening), target };
  };
  return {
    name,
    async check() {
      await withConnection((connection) => connection.close());
    },
    async examine(reading, { added, runId }) {
      return withConnection(async (connection) => {
        const opening = { reading, added, ...(runId !== undefined && { runId }) };
        const { plan: planned } = await plan(connection, opening);
        await connection.close();
        tally = new KindTally(reading.header.length);
        return createRowExaminer(reading.header, planned, tally);
      });
    },
    async open(opening) {
      return withConnection(async (connection) => {
        const planned = await plan(connection, opening);
        await createStaging(connection, planned.plan);
        return new MysqlTableWriting(connection, { name, opening, ...planned });
      });
    },
  };
}

interface TableWritingParts {
  readonly name: string;
  readonly plan: TablePlan;
  readonly target: MysqlName;
  readonly opening: OpenSinkOptions;
}

class MysqlTableWriting implements SinkWriting {
  readonly #connection: MysqlConnection;
  readonly #parts: TableWritingParts;
  readonly #values: RowValues;
  readonly #insert: string;
  #waiting: unknown[][] = [];

  constructor(connection: MysqlConnection, parts: TableWritingParts) {
    this.#connection = connection;
    this.#parts = parts;
    this.#values = new RowValues(parts.plan, parts.opening);
    const names = parts.plan.columns.map((column) => quoteName(column.name));
    this.#insert = `INSERT INTO ${staging} (${names.join(', ')}) VALUES ?`;
  }

  async write(rows: Parameters<SinkWriting['write']>[0]): Promise<void> {
    const { columns } = this.#parts.plan;
    for (const values of this.#values.read(rows)) {
      this.#waiting.push(
        values.map((value, position) => stagingValue(value, columns[position]?.type ?? '')),
      );
      if (this.#waiting.length >= rowsAtOnce) await this.#orRefuse(() => this.#send());
    }
  }

  async finish(): Promise<void> {
    const { plan, target, opening } = this.#parts;
    await this.#orRefuse(async () => {
      await this.#send();
      const marker = createMarker(opening.runId, this.#values.digest(), this.#values.count);
      if (isMarked(plan.marker, marker)) return;
      await applyStaging(this.#connection, plan, target, marker);
    });
    await this.#connection.close();
  }

  async abort(): Promise<void> {
    // A transaction ends with its connection, and so does the staging table.
    await this.#connection.close();
  }

  async #send(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const rows = this.#waiting;
    this.#waiting = [];
    await this.#connection.query(this.#insert, [rows]);
  }

  async #orRefuse(work: () => Promise<void>): Promise<void> {
    await work().catch(writingRefuser(this.#parts.name, mysqlFailure));
  }
}
