import type { LongestName } from '../tables/table-plan.js';
import type { PartKind, PartsManifest } from '../../files/partitions/parts-folder.js';
import { type KindName, secondDigits } from '../../rows/values/kinds.js';

export interface LoadColumn {
  readonly name: string;
  readonly quoted: string;
  readonly kind: PartKind;
  readonly type: string;
}

export interface Load {
  readonly table: string;
  readonly columns: readonly LoadColumn[];
  readonly manifest: PartsManifest;
  /** Location of the parts, with a slash at its end. */
  readonly from: string;
  /** Common prefix and suffix of the parts' names: no other run's names have both. */
  readonly prefix: string;
  readonly suffix: string;
}

/** How one warehouse or database creates a table and loads parts into it. */
export interface LoadDialect {
  readonly label: string;
  /** Whether the tests run its statements. */
  readonly isRun: boolean;
  readonly formats: readonly PartsManifest['format'][];
  /** Whether it cannot read cells without quotes. @default false */
  readonly needsQuotes?: boolean;
  /** Most parts of a table's name: catalog, schema, table. */
  readonly nameParts: number;
  readonly quote: (name: string) => string;
  readonly ignoresCase: boolean;
  readonly longestName: LongestName;
  /** Names that a column cannot have. @default none */
  readonly refusedName?: RegExp;
  readonly text: string;
  /**
   * The type of a column of this kind, in parts of a format; `undefined` without one: text in the parts is
   * loaded as text, and anything else cannot be loaded.
   */
  readonly typeOf: (kind: PartKind, format: PartsManifest['format']) => string | undefined;
  /** Allowed locations of parts, with an example; without them, a folder of this machine. */
  readonly places: { readonly form: RegExp; readonly example: string; readonly isLocal?: boolean };
  /** What to do without `MERGE`. @default it has `MERGE` */
  readonly insteadOfMerge?: string;
  readonly tableOptions?: (columns: readonly LoadColumn[]) => string;
  /** Lines before all statements, and the loading statements, each with its end. */
  readonly load: (load: Load) => readonly string[];
  readonly begin?: readonly string[];
  readonly end?: readonly string[];
}

/** An SQL literal where a backslash is an ordinary character. */
export function plainText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** An SQL literal where a backslash begins an escape. */
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

/** Whether a text format's bytes are ambiguous: its own text, or another form of it. */
export function isBinaryText({ name }: PartKind, format: PartsManifest['format']): boolean {
  return name === 'binary' && format !== 'parquet';
}

export function namesOf(columns: readonly LoadColumn[]): string {
  return columns.map(({ quoted }) => quoted).join(', ');
}

export function insertInto(
  { table, columns }: Load,
  cells: readonly string[],
  from: string,
): string {
  return `INSERT INTO ${table} (${namesOf(columns)})\nSELECT ${cells.join(', ')}\nFROM ${from};`;
}

export function lines(items: readonly string[]): string {
  return items.map((item) => `  ${item}`).join(',\n');
}

type TypeOf = LoadDialect['typeOf'];

/** Types by kind: a type, or a function. Other kinds have none, nor has ambiguous text of bytes. */
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

/** A type with at most microseconds. */
export function untilMicros(type: string): TypeOf {
  return (kind) => (secondDigits(kind) > 6 ? undefined : type);
}

export function unlessNested(type: string): TypeOf {
  return ({ nested }) => (nested === true ? undefined : type);
}
