import { InputError, OutputError } from '../errors/errors.js';
import { isSluiceError } from '../errors/is-sluice-error.js';
import { describeSystemError, systemErrorCode } from '../text/system-errors.js';

type Refuse = (cause: unknown) => never;

/** Converts the system's errors about an input. @param file the same, unless it is a stream */
export function refuseReading(name: string, file: string | null = name): Refuse {
  return (cause) => {
    throw new InputError(`cannot read ${name}: ${describeSystemError(cause)}`, {
      code: 'input_unreadable',
      file: file ?? undefined,
      cause,
    });
  };
}

/** The same of an output. */
export function refuseWriting(name: string, file: string | null = name): Refuse {
  return (cause) => {
    throw new OutputError(`cannot write ${name}: ${describeSystemError(cause)}`, {
      file: file ?? undefined,
      cause,
    });
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
