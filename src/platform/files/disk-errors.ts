import { InputError, OutputError } from '../errors/errors.js';
import { isSluiceError } from '../errors/is-sluice-error.js';
import { describeSystemError, systemErrorCode } from '../text/system-errors.js';

type Refuse = (cause: unknown) => never;

/** Converts the system's errors about an input. */
export function refuseReading(name: string): Refuse {
  return (cause) => {
    throw new InputError(`cannot read ${name}: ${describeSystemError(cause)}`, {
      code: 'input_unreadable',
      cause,
    });
  };
}

/** Converts the system's errors about an output. */
export function refuseWriting(name: string): Refuse {
  return (cause) => {
    throw new OutputError(`cannot write ${name}: ${describeSystemError(cause)}`, { cause });
  };
}

/** Makes file system calls. @param doing the text after "cannot": `write …` */
export async function onDisk<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isSluiceError(error)) throw error;
    const isSystems = systemErrorCode(error) !== undefined;
    const why = isSystems ? `: ${describeSystemError(error)}` : '';
    throw new OutputError(`cannot ${doing}${why}`, { cause: error });
  }
}
