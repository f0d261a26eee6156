import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { Kind } from '../../rows/values/kinds.js';
import { optionName } from '../../../platform/text/sentence.js';

export interface TableName {
  /** Its containers: a schema, or a database and a schema. */
  readonly within: readonly string[];
  readonly table: string;
}

/** A quoted name with any content. */
export function quoteName(name: string, mark: '"' | '`' = '"'): string {
  return `${mark}${name.replaceAll(mark, `${mark}${mark}`)}${mark}`;
}

/** A table's quoted name with its containers. */
export function qualifiedName(
  { within, table }: TableName,
  quote: (name: string) => string = quoteName,
): string {
  return [...within, table].map((name) => quote(name)).join('.');
}

/**
 * Parses a table's name: `contacts`, `crm.contacts`, or `"my.table"` for a name with a dot.
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
    { fault: 'other_format' },
  );
}

export interface StagedRows {
  readonly rows: number;
  /** Of all their values. */
  readonly digest: string;
}

/** A table's last writer, recorded in the same transaction as the rows. */
export interface RunMarker extends StagedRows {
  readonly run: string;
  readonly applied: number;
  /**
   * Ids of the result columns that runs have written, with commas: others of such a name are the owner's. With an empty
   * one any may be a run's: the first versions kept none.
   */
  readonly written: string;
}

export interface ExistingTable {
  /** Its id as a column's origin. */
  readonly id: string;
  /** Ids of other tables that show rows of it, or that it shows: a partitioned table and its partitions. @default none */
  readonly sharing?: readonly string[];
  readonly isTable: boolean;
  /** Its engine, if that has no transactions. */
  readonly engine?: string | undefined;
  readonly columns: readonly {
    readonly name: string;
    /** Its type, if staged cells are cast to it. */
    readonly type?: string;
    /** Whether it can hold an empty text. */
    readonly isText: boolean;
    /** Whether it holds text only: there a flag is `true`, not the number that stands for it. @default false */
    readonly isPrinted?: boolean;
    /** Whether it ignores case. @default false */
    readonly isCaseless?: boolean;
    /** Whether its cells print with fewer digits than they hold, so that no print finds them. @default false */
    readonly isRounded?: boolean;
    /** Its type, if it converts text that looks like a number. @default none */
    readonly numberType?: string | undefined;
    /** Whether the server computes its cells. */
    readonly isGenerated: boolean;
  }[];
  /** The type of an added column of a kind. @default the database's */
  readonly typeOf?: ((kind: Kind) => string) | undefined;
  /** Columns of each unique index that can identify rows. */
  readonly keys: readonly (readonly string[])[];
  /** Its creator, if recorded in the table itself. */
  readonly marker?: RunMarker | undefined;
}

/**
 * How the rows are written.
 *
 * - `create`: the table does not exist.
 * - `replace`: it exists, written by this run.
 * - `upsert`: rows are identified by their key; missing ones are added.
 * - `update`: the rows came from the table itself: they get the added columns, and nothing else changes. A
 *   row whose verified cells have changed is skipped.
 */
export type WritingMode = 'create' | 'replace' | 'upsert' | 'update';

export interface NewColumn {
  readonly name: string;
  readonly type: string;
  /** Whether cells of any kind become text in it. @default false */
  readonly isPrinted?: boolean;
  /** Whether it is of its source's own type. @default false */
  readonly isOfSource?: boolean;
}

export function hasEmptyMember(type: string): boolean {
  return /^enum\((?:.*, ?)?''[,)]/i.test(type);
}

/** What is the same for a new table and an existing one. */
export interface TargetPlan {
  readonly name: TableName;
  /** The same, quoted. */
  readonly target: string;
  readonly marker: RunMarker | undefined;
  readonly key: readonly string[];
  readonly keyPositions: readonly number[];
  /** Names beyond the database's limit. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
}

export interface TablePlan extends TargetPlan {
  readonly mode: WritingMode;
  readonly positions: readonly number[];
  /** All staged columns, in order: those of the input, then the added ones. */
  readonly columns: readonly NewColumn[];
  readonly missing: readonly NewColumn[];
  /** Those staged but not written. */
  readonly withheld?: readonly NewColumn[];
  /** Names of columns that are only compared: a row with another cell there is skipped. */
  readonly guards: readonly string[];
  /** Names of verified columns that cannot be compared with the table. */
  readonly unguarded: readonly string[];
  /** Whether the input's column at a position can hold an empty text. */
  readonly isText: (position: number) => boolean;
  /** The type of a text cell's column, if it converts such text to numbers. */
  readonly numberTypeOf: (position: number) => string | undefined;
  /** Whether the input's column at a position ignores case. */
  readonly isCaseless: (position: number) => boolean;
}

export interface LongestName {
  readonly most: number;
  readonly unit: 'bytes' | 'characters';
}

/** A column's name, with an ending that must stay. */
interface WantedName {
  readonly name: string;
  readonly ending?: string;
}

/**
 * Shortens names beyond the database's limit, always the same way: before their ending, with a number where
 * two would be equal. A name that fits is never changed.
 */
export function fitNames(
  wanted: readonly WantedName[],
  longest: LongestName | undefined,
): readonly string[] {
  if (!longest) return wanted.map(({ name }) => name);
  const { most, unit } = longest;
  const sizeOf = (text: string): number =>
    unit === 'bytes' ? Buffer.byteLength(text) : Array.from(text).length;
  const taken = new Set(wanted.flatMap(({ name }) => (sizeOf(name) <= most ? [name] : [])));
  return wanted.map(({ name, ending = '' }) => {
    if (sizeOf(name) <= most) return name;
    for (let number = 1; ; number += 1) {
      const end = `${number === 1 ? '' : `_${number}`}${ending}`;
      let start = Array.from(name.slice(0, name.length - ending.length));
      while (sizeOf(start.join('')) + sizeOf(end) > most) start = start.slice(0, -1);
      const short = `${start.join('')}${end}`;
      if (taken.has(short)) continue;
      taken.add(short);
      return short;
    }
  });
}

export function spelling(column: string, table: ExistingTable | undefined): string {
  const match = table?.columns.find(({ name }) => name.toLowerCase() === column.toLowerCase());
  return match?.name ?? column;
}

export function refuseSameNames(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined) {
      throw new ConfigurationError(
        `the database takes the columns ${JSON.stringify(other)} and ${JSON.stringify(name)} for the same: leave one of them out of the input, or rename it there; another prefix of result columns is ${optionName('prefix')}`,
        { code: 'column_exists', column: name, fault: 'repeated' },
      );
    }
    seen.set(name.toLowerCase(), name);
  }
}
