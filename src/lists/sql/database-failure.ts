import {
  ConfigurationError,
  type ErrorPlace,
  type ErrorFault,
  InputError,
  OutputError,
  placeOf,
} from '../../platform/errors/errors.js';
import { SluiceError } from '../../platform/errors/sluice-error.js';
import { grouped } from '../../platform/text/shown-numbers.js';

/** A driver's error without its secrets: its texts quote cells, and its properties hold the password. */
export interface DatabaseFailure {
  /** The second half of a message. */
  readonly words: string;
  /** The database's or the system's own code. */
  readonly code: string | undefined;
  /** Whether the query, a table or a column is wrong, not the connection or the content. */
  readonly isMisuse: boolean;
  /** Whether another process keeps all others out for now. @default false */
  readonly isBusy?: boolean;
  readonly refusal?: Refusal | undefined;
}

export interface Refusal {
  readonly kind: Extract<
    ErrorFault,
    | 'null'
    | 'misfit'
    | 'too_long'
    | 'check'
    | 'foreign_key'
    | 'trigger'
    | 'dropped'
    | 'repeated'
    | 'right'
    | 'read_only'
    | 'locked'
  >;
  readonly column?: string | undefined;
  /** Number of the staged row, from 1, if the database gives it. */
  readonly row?: number | undefined;
  /** The database's detail about the cell, without the cell. */
  readonly detail?: string | undefined;
}

const remedies: Readonly<Record<Refusal['kind'], string>> = {
  null: "give the input a column with a value in every row, or the table's column a default",
  misfit: "change the column's type, or what the input has in it",
  too_long: 'make the column longer, or the cells of the input shorter',
  check: 'change what the input has, or the constraint',
  foreign_key: 'add the rows that it points to first',
  trigger: 'change what the input has, or the trigger',
  dropped: 'change the trigger or the policy, or leave such rows out of the input',
  repeated: 'take one of the rows out of the input',
  right: 'grant the right, or name a user who has it',
  read_only: 'name a server that takes writes',
  locked: 'try again later',
};

export const connectionWords: readonly (readonly [code: string, words: string])[] = [
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOTFOUND', 'host not found'],
  ['ETIMEDOUT', 'it does not answer'],
  ['ECONNRESET', 'the connection was lost'],
  ['EPIPE', 'the connection was lost'],
];

/** What a connection ends with where its driver only says that it has ended. */
export function connectionLost(): Error {
  return Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });
}

/** What is wrong in a database's URL, by the driver's code. */
const wrongParts = new Map([
  ['ENOTFOUND', 'the host'],
  ['28P01', 'the user and the password'],
  ['28000', 'the user'],
  ['ER_ACCESS_DENIED_ERROR', 'the user and the password'],
  ['3D000', 'the name of the database'],
  ['ER_BAD_DB_ERROR', 'the name of the database'],
]);

/** What the caller has to correct, if that is the cause. */
function remedyOf({ code = '', refusal }: DatabaseFailure): string | undefined {
  const part = wrongParts.get(code);
  return part === undefined ? refusal && remedies[refusal.kind] : `correct ${part} in its URL`;
}

/** Whether the same command fails again until the caller corrects it. */
function isCorrectable({ code = '', refusal }: DatabaseFailure): boolean {
  return wrongParts.has(code) || refusal?.kind === 'right';
}

type ToFailure = (error: unknown) => DatabaseFailure;

export type Refuse = (error: unknown) => never;

function plainFailure({ words, code }: DatabaseFailure): Error {
  return Object.assign(new Error(words), code !== undefined && { code });
}

/** Finds the refusal by a message; a pattern may capture the column's name. */
export function findRefusal(
  message: string,
  patterns: readonly (readonly [RegExp, Refusal['kind']])[],
): Refusal | undefined {
  for (const [pattern, kind] of patterns) {
    const [found, column] = pattern.exec(message) ?? [];
    if (found !== undefined) return { kind, column };
  }
  return undefined;
}

