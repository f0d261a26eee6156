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
  LongestName,
} from './tables/table-plan.js';
import type { DialectName, TableColumn } from './tables/table-reading.js';

export interface QueryOptions<Database extends Connection = Connection> {
  /** One statement, without a semicolon at its end. */
  readonly query: string;
  /** The same as a subquery: its line end closes a comment at the query's end. */
  readonly asTable: string;
  readonly connect: () => Promise<Database>;
  readonly signal: AbortSignal | undefined;
}

export interface QueryRows {
  readonly columns: readonly TableColumn[];
  /** The rows in the format of `cell-text.ts`, cut anywhere. Ends only after the last row. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** What a connection is for. `look` creates nothing: a missing file counts as an empty database. */
export type Purpose = 'read' | 'look' | 'write';

export interface DialectForm {
  readonly name: DialectName;
  readonly label: string;
  readonly typeOf: (facts: ColumnFacts) => string | undefined;
  /** Parts of a table's name: two with a schema. */
  readonly nameParts: 1 | 2;
  readonly statements: Statements;
}

/** Everything specific to one database; `query-source.ts` and `table-sink.ts` are common to all. */
export interface Dialect<Database extends Connection = Connection> extends DialectForm {
  /** The name of the database at a URL in messages: without its password. */
  readonly nameOf: (url: string, purpose: Purpose) => string;
  /** The file of the database at a URL; `undefined` in memory. @default not a file */
  readonly fileOf?: (url: string) => string | undefined;
  connect(url: string, purpose: Purpose, signal?: AbortSignal): Promise<Database>;
  readonly failureOf: (error: unknown) => DatabaseFailure;

  /** Runs a query, in a read-only transaction where there is one. */
  ask(connection: Database, asking: QueryOptions<Database>): Promise<QueryRows>;

  /** The tables, views and functions with one of these names in lower case, in any schema. */
  relationsNamed(connection: Database, names: readonly string[]): Promise<readonly Relation[]>;

  locate(connection: Database, parts: readonly string[]): Promise<TableName>;
  findTable(connection: Database, name: TableName): Promise<ExistingTable | undefined>;

  /** Creates the staging table, or in a transaction prepares the target itself. */
  stage(connection: Database, plan: TablePlan, opening: OpenSinkOptions): Promise<Staging>;
  /** Takes a lock of this session on a name, unless another one has it. @default a file beside the database's */
  claim?(connection: Database, name: string): Promise<boolean>;
  /** How long an unfinished new table may wait for its rows. @default 0 */
  readonly newTableMayWaitMs?: number;
  /** Turns the staged rows into the table, where creating one is not transactional. @param isTrial undoes everything */
  readonly putInPlace?: {
    readonly modes: readonly WritingMode[];
    run(connection: Database, plan: TablePlan, marker: RunMarker, isTrial: boolean): Promise<void>;
  };
  /**
   * Where changes of a table cannot be rolled back: checks whether it may be changed as planned, and returns
   * the plan for a trial write.
   *
   * @param markers the table of markers; one of an earlier version lacks a column
   */
  tryDefinitions?(
    connection: Database,
    plan: TablePlan,
    markers: 'missing' | 'older' | 'complete',
  ): Promise<TablePlan>;
}

export interface Statements {
  readonly quote: (name: string) => string;
  /** Longest name of a column, with its unit. @default any */
  readonly longestName?: LongestName;
  /** Whether names of columns that differ only in case are the same. @default false */
  readonly ignoresCase?: boolean;
  readonly parameter: (at: number) => string;
  /** The staging table; it ends with the connection. */
  readonly staging: string;
  readonly rowNumber: string;
  /** A staging column's name: by position, so that no names collide. */
  readonly stagedName: (name: string, at: number) => string;
  /** Staged keys have no type: which are the same, only the table's columns say. @default false */
  readonly stagesUntyped?: boolean;
  /** The type of a key column, where an index does not accept any type. */
  readonly keyType?: (type: string) => string;
  readonly tableOptions?: string;
  /** @default ADD COLUMN */
  readonly addColumn?: string;
  readonly addsOneColumn?: boolean;
  /** Whether creating or changing a table ends the transaction: then it comes first. */
  readonly definitionsCommit?: boolean;
  readonly begin: readonly string[];
  /** How long to wait for a lock: a short time for one that keeps all others out, and as long as usual. */
  readonly lockWaits?: { readonly short: string; readonly usual: string };
  /** @default DELETE FROM */
  readonly empty?: string;
  /** Follows INSERT and UPDATE, so that no clause of the table drops a row for another one. */
  readonly orFail?: string;
  readonly overriding?: string;
  /** Whether a row that another session has added meanwhile can be updated instead. */
  readonly updatesOnConflict?: boolean;
  /** Whether two cells are exactly the same; two nulls are. */
  readonly isSame: (cell: string, other: string) => string;
  /** Whether a cell of a key is the same for a unique index. @default `=` */
  readonly isSameKey?: (cell: string, other: string) => string;
  /** Modes in which an identical row is not written again. @default the server avoids it */
  readonly skipsSame?: readonly WritingMode[];
  /** Whether this transaction wrote row `t`, where a table can drop a write without an error. */
  readonly isWritten?: string;
  /** Ends a query that must see what others have committed since the transaction began. */
  readonly readsLatest?: string;
  /** @default UPDATE … SET … FROM … WHERE … */
  readonly update?: (parts: UpdateParts) => string;
  /** Checks deferred constraints before the end of the transaction. */
  readonly checkDeferred?: string;
  readonly markers: MarkerStatements;
}

interface UpdateParts {
  readonly table: string;
  readonly staged: string;
  readonly cells: readonly { readonly name: string; readonly cell: string }[];
  readonly where: string;
}

/** The table of markers beside its target tables. */
interface MarkerStatements {
  readonly targetOf: (name: TableName) => string;
  /** Its columns, with their types. */
  readonly definition: string;
  readonly rowCount: string;
  /** The statement that creates it, so that it waits for a run that creates it too. @default it does */
  readonly createBesideOthers?: (create: string) => string;
  /** Begins a statement that replaces a row. */
  readonly replace: string;
  readonly onConflict?: string;
  readonly now: string;
}

export interface Staging {
  /** Whether they are in their table already, in an open transaction. */
  readonly isInPlace?: boolean;
  write(rows: JoinedRows): Promise<void>;
  /** No more rows follow. */
  end(): Promise<StagedRows>;
  /** Prepares them to be applied. @param ranges whether that takes more than one transaction */
  prepare?(ranges: boolean): Promise<void>;
}

/** A table, view or function of a database. */
export interface Relation {
  readonly schema: string;
  readonly name: string;
  /** Its id as a column's origin. */
  readonly id: string;
  /** The text of a view or function, `undefined` for a table, empty where the user may not see it. */
  readonly definition: string | undefined;
}
