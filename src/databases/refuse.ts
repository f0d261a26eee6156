import { ConfigurationError, InputError, OutputError } from '../errors/family.js';
import { SluiceError } from '../errors/sluice-error.js';
import { plainFailure, type DatabaseFailure } from './database-failure.js';

/** Takes from a driver's error what may be said of it. */
type TellFailure = (error: unknown) => DatabaseFailure;

/**
 * Says what a driver's error means for whoever reads; an abort passes untouched.
 *
 * @param name how messages call the database
 */
export function readingRefuser(
  name: string,
  tell: TellFailure,
  signal?: AbortSignal,
): (error: unknown) => never {
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
export function writingRefuser(name: string, tell: TellFailure): (error: unknown) => never {
  return (error) => {
    if (error instanceof SluiceError) throw error;
    const failure = tell(error);
    throw new OutputError(`cannot write ${name}: ${failure.words}`, {
      cause: plainFailure(failure),
    });
  };
}

/** The same while nothing is sent yet: what names the wrong things is the caller's to mend. */
export function checkingRefuser(name: string, tell: TellFailure): (error: unknown) => never {
  return (error) => {
    if (error instanceof SluiceError) throw error;
    const failure = tell(error);
    if (!failure.isMisuse) writingRefuser(name, tell)(error);
    throw new ConfigurationError(`cannot write ${name}: ${failure.words}`, {
      cause: plainFailure(failure),
    });
  };
}
