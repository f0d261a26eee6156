import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { Kind } from '../../rows/values/kinds.js';

export interface TableName {
  /** What it is in, from the outside: a schema, or a database and a schema. */
  readonly within: readonly string[];
  readonly table: string;
}

/** A name as SQL takes it to the letter, whatever it holds. */
export function quoteName(name: string, mark: '"' | '`' = '"'): string {
  return `${mark}${name.replaceAll(mark, `${mark}${mark}`)}${mark}`;
}

/** A table's name with all that it is in, as SQL takes it. */
export function qualifiedName(
  { within, table }: TableName,
  quote: (name: string) => string = quoteName,
): string {
  return [...within, table].map((name) => quote(name)).join('.');
}

/**
 * Takes a table's name apart: `contacts`, `crm.contacts`, or `"my.table"` where a dot belongs to it.
 *
 * @returns the parts from the left, at most `most`
 */
export function parseTableName(text: string, most: number): readonly string[] {
  const parts: string[] = [];
  let rest = text;
  for (;;) {
    const found = /^(?:"((?:[^"]|"")+)"|([^".\0]+))(?:\.|$)/.exec(rest);
    if (!found) break;
    parts.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    rest = rest.slice(found[0].length);
    if (rest === '') break;
  }
  const isWhole = rest === '' && !text.endsWith('.');
  if (isWhole && parts.length > 0 && parts.length <= most) return parts;
  throw new ConfigurationError(
    `${JSON.stringify(text)} is not the name of a table: it has the form ${most > 1 ? 'table or schema.table' : 'table'}; put a name with a dot in it in double quotes`,
  );
}

/** All rows that are to be written. */
export interface StagedRows {
  readonly rows: number;
  /** Of all that is in them. */
  readonly digest: string;
}

/** What a table was last written by: it is in the same transaction as the rows. */
export interface RunMarker extends StagedRows {
  readonly run: string;
  /** Rows that are in the table already. */
  readonly applied: number;
}

export interface ExistingTable {
  /** What a column's origin calls it. */
  readonly id: string;
  /** Whether it is a table, and no view. */
  readonly isTable: boolean;
  readonly columns: readonly {
    readonly name: string;
    /** Its type, where the cells that are staged for it are cast to that. */
    readonly type?: string;
    /** Whether an empty text is a value of it. */
    readonly isText: boolean;
    /** Whether it takes capitals for the same as small letters. @default false */
    readonly isCaseless?: boolean;
    /** Whether its cells print with fewer digits than they hold, so that no print finds them. @default false */
    readonly isRounded?: boolean;
    /** Its type, where it makes numbers of text that looks like one. @default none */
    readonly numberType?: string | undefined;
    /** Whether the server makes its cells itself. */
    readonly isGenerated: boolean;
  }[];
  /** The type of a column of a kind that is added to it. @default the database's */
  readonly typeOf?: ((kind: Kind) => string) | undefined;
  /** Columns of each unique index that can identify rows. */
  readonly keys: readonly (readonly string[])[];
  /** What made it, where it says so itself. */
  readonly marker?: RunMarker | undefined;
}

/**
 * What is to be done with the rows.
 *
 * - `create`: the table is not there.
 * - `replace`: it is, and it was this run that wrote it.
 * - `upsert`: rows are identified by their key; those that are not there yet are added.
 * - `update`: the rows came from the table itself: they get the added columns, and nothing else of them
 *   is touched, as it may have changed since. A row whose verified cells have changed gets nothing.
 */
export type WritingMode = 'create' | 'replace' | 'upsert' | 'update';

export interface NewColumn {
  readonly name: string;
  readonly type: string;
}

export interface TablePlan {
  readonly mode: WritingMode;
  readonly name: TableName;
  /** The same as SQL takes it. */
  readonly target: string;
  readonly marker: RunMarker | undefined;
  readonly key: readonly string[];
  readonly keyPositions: readonly number[];
  /** Positions of the input's columns that are written. */
  readonly positions: readonly number[];
  /** All columns that are staged, in order: those of the input, then the added ones. */
  readonly columns: readonly NewColumn[];
  /** Those that the table does not have yet. */
  readonly missing: readonly NewColumn[];
  /** Those that are staged and not written. */
  readonly withheld?: readonly NewColumn[];
  /** Names of those that are only compared: a row that has another cell there is left alone. */
  readonly guards: readonly string[];
  /** Names of verified columns that the table has no cell for to compare. */
  readonly unguarded: readonly string[];
  /** Names that are longer than the database takes. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  /** Whether an empty text is a value of the input's column at a position. */
  readonly isText: (position: number) => boolean;
  /** The type of the column that a cell of text goes to, where it makes numbers of such text. */
  readonly numberTypeOf: (position: number) => string | undefined;
  /** Whether cells of any kind become text in the input's column at a position. */
  readonly isPrinted: (position: number) => boolean;
  /** Whether texts of the input's column at a position are the same there in capitals. */
  readonly isCaseless: (position: number) => boolean;
}
