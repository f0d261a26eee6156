import { systemErrorCode } from '../../../platform/files/disk-errors.js';
import { findRefusal, type DatabaseFailure, type Refusal } from '../failure.js';

/** Families of errors whose first lines name tables, columns and syntax, and no cell. */
const misuses = new Set(['Catalog', 'Binder', 'Parser', 'Not implemented', 'Permission']);

const systemWords = new Map([
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['EACCES', 'permission denied'],
]);

/** By family and first line, what may be said; other messages may quote cells, or a password. */
const known: readonly (readonly [RegExp, string])[] = [
  [/^IO Error: .*(?:lock|being used by another)/i, 'another process has it open'],
  [
    /^IO Error: .*not a valid DuckDB database/i,
    "it is no DuckDB database: other files are read with duckdb::memory: and a query such as SELECT * FROM 'list.parquet'",
  ],
  [/^IO Error: .*version number/i, 'it was written by another version of DuckDB'],
  [/^IO Error: .*(?:No such file|does not exist)/i, 'there is no such file'],
  [/^IO Error: .*Permission denied/i, 'permission denied'],
  [/No space left|^Out of Memory Error: .*(?:temp|disk)/i, 'no space is left on the device'],
  [/^Out of Memory/i, 'it takes more memory than it may'],
  [/^Conversion Error/i, 'a cell does not fit what it is to become'],
  [
    /^Constraint Error: .*(?:Duplicate key|unique)/i,
    'a value of a key or a unique column occurs in more than one row',
  ],
  [/^Constraint Error: .*foreign key/i, 'a foreign key of the table is broken'],
];

/** What keeps rows out, by the first line. */
const refusals: readonly (readonly [RegExp, Refusal['kind']])[] = [
  [/^Conversion Error/i, 'misfit'],
  [/^Constraint Error: NOT NULL constraint failed: [^.\n]*\.(.+)/i, 'null'],
  [/^Constraint Error: CHECK constraint failed/i, 'check'],
  [/^Constraint Error: .*foreign key/i, 'foreign_key'],
  [/^Constraint Error: .*(?:Duplicate key|unique)/i, 'repeated'],
];

/** First lines that are said as they stand: they name files and columns. */
const open =
  /^(?:IO Error: No files found that match|Invalid Input Error: (?:No magic bytes|CSV Error on Line: \d)|Constraint Error: (?:NOT NULL|CHECK) constraint failed)/i;

/** What an error of the driver tells; only the words that hold no cell and no password. */
export function failureOf(error: unknown): DatabaseFailure {
  const code = systemErrorCode(error);
  const system = systemWords.get(code ?? '');
  if (system !== undefined) return { words: system, code, isMisuse: false };
  const message = error instanceof Error ? error.message : '';
  const [line = ''] = message.replace(/^Failed to [a-z ]+: /i, '').split('\n');
  const [, family = '', said = ''] = /^([A-Z][A-Za-z ]*?) Error: (.*)$/.exec(line) ?? [];
  const refusal = findRefusal(line, refusals);
  if (misuses.has(family)) return { words: said, code, isMisuse: true };
  const isMisuse = family === 'Invalid Input' && said.includes('read-only mode');
  if (isMisuse || open.test(line)) return { words: said, code, isMisuse, refusal };
  const found = known.find(([pattern]) => pattern.test(line));
  return { words: found?.[1] ?? 'the driver failed', code, isMisuse: false, refusal };
}