/** Rows refused before the database would do so. */
export class RefusedRows extends Error implements DatabaseFailure {
  readonly words: string;
  readonly code = undefined;
  readonly isMisuse = false;
  readonly refusal: Refusal;

  constructor(words: string, refusal: Refusal) {
    super(words);
    this.words = words;
    this.refusal = refusal;
  }
}

/** Converts a driver's error while reading; an abort passes unchanged. @param name the database's name in messages */
export function readingRefuser(name: string, report: ToFailure, signal?: AbortSignal): Refuse {
  return (error) => {
    signal?.throwIfAborted();
    if (error instanceof SluiceError) throw error;
    const failure = report(error);
    const cause = plainFailure(failure);
    if (failure.isMisuse) {
      throw new ConfigurationError(`the query cannot be run on ${name}: ${failure.words}`, {
        cause,
        option: 'query',
        fault: failure.refusal?.kind,
      });
    }
    const message = `cannot read ${name}: ${failureText(failure)}`;
    if (isCorrectable(failure)) {
      throw new ConfigurationError(message, { cause, fault: failure.refusal?.kind });
    }
    throw new InputError(message, { code: 'input_unreadable', cause });
  };
}

/** Converts a driver's error while writing. @param name the table's name in messages */
export function writingRefuser(name: string, report: ToFailure): Refuse {
  return (error) => {
    if (error instanceof SluiceError) throw error;
    const failure = report(error);
    throw new OutputError(`cannot write ${name}: ${failureText(failure)}`, {
      ...refusedPlace(failure),
      cause: plainFailure(failure),
    });
  };
}

/** The same once something may be paid: a table that was taken, and has changed since, is no wrong command. */
export function openingRefuser(name: string, report: ToFailure): Refuse {
  return (error) => {
    if (error instanceof ConfigurationError) {
      throw new OutputError(`cannot write ${name}: ${error.message}`, placeOf(error));
    }
    return writingRefuser(name, report)(error);
  };
}

/** The system's codes for an output that has no folder. */
const missingFolder = new Set(['ENOENT', 'ENOTDIR']);

/** The same while nothing is sent yet: a wrong name is the caller's to correct. */
export function checkingRefuser(name: string, report: ToFailure): Refuse {
  return (error) => {
    if (error instanceof OutputError) {
      throw new ConfigurationError(error.message, { ...placeOf(error), option: 'sink' });
    }
    if (error instanceof SluiceError) throw error;
    const failure = report(error);
    const { code = '', isMisuse, refusal } = failure;
    const isWrong = isMisuse || refusal || isCorrectable(failure) || missingFolder.has(code);
    if (!isWrong) writingRefuser(name, report)(error);
    throw new ConfigurationError(`cannot write ${name}: ${failureText(failure)}`, {
      ...refusedPlace(failure),
      option: 'sink',
      cause: plainFailure(failure),
    });
  };
}

function refusedPlace({ refusal }: DatabaseFailure): ErrorPlace {
  const { column, row, kind } = refusal ?? {};
  return { column, rows: row === undefined ? undefined : [row], fault: kind };
}

function failureText(failure: DatabaseFailure): string {
  const { words, refusal } = failure;
  const remedy = remedyOf(failure);
  const { kind, column, row, detail } = refusal ?? {};
  const isNull = kind === 'null' && column !== undefined;
  return [
    isNull ? 'a row has no value, and none may be missing,' : words,
    column === undefined ? '' : ` in column ${JSON.stringify(column)}`,
    row === undefined ? '' : ` ${column === undefined ? 'in' : 'of'} row ${grouped(row)}`,
    detail === undefined ? '' : `: ${detail}`,
    remedy === undefined ? '' : `; ${remedy}`,
  ].join('');
}

/** The same with the input's row number of a staged row. */
export function withRowOf(failure: DatabaseFailure, numbers: readonly number[]): DatabaseFailure {
  const { refusal } = failure;
  if (refusal?.row === undefined || numbers.length === 0) return failure;
  return {
    ...failure,
    refusal: { ...refusal, row: numbers[(refusal.row - 1) % numbers.length] },
  };
}
