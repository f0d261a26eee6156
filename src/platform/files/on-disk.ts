import { OutputError } from '../errors/errors.js';
import { isSluiceError } from '../errors/is-sluice-error.js';

/**
 * Makes calls on the disk.
 *
 * @param doing what a person reads behind "cannot": `write …`
 * @throws OutputError for whatever the system says; errors of Sluice pass untouched
 */
export async function onDisk<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isSluiceError(error)) throw error;
    throw new OutputError(`cannot ${doing}`, { cause: error });
  }
}
