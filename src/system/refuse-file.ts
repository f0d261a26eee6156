import { InputError, OutputError } from '../errors/family.js';
import { describeSystemError } from './describe-system-error.js';

type Refuse = (cause: unknown) => never;

/** What becomes of the system's words about an input. */
export function refuseReading(name: string): Refuse {
  return (cause) => {
    throw new InputError(`cannot read ${name}: ${describeSystemError(cause)}`, {
      code: 'input_unreadable',
      cause,
    });
  };
}

/** What becomes of the system's words about an output. */
export function refuseWriting(name: string): Refuse {
  return (cause) => {
    throw new OutputError(`cannot write ${name}: ${describeSystemError(cause)}`, { cause });
  };
}
