import { systemErrorCode } from '../../../platform/files/disk-errors.js';
import { tlsWords } from '../database-url.js';
import type { DatabaseFailure, Refusal } from '../failure.js';

const words = new Map([
  ['28P01', 'the user or the password is refused'],
  ['28000', 'the user is refused'],
  ['3D000', 'there is no such database'],
  ['53300', 'it has too many connections'],
  ['53100', 'its disk is full'],
  ['P0001', 'a trigger refuses a row'],
  ['55P03', 'another session holds a lock on the table'],
  ['40P01', 'another session holds a lock on the table'],
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

/** What keeps rows out, by SQLSTATE. */
const refusals = new Map<string, Refusal['kind']>([
  ['23502', 'null'],
  ['23503', 'foreign_key'],
  ['23505', 'repeated'],
  ['23514', 'check'],
  ['22001', 'too_long'],
  ['P0001', 'trigger'],
  ['42501', 'right'],
  ['25006', 'read_only'],
  ['55P03', 'locked'],
  ['40P01', 'locked'],
]);

/** What an error of the driver tells; only the words that hold no cell and no password. */
export function failureOf(error: unknown): DatabaseFailure {
  const code = systemErrorCode(error) ?? innerCode(error);
  const isMisuse = code !== undefined && /^(?:42(?!501)|25006|0A000|3F|54011)/.test(code);
  const kind = refusals.get(code ?? '') ?? (code?.startsWith('22') === true ? 'misfit' : undefined);
  const isCell = kind === 'misfit' || kind === 'too_long';
  return {
    words: isCell ? 'a cell does not fit' : wordsFor(error, code),
    code,
    isMisuse,
    refusal: kind && {
      kind,
      ...placeOf(error),
      ...(isCell && { detail: withoutCells(error instanceof Error ? error.message : '') }),
    },
  };
}

function wordsFor(error: unknown, code: string | undefined): string {
  // What has a SQLSTATE has come through.
  const tls = code?.length === 5 ? undefined : tlsWords(error);
  if (tls !== undefined) return tls;
  const message = error instanceof Error ? error.message : '';
  if (code === undefined) {
    return /terminated|ended|closed|not queryable/.test(message)
      ? 'the connection was lost'
      : 'the driver failed';
  }
  const known = words.get(code);
  if (known !== undefined) return known;
  if (openClasses.has(code.slice(0, 2))) return message;
  return code.startsWith('08') ? 'the connection was lost' : `the server refuses (${code})`;
}

/** `COPY t, line 3, column id: "…"`: the column, and nothing of the cell. */
function placeOf(error: unknown): Pick<Refusal, 'column' | 'row'> {
  const where = error instanceof Error && 'where' in error ? String(error.where) : '';
  const [, line, cell] = /line (\d+)(?:, column ([^:"]+))?/.exec(where) ?? [];
  const named = error instanceof Error && 'column' in error ? error.column : undefined;
  const column = cell ?? (typeof named === 'string' ? named : undefined);
  return { column, ...(line !== undefined && { row: Number(line) }) };
}

function withoutCells(message: string): string {
  return message.replaceAll(/"(?:[^"]|"")*"?/g, '…').replace(/:\s*…$/, '');
}

/** Node tries all addresses of a host, and gathers what each said. */
function innerCode(error: unknown): string | undefined {
  if (!(error instanceof AggregateError)) return undefined;
  return error.errors.map(systemErrorCode).find((code) => code !== undefined);
}
