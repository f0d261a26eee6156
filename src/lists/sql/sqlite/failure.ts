import { systemErrorCode } from '../../../platform/files/disk-errors.js';
import { findRefusal, type DatabaseFailure, type Refusal } from '../failure.js';

const words = new Map([
  ['SQLITE_BUSY', 'another process is writing it'],
  ['SQLITE_LOCKED', 'another process is writing it'],
  ['SQLITE_NOTADB', 'it is no SQLite database'],
  ['SQLITE_CORRUPT', 'it is damaged'],
  ['SQLITE_FULL', 'no space is left on the device'],
  ['SQLITE_READONLY', 'it is read-only'],
  ['SQLITE_CANTOPEN', 'it cannot be opened'],
  ['SQLITE_TOOBIG', 'a cell is too large'],
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'permission denied'],
]);

/** What keeps rows out, by what a message says. */
const refusals: readonly (readonly [RegExp, Refusal['kind']])[] = [
  [/^NOT NULL constraint failed: [^.\n]*\.(.+)/, 'null'],
  [/^CHECK constraint failed/, 'check'],
  [/^FOREIGN KEY constraint failed/, 'foreign_key'],
  [/^UNIQUE constraint failed: [^.\n]*\.(.+)/, 'repeated'],
  [/^cannot store \w+ value in \w+ column [^.\n]*\.(.+)/, 'misfit'],
];

/** What an error of the driver tells; constraints are named, cells are not. */
export function failureOf(error: unknown): DatabaseFailure {
  const message = error instanceof Error ? error.message : '';
  const code =
    systemErrorCode(error) || (message.includes('Unable to open') ? 'SQLITE_CANTOPEN' : undefined);
  const family = code?.replace(/^(SQLITE_[A-Z]+)_.*$/, '$1') ?? '';
  const known = words.get(code ?? '') ?? words.get(family);
  if (known !== undefined) {
    const kind = family === 'SQLITE_READONLY' ? 'read_only' : 'locked';
    const isRefusal = ['SQLITE_READONLY', 'SQLITE_BUSY', 'SQLITE_LOCKED'].includes(family);
    return { words: known, code, isMisuse: false, ...(isRefusal && { refusal: { kind } }) };
  }
  const refusal: Refusal | undefined =
    code === 'SQLITE_CONSTRAINT_TRIGGER' ? { kind: 'trigger' } : findRefusal(message, refusals);
  const isOpen = family === 'SQLITE_ERROR' || family === 'SQLITE_CONSTRAINT';
  return {
    words: wordsFor(message, isOpen, refusal),
    code,
    isMisuse: family === 'SQLITE_ERROR',
    refusal,
  };
}

function wordsFor(message: string, isOpen: boolean, refusal: Refusal | undefined): string {
  if (refusal?.kind === 'misfit') return 'a cell does not fit';
  return isOpen || refusal ? message : 'the driver failed';
}
