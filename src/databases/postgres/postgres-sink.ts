import { createHash } from 'node:crypto';
import type { OpenSinkOptions, Sink, SinkWriting } from '../../rows/sink.js';
import { createTableStatement } from '../create-table.js';
import { createRowExaminer } from '../examine-rows.js';
import { keyColumns } from '../key-columns.js';
import { KindTally } from '../kind-tally.js';
import { checkingRefuser, writingRefuser } from '../refuse.js';
import { RowLines } from '../row-lines.js';
import { createMarker } from '../run-marker.js';
import type { TableKeyOptions } from '../table-key-options.js';
import { parseTableName } from '../table-name.js';
import { useConnection } from '../use-connection.js';
import { applyStaging, createStaging, staging } from './apply-staging.js';
import { connectPostgres, postgresName, type PostgresConnection } from './connect-postgres.js';
import { copyIn, type CopyIn } from './copy-in.js';
import { loadCopyStreams } from './load-copy-streams.js';
import { planWriting, type PostgresTarget, type PostgresWriting } from './plan-writing.js';
import { postgresFailure } from './postgres-failure.js';
import { quoteName } from '../quote-name.js';
import { createMarkers, writeMarker } from './run-marker.js';

export interface PostgresSinkOptions extends TableKeyOptions {
  /** `postgres://user:password@host:port/database`; its password is never shown. */
  readonly url: string;
  /** Name of the table: `contacts`, `crm.contacts`, or `"my.table"` where a dot belongs to it. */
  readonly into: string;
  /**
   * Most rows that one transaction brings into a table that is there; more come in ranges of so many,
   * each of which is committed.
   * @default 10000000
   */
  readonly maxRowsPerCommit?: number;
}

const defaultRowsPerCommit = 10_000_000;
/** Lines are sent in pieces of about so many bytes. */
const pieceBytes = 256 * 1024;

/**
 * A table in PostgreSQL. Rows go into a staging table and are applied in one transaction, with a marker
 * of the run: all of them stand there or none, and writing them again changes nothing.
 *
 * @throws ConfigurationError when the URL or the table's name has not the form of one
 */
export function postgresSink(options: PostgresSinkOptions): Sink {
  const key = keyColumns(options.key);
  const server = postgresName(options.url);
  const name = `${options.into} in ${server}`;
  const into = parseTableName(options.into, 2);
  let tally: KindTally | undefined;
  const target = (): PostgresTarget => ({
    into,
    key,
    isUpdate: options.isUpdate,
    kinds: tally?.kinds,
  });
  const withConnection = async <Value>(
    use: (connection: PostgresConnection) => Promise<Value>,
    refuse = writingRefuser(name, postgresFailure),
  ): Promise<Value> => useConnection(() => connectPostgres(options.url), refuse, use);
  return {
    name,
    async check() {
      // All that is needed later: what is missing must be said while it costs nothing.
      await loadCopyStreams();
      await withConnection((connection) => connection.close());
    },
    async examine(reading, { added, runId }) {
      return withConnection(
        async (connection) => {
          const writing = await planWriting(connection, target(), {
            reading,
            added,
            ...(runId !== undefined && { runId }),
          });
          if (writing.mode === 'create') await rehearse(connection, writing);
          await connection.close();
          const learnt = new KindTally(reading.header.length);
          tally = learnt;
          return createRowExaminer(reading.header, writing, learnt);
        },
        checkingRefuser(name, postgresFailure),
      );
    },
    async open(opening) {
      return withConnection(async (connection) => {
        const writing = await planWriting(connection, target(), opening);
        const copy = await startCopy(connection, writing);
        return new PostgresTableWriting(connection, {
          name,
          writing,
          copy,
          opening,
          maxRowsPerCommit: options.maxRowsPerCommit ?? defaultRowsPerCommit,
        });
      });
    },
  };
}

/** Makes the table and drops it again: who may not do it hears of it while it costs nothing. */
async function rehearse(connection: PostgresConnection, writing: PostgresWriting): Promise<void> {
  await connection.query('BEGIN');
  await createTable(connection, writing);
  await createMarkers(connection, writing.markers);
  await connection.query('ROLLBACK');
}

/** A new table is filled in the transaction that makes it: nobody sees it before it is whole. */
async function startCopy(
  connection: PostgresConnection,
  writing: PostgresWriting,
): Promise<CopyIn> {
  const names = writing.columns.map(({ name }) => quoteName(name));
  if (writing.mode !== 'create') {
    await createStaging(connection, writing);
    return copyIn(connection, staging, names);
  }
  await connection.query('BEGIN');
  await createTable(connection, writing);
  return copyIn(connection, writing.target, names);
}

async function createTable(
  connection: PostgresConnection,
  { target, columns, key }: PostgresWriting,
): Promise<void> {
  await connection.query(createTableStatement(target, columns, key));
}

interface TableWritingParts {
  readonly name: string;
  readonly writing: PostgresWriting;
  readonly copy: CopyIn;
  readonly opening: OpenSinkOptions;
  readonly maxRowsPerCommit: number;
}

class PostgresTableWriting implements SinkWriting {
  readonly #connection: PostgresConnection;
  readonly #parts: TableWritingParts;
  readonly #lines: RowLines;
  readonly #digest = createHash('sha256');
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  constructor(connection: PostgresConnection, parts: TableWritingParts) {
    const { writing, opening } = parts;
    this.#connection = connection;
    this.#parts = parts;
    this.#lines = new RowLines({
      reading: opening.reading,
      added: opening.added,
      cellsOf: (outcome, column) => opening.cellsOf(outcome, column),
      columns: writing.positions,
      isEmptyNull: (position) => !writing.isText(position),
    });
  }

  async write(rows: Parameters<SinkWriting['write']>[0]): Promise<void> {
    const bytes = this.#lines.write(rows);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= pieceBytes) await this.#orRefuse(() => this.#send());
  }

  async finish(): Promise<void> {
    await this.#orRefuse(async () => {
      const { writing, copy, opening, maxRowsPerCommit } = this.#parts;
      await this.#send();
      await copy.end();
      const marker = createMarker(opening.runId, this.#digest.digest('hex'), this.#lines.count);
      if (writing.mode === 'create') {
        const { markers, target } = writing;
        await createMarkers(this.#connection, markers);
        await writeMarker(this.#connection, markers, target, marker);
        await this.#connection.query('COMMIT');
      } else {
        await applyStaging(this.#connection, writing, marker, maxRowsPerCommit);
      }
    });
    await this.#connection.close();
  }

  async abort(): Promise<void> {
    // A transaction ends with its connection, and so does the staging table.
    await this.#connection.close();
  }

  async #send(): Promise<void> {
    if (this.#waitingBytes === 0) return;
    const bytes = Buffer.concat(this.#waiting, this.#waitingBytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#digest.update(bytes);
    await this.#parts.copy.write(bytes);
  }

  async #orRefuse(work: () => Promise<void>): Promise<void> {
    await work().catch(writingRefuser(this.#parts.name, postgresFailure));
  }
}
