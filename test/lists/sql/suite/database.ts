import type { ErrorFault, Sink, Source } from '../../../../src/index.js';

export type Cells = Readonly<Record<string, unknown>>;

export interface SinkOptions {
  /** @default the table of the place */
  readonly into?: string;
  readonly key?: string;
  readonly isUpdate?: boolean;
  readonly url?: string;
}

/** A table of one test, in a database of any kind. */
export interface Place {
  readonly url: string;
  readonly table: string;
  /** Runs statements in a session of their own; gives the rows of the last one. */
  ask(...statements: readonly string[]): Promise<readonly Cells[]>;
  source(query: string, url?: string): Source;
  sink(options?: SinkOptions): Sink;
  /** What there is where the table would be. */
  traces(): Promise<readonly unknown[]>;
}

/** A session that stays open, and has a transaction open. */
export interface Session {
  query(text: string): Promise<unknown>;
  /** Whether another session waits for what this one has locked. */
  isWaitedFor(): Promise<boolean>;
  end(): Promise<void>;
}

/** What a user may not do who lacks a right, and how that is said. */
type RightCase = readonly [
  what: string,
  grants: readonly string[],
  into: 'people' | 'other',
  words: RegExp,
];

export interface DatabaseServer {
  url(): string;
  /** How the database is named: `postgres://user@host/name`, with a port in between. */
  readonly scheme: string;
  /** The driver's code for a wrong password. */
  readonly refusedCode: string;
  /** Whether a session waits for a lock, where who comes next has to wait for who is about to commit. */
  hasWaiting?(): Promise<boolean>;
  openSession(): Promise<Session>;
  readonly rights: {
    /** Makes a user, and a table `people` in a schema of its own, where nobody has made the table of markers. */
    makeUser(grants: readonly string[]): Promise<{ readonly url: string; readonly schema: string }>;
    readonly cases: readonly RightCase[];
  };
}

/** What the suite has to know of a kind of database to ask the same of each. */
export interface Database {
  readonly name: 'PostgreSQL' | 'MariaDB' | 'SQLite' | 'DuckDB';
  open(): Promise<Place>;
  /** What `FROM` takes for the numbers from 1 to so many, as `i`. */
  numbers(rows: number): string;
  /** One value of each type and what is read for it; some in a table. */
  readonly values: {
    readonly statements?: (table: string) => readonly string[];
    readonly query: (table: string) => string;
    readonly rows: readonly (readonly unknown[])[];
  };
  /** Queries that are the caller's to mend, beside what is asked of each database. */
  /** Refused with words of its own, or with a fault. */
  readonly refusedQueries: readonly (readonly [
    what: string,
    query: string,
    refusal: RegExp | { readonly fault: ErrorFault },
  ])[];
  /** A query whose 50,000th row or so fails, with a text `private cell` in it. */
  readonly failingQuery?: string;
  /** A query whose columns are of many types, what it goes into, and what is there then. */
  readonly newTable: {
    readonly statements?: (table: string) => readonly string[];
    readonly query: (table: string) => string;
    readonly email: string;
    readonly key?: string;
    readonly into: (table: string) => string;
    readonly looks: (table: string) => readonly (readonly [query: string, rows: unknown])[];
  };
  /** Further queries that read a table's own rows, with the statement that makes what they need. */
  readonly ownRows?: readonly (readonly [
    what: string,
    query: (table: string) => string,
    statement?: (table: string) => string,
  ])[];
  /** Whether it has schemas that a table may be in. */
  readonly hasSchemas: boolean;
  /** Whether a query's columns are known by the name that its table has for them. */
  readonly hasOrigins: boolean;
  /** Characters of the longest name, where there is one. */
  readonly longestName?: number;
  /** Cases of `trial-write-suite.ts` in which it refuses nothing. */
  readonly takes: readonly ('text as integer' | 'long text')[];
  /** Statements that have a table drop the row with an id without an error, where one can. */
  readonly dropRow?: (table: string, id: number) => readonly string[];
  /** Whether several processes can write to it at once. */
  readonly isShared: boolean;
  readonly server?: DatabaseServer;
  /** Of a database that is one file: the file's ending. */
  readonly ending?: string;
}
