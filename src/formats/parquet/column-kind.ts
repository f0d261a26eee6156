import type { SchemaElement } from 'hyparquet';
import { printJson, printValue } from '../../rows/print-value.js';

/** What the values of a column have in common; `none` as long as there are none. */
export type ColumnKind =
  'none' | 'boolean' | 'integer' | 'number' | 'time' | 'bytes' | 'json' | 'text';

/** The kind of a column that has had values of one kind and gets one more value. */
export function widenKind(kind: ColumnKind, value: unknown): ColumnKind {
  const own = kindOf(value);
  if (own === 'none' || own === kind) return kind;
  if (kind === 'none') return own;
  const isNumeric = [own, kind].every((one) => one === 'integer' || one === 'number');
  // What has nothing in common is text, as it would stand in a CSV file.
  return isNumeric ? 'number' : 'text';
}

function kindOf(value: unknown): ColumnKind {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return value === BigInt.asIntN(64, value) ? 'integer' : 'text';
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number';
    case 'string':
      return 'text';
    case 'object':
      if (value === null) return 'none';
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'none' : 'time';
      return value instanceof Uint8Array ? 'bytes' : 'json';
    default:
      return 'none';
  }
}

/** The schema's element for a column of a kind; every column may have nulls. */
export function elementOf(name: string, kind: ColumnKind): SchemaElement {
  const common = { name, repetition_type: 'OPTIONAL' } as const;
  switch (kind) {
    case 'boolean':
      return { ...common, type: 'BOOLEAN' };
    case 'integer':
      return { ...common, type: 'INT64' };
    case 'number':
      return { ...common, type: 'DOUBLE' };
    case 'time':
      return { ...common, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' };
    case 'bytes':
      return { ...common, type: 'BYTE_ARRAY' };
    case 'json':
      return { ...common, type: 'BYTE_ARRAY', converted_type: 'JSON' };
    case 'none':
    case 'text':
      return { ...common, type: 'BYTE_ARRAY', converted_type: 'UTF8' };
  }
}

/** A value as a column of a kind stores it; `undefined` when the column has no form for it. */
export function storedAs(kind: ColumnKind, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  const own = kindOf(value);
  switch (kind) {
    case 'boolean':
    case 'bytes':
      return own === kind ? value : undefined;
    case 'integer':
      return own === kind ? BigInt(value as number) : undefined;
    case 'number':
      return own === kind || own === 'integer' ? Number(value) : undefined;
    case 'time':
      return own === kind ? BigInt((value as Date).getTime()) : undefined;
    case 'json':
      return own === kind ? Buffer.from(printJson(value)) : undefined;
    case 'none':
    case 'text':
      return printValue(value);
  }
}
