import { systemErrorCode } from '../../system/describe-system-error.js';
import type { DatabaseFailure } from '../failure.js';

const words = new Map([
  ['28P01', 'the user or the password is refused'],
  ['28000', 'the user is refused'],
  ['3D000', 'there is no such database'],
  ['53300', 'it has too many connections'],
  ['53100', 'its disk is full'],
  ['57014', 'the statement was cancelled, by its timeout or by a person'],
  ['57P01', 'the server was shut down'],
  ['57P02', 'the server crashed'],
  ['57P03', 'the server is starting up or shutting down'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOTFOUND', 'there is no such host'],
  ['EAI_AGAIN', 'the name of the host cannot be looked up now'],
  ['ENOENT', 'there is no such socket'],
  ['ETIMEDOUT', 'it does not answer'],
  ['ECONNRESET', 'the connection was lost'],
  ['EPIPE', 'the connection was lost'],
]);

/** Classes of SQLSTATE whose messages name tables, columns and settings, and no cell. */
const openClasses = new Set(['0A', '23', '25', '28', '3D', '3F', '42', '53', '54', '55', '57']);

/** What an error of the driver tells; only the words that hold no cell and no password. */
export function failureOf(error: unknown): DatabaseFailure {
  const code = systemErrorCode(error) ?? innerCode(error);
  const isMisuse = code !== undefined && /^(?:42(?!501)|25006|0A000|3F)/.test(code);
  return { words: wordsFor(error, code), code, isMisuse };
}

function wordsFor(error: unknown, code: string | undefined): string {
  const message = error instanceof Error ? error.message : '';
  if (code === undefined) {
    return /terminated|ended|closed|not queryable/.test(message)
      ? 'the connection was lost'
      : 'the driver failed';
  }
  const known = words.get(code);
  if (known !== undefined) return known;
  if (code.startsWith('22'))
    return `a cell does not fit${whereOf(error)}: ${withoutCells(message)}`;
  if (openClasses.has(code.slice(0, 2))) return message;
  return code.startsWith('08') ? 'the connection was lost' : 'the server refuses';
}

/** `COPY t, line 3, column id: "…"`: the column, and nothing of the cell. */
function whereOf(error: unknown): string {
  const where = error instanceof Error && 'where' in error ? String(error.where) : '';
  const found = /line (\d+)(?:, column ([^:"]+))?/.exec(where);
  if (!found) return '';
  const [, line = '', column] = found;
  return column === undefined ? ` in row ${line}` : ` in column ${column} of row ${line}`;
}

function withoutCells(message: string): string {
  return message.replaceAll(/"(?:[^"]|"")*"?/g, '…').replace(/:\s*…$/, '');
}

/** Node tries all addresses of a host, and gathers what each said. */
function innerCode(error: unknown): string | undefined {
  if (!(error instanceof AggregateError)) return undefined;
  return error.errors.map(systemErrorCode).find((code) => code !== undefined);
}
