import { ConfigurationError, InputError, OutputError } from '../errors/family.js';
import { SluiceError } from '../errors/sluice-error.js';

/**
 * What a driver's error told, without what it may hold: its message and its details quote cells, its
 * properties hold the connection and with it the password.
 */
export interface DatabaseFailure {
  /** The second half of a message. */
  readonly words: string;
  /** The database's or the system's own code. */
  readonly code: string | undefined;
  /** Whether the query, a table or a column is wrong, and not the connection or the content. */
  readonly isMisuse: boolean;
}

/** Takes from a driver's error what may be said of it. */
type TellFailure = (error: unknown) => DatabaseFailure;

/** Says what an error means. */
export type Refuse = (error: unknown) => never;

/** A bare error to stand as the cause, so that the code is seen and nothing else. */
function plainFailure({ words, code }: DatabaseFailure): Error {
  return Object.assign(new Error(words), code !== undefined && { code });
}

/**
 * Says what a driver's error means for whoever reads; an abort passes untouched.
 *
 * @param name how messages call the database
 */
export function readingRefuser(name: string, tell: TellFailure, signal?: AbortSignal): Refuse {
  return (error) => {
    signal?.throwIfAborted();
    if (error instanceof SluiceError) throw error;
    const failure = tell(error);
    const cause = plainFailure(failure);
    if (failure.isMisuse) {
      throw new ConfigurationError(`the query cannot be run on ${name}: ${failure.words}`, {
        cause,
      });
    }
    throw new InputError(`cannot read ${name}: ${failure.words}`, {
      code: 'input_unreadable',
      cause,
    });
  };
}

/**
 * Says what a driver's error means for whoever writes.
 *
 * @param name how messages call the table
 */
export function writingRefuser(name: string, tell: TellFailure): Refuse {
  return (error) => {
    if (error instanceof SluiceError) throw error;
    const failure = tell(error);
    throw new OutputError(`cannot write ${name}: ${failure.words}`, {
      cause: plainFailure(failure),
    });
  };
}

/** The same while nothing is sent yet: what names the wrong things is the caller's to put right. */
export function checkingRefuser(name: string, tell: TellFailure): Refuse {
  return (error) => {
    if (error instanceof SluiceError) throw error;
    const failure = tell(error);
    if (!failure.isMisuse) writingRefuser(name, tell)(error);
    throw new ConfigurationError(`cannot write ${name}: ${failure.words}`, {
      cause: plainFailure(failure),
    });
  };
}
