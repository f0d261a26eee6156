import type { PartKind, PartsManifest } from '../../files/partitions/parts-manifest.js';
import { type KindName, secondDigits } from '../../rows/values/kinds.js';

/** A column that parts are loaded into. */
export interface LoadColumn {
  readonly name: string;
  /** The same as SQL takes it. */
  readonly quoted: string;
  readonly kind: PartKind;
  /** The column's type in the table. */
  readonly type: string;
}

export interface Load {
  /** The table's name as SQL takes it. */
  readonly table: string;
  readonly columns: readonly LoadColumn[];
  readonly manifest: PartsManifest;
  /** Where the parts are, with a slash at its end. */
  readonly from: string;
  /** What all parts' names begin with, and end in: those of no other run do both. */
  readonly prefix: string;
  readonly suffix: string;
}

/** How one warehouse or database creates a table and loads parts into it. */
export interface LoadDialect {
  /** How people call it. */
  readonly label: string;
  /** Whether the tests run what it writes. */
  readonly isRun: boolean;
  readonly formats: readonly PartsManifest['format'][];
  /** Whether it reads no cells without quotes. @default it does */
  readonly needsQuotes?: boolean;
  /** Most parts that a table's name has: catalog, schema, table. */
  readonly nameParts: number;
  readonly quote: (name: string) => string;
  /** Whether names that only differ in case are one. */
  readonly ignoresCase: boolean;
  readonly longestName: { readonly most: number; readonly unit: 'bytes' | 'characters' };
  /** Names that a column cannot have. @default none */
  readonly refusedName?: RegExp;
  readonly text: string;
  /**
   * The type of a column of another kind, in parts of a format; `undefined` where there is none: what is
   * text in the parts is loaded as text, and what is not cannot be loaded.
   */
  readonly typeOf: (kind: PartKind, format: PartsManifest['format']) => string | undefined;
  /** Where parts may be, and an example of it; without the two, in a folder of this machine too. */
  readonly places: { readonly form: RegExp; readonly example: string; readonly isLocal?: boolean };
  /** What to do where it has no `MERGE`. @default it has one */
  readonly insteadOfMerge?: string;
  /** What follows the columns of a new table. */
  readonly tableOptions?: (columns: readonly LoadColumn[]) => string;
  /** Lines before all statements, and those that load, each with its end. */
  readonly load: (load: Load) => readonly string[];
  readonly begin?: readonly string[];
  readonly end?: readonly string[];
}

/** A text of SQL, where a backslash is a character like others. */
export function plainText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text of SQL, where a backslash begins an escape. */
export function escapedText(text: string): string {
  const escaped = text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll("'", String.raw`\'`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`);
  return `'${escaped}'`;
}

export function isCells(format: PartsManifest['format']): boolean {
  return format === 'csv' || format === 'tsv';
}

/** Cells of a text as it has them: bytes are its own text, or another form of it, which nothing shows. */
export function isBinaryText({ name }: PartKind, format: PartsManifest['format']): boolean {
  return name === 'binary' && format !== 'parquet';
}

/** Items of a list, one on each line. */
export function lines(items: readonly string[]): string {
  return items.map((item) => `  ${item}`).join(',\n');
}

type TypeOf = LoadDialect['typeOf'];

/** Types by kinds: a type, or what decides on it. What is not in it has none, nor has what is text of bytes. */
export function typesByKind(types: Partial<Record<KindName, string | TypeOf>>): TypeOf {
  return (kind, format) => {
    const type = isBinaryText(kind, format) ? undefined : types[kind.name];
    return typeof type === 'function' ? type(kind, format) : type;
  };
}

export function integersAs<Type>(type: Type) {
  const signed = { int8: type, int16: type, int32: type, int64: type };
  return { ...signed, uint8: type, uint16: type, uint32: type, uint64: type };
}

export function byFormat(parquet: string | undefined, others: string): TypeOf {
  return (_, format) => (format === 'parquet' ? parquet : others);
}

/** A type that has microseconds at the most. */
export function untilMicros(type: string): TypeOf {
  return (kind) => (secondDigits(kind) > 6 ? undefined : type);
}

export function unlessNested(type: string): TypeOf {
  return ({ nested }) => (nested === true ? undefined : type);
}
