import { InputError } from '../../../platform/errors/errors.js';

/** What a source gives when it is read again is not what the run has planned. */
export function inputChanged(source: string): InputError {
  return new InputError(
    `${source} has changed since the run read it: run again, which uses what was paid for with what it holds then`,
    { code: 'input_changed' },
  );
}
