/** A database that a process writes to which is killed in the middle of it. */
export interface Killable {
  /** What the command is told with `-o` and as its input. */
  readonly url: string;
  /** The query for the rows of the list, whose `id` runs from 1. */
  readonly query: string;
  /** Name of the table that rows go into by their `id`; the last row of the list stands there already. */
  readonly table: string;
  /** Rows of that table, and those of them that bear results of the service. */
  count(): Promise<{ readonly rows: number; readonly verified: number }>;
  /** Keeps a transaction from being committed, where another process can. */
  holdUp?(): Promise<HoldUp>;
  /** The file that a commit is written to first, where nobody can hold it up. */
  readonly writesTo?: string;
}

export interface HoldUp {
  /** Whether a transaction has done its work and waits. */
  hasWaiting(): Promise<boolean>;
  release(): Promise<void>;
}

/** Rows of the list. */
export const listRows = 400;
