import { systemErrorCode } from '../../system/describe-system-error.js';
import type { DatabaseFailure } from '../failure.js';

const words = new Map([
  ['ER_ACCESS_DENIED_ERROR', 'the user or the password is refused'],
  ['ER_DBACCESS_DENIED_ERROR', 'the user may not use this database'],
  ['ER_BAD_DB_ERROR', 'there is no such database'],
  ['ER_CON_COUNT_ERROR', 'it has too many connections'],
  ['ER_LOCK_WAIT_TIMEOUT', 'another transaction holds what is to be written'],
  ['ER_LOCK_DEADLOCK', 'another transaction holds what is to be written'],
  ['ER_SERVER_SHUTDOWN', 'the server was shut down'],
  ['PROTOCOL_CONNECTION_LOST', 'the connection was lost'],
  ['ECONNRESET', 'the connection was lost'],
  ['EPIPE', 'the connection was lost'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOTFOUND', 'there is no such host'],
  ['ETIMEDOUT', 'it does not answer'],
  ['ER_DUP_ENTRY', 'a key or a unique column stands in more than one row'],
  ['ER_TRUNCATED_WRONG_VALUE_FOR_FIELD', 'a cell does not fit its column'],
  ['ER_TRUNCATED_WRONG_VALUE', 'a cell does not fit its column'],
  ['ER_WARN_DATA_OUT_OF_RANGE', 'a cell does not fit its column'],
  ['ER_DATA_TOO_LONG', 'a cell does not fit its column'],
  ['WARN_DATA_TRUNCATED', 'a cell does not fit its column'],
]);

/** Errors whose messages name tables, columns and syntax, and no cell. */
const misuses = new Set([
  'ER_NO_SUCH_TABLE',
  'ER_BAD_FIELD_ERROR',
  'ER_PARSE_ERROR',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_WRONG_FIELD_WITH_GROUP',
  'ER_NON_UNIQ_ERROR',
]);

/** What an error of the driver tells; only the words that hold no cell and no password. */
export function failureOf(error: unknown): DatabaseFailure {
  const code = systemErrorCode(error);
  const known = words.get(code ?? '');
  if (known !== undefined) return { words: known, code, isMisuse: false };
  const isMisuse = misuses.has(code ?? '');
  const message = error instanceof Error ? error.message : '';
  if (isMisuse) return { words: message, code, isMisuse };
  const isLost = code === undefined && /clos|lost|ended/i.test(message);
  return { words: isLost ? 'the connection was lost' : 'the server refuses', code, isMisuse };
}
