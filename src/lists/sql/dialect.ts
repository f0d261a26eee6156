import type { ColumnFacts } from '../rows/values/kind-tally.js';
import type { JoinedRows, OpenSinkOptions } from '../rows/sink.js';
import type { Connection } from './connection.js';
import type { DatabaseFailure } from './database-failure.js';
import type {
  TableName,
  RunMarker,
  TablePlan,
  ExistingTable,
  WritingMode,
  StagedRows,
} from './tables/table-plan.js';
import type { DialectName, TableColumn } from './tables/table-reading.js';

export interface QueryOptions<Database extends Connection = Connection> {
  /** One statement, without the semicolon at its end. */
  readonly query: string;
  /** The same where a table can be: its line end closes a comment at the query's end. */
  readonly asTable: string;
  /** Opens one more connection. */
  readonly connect: () => Promise<Database>;
  readonly signal: AbortSignal | undefined;
}

/** The rows that a database gives for a query. */
export interface QueryRows {
  readonly columns: readonly TableColumn[];
  /** The rows in the form of `cell-text.ts`, cut anywhere. Ends only when the last row was given. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * What a connection is for. What is only looked at is not made: a file that is not there is taken for an
 * empty database.
 */
export type Purpose = 'read' | 'look' | 'write';

/**
 * What one database does in its own way, and all of it: what is not here is done alike for all of them,
 * in `query-source.ts` and `table-sink.ts`.
 */
export interface Dialect<Database extends Connection = Connection> {
  readonly name: DialectName;
  /** As people call it. */
  readonly label: string;
  /** How messages call the database at a URL: without its password. */
  readonly nameOf: (url: string, purpose: Purpose) => string;
  /** The file that the database at a URL is; `undefined` for one in memory. @default it is none */
  readonly fileOf?: (url: string) => string | undefined;
  readonly connect: (url: string, purpose: Purpose, signal?: AbortSignal) => Promise<Database>;
  /** Takes from a driver's error what may be said of it. */
  readonly failureOf: (error: unknown) => DatabaseFailure;
  /** The type of a new column; `undefined` where it has to be one of texts. */
  readonly typeOf: (facts: ColumnFacts) => string | undefined;

  /** Asks for the rows of a query, in a transaction that reads only where there is such a one. */
  readonly ask: (connection: Database, asking: QueryOptions<Database>) => Promise<QueryRows>;

  /** How many parts a table's name may have: with a schema two. */
  readonly nameParts: 1 | 2;
  readonly locate: (connection: Database, parts: readonly string[]) => Promise<TableName>;
  readonly findTable: (connection: Database, name: TableName) => Promise<ExistingTable | undefined>;

  readonly statements: Statements;
  /** Makes what rows wait in, beside their table or, in a transaction, in it. */
  readonly stage: (
    connection: Database,
    plan: TablePlan,
    opening: OpenSinkOptions,
  ) => Promise<Staging>;
  /** How long a new table that is not finished may wait for its rows. @default 0 */
  readonly newTableMayWaitMs?: number;
  /**
   * Where no transaction takes in the making of a table: how the staged rows become one.
   *
   * @param isTrial whether all of it is taken back
   */
  readonly putInPlace?: {
    readonly modes: readonly WritingMode[];
    readonly run: (
      connection: Database,
      plan: TablePlan,
      marker: RunMarker,
      isTrial: boolean,
    ) => Promise<void>;
  };
  /**
   * Where what changes a table cannot be taken back: finds out whether it may be changed as planned, and
   * gives the plan of what a trial write can do.
   *
   * @param hasMarkers whether the table of markers is there
   */
  readonly tryDefinitions?: (
    connection: Database,
    plan: TablePlan,
    hasMarkers: boolean,
  ) => Promise<TablePlan>;
}

/** How a database writes the statements that bring staged rows to where they belong. */
export interface Statements {
  /** A name as it takes it to the letter. */
  readonly quote: (name: string) => string;
  /** Longest name of a column, and in what it is measured. @default any */
  readonly longestName?: { readonly most: number; readonly unit: 'bytes' | 'characters' };
  /** The n-th value that comes with a statement, from 1. */
  readonly parameter: (at: number) => string;
  /** What rows wait in; it ends with the connection. */
  readonly staging: string;
  /** The column that numbers them, from 1. */
  readonly rowNumber: string;
  /** What a column is called there: by its position no name is in the way of another. */
  readonly stagedName: (name: string, at: number) => string;
  /** The type of a column that is of a key, where an index does not take any type. */
  readonly keyType?: (type: string) => string;
  /** What follows the columns of a new table. */
  readonly tableOptions?: string;
  /** @default ADD COLUMN */
  readonly addColumn?: string;
  readonly addsOneColumn?: boolean;
  /** Whether a statement that makes or changes a table ends the transaction: then it comes before it. */
  readonly definitionsCommit?: boolean;
  readonly begin: readonly string[];
  /** How long to wait for a lock: a short time for one that keeps all others out, and as long as usual. */
  readonly lockWaits?: { readonly short: string; readonly usual: string };
  /** @default DELETE FROM */
  readonly empty?: string;
  /** What is between an INSERT's columns and its rows. */
  readonly overriding?: string;
  /** Whether a row that came meanwhile, from another session, can be updated in its place. */
  readonly updatesOnConflict?: boolean;
  /** Whether a cell of the table is to the letter the one that is staged for it; two nulls are. */
  readonly isSame: (cell: string, other: string) => string;
  /** The modes in which a row that is the same already is not written again. @default the server sees to that */
  readonly skipsSame?: readonly WritingMode[];
  /** Whether this transaction wrote a row `t`, where a table can drop a writing without an error. */
  readonly isWritten?: string;
  /** What ends a query that is to see what others have committed since the transaction began. */
  readonly readsLatest?: string;
  /** @default UPDATE … SET … FROM … WHERE … */
  readonly update?: (parts: UpdateParts) => string;
  /** What has constraints checked that else wait for the end of the transaction. */
  readonly checkDeferred?: string;
  readonly markers: MarkerStatements;
}

interface UpdateParts {
  /** The table as `t`. */
  readonly table: string;
  /** The staged rows as `s`. */
  readonly staged: string;
  readonly cells: readonly { readonly name: string; readonly cell: string }[];
  readonly where: string;
}

/** The table of markers, which is beside the tables that they are of. */
interface MarkerStatements {
  /** By what a table is known there. */
  readonly targetOf: (name: TableName) => string;
  /** Its columns, with their types. */
  readonly definition: string;
  /** The column that holds the number of rows. */
  readonly rowCount: string;
  /** What begins a statement that puts a row in the place of the one that is there. */
  readonly replace: string;
  /** What ends it. */
  readonly onConflict?: string;
  readonly now: string;
}

/** Rows that wait before they are where they belong. */
export interface Staging {
  /** Whether their table is theirs already, in a transaction that is open. */
  readonly isInPlace?: boolean;
  write(rows: JoinedRows): Promise<void>;
  /** Says that no more come. */
  end(): Promise<StagedRows>;
  /**
   * Makes them ready to be applied.
   *
   * @param ranges whether that is done in more than one transaction
   */
  prepare?(ranges: boolean): Promise<void>;
}
