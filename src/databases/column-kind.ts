/** Every kind of a column, for what is read back from a file. */
export const columnKinds = [
  'text',
  'integer',
  'decimal',
  'float',
  'boolean',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'uuid',
  'json',
  'bytes',
  'any',
] as const;

/**
 * What a column holds, whatever database it is in.
 *
 * - `decimal` has digits that a number of JavaScript may not hold; it stays text.
 * - `any` is a column whose cells each have a type of their own, as an expression has in SQLite.
 */
export type ColumnKind = (typeof columnKinds)[number];
