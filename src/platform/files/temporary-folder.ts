import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../errors/errors.js';
import { describeSystemError } from './describe-system-error.js';

/**
 * Makes a folder of one's own among the temporary files.
 *
 * @param prefix of its name
 * @throws ConfigurationError where none can be made
 */
export async function makeTemporaryFolder(prefix: string): Promise<string> {
  const parent = tmpdir();
  return mkdtemp(join(parent, prefix)).catch((cause: unknown) => {
    throw new ConfigurationError(
      `cannot write to the folder for temporary files, ${parent}: ${describeSystemError(cause)}; have TMPDIR name a folder that can be written`,
      { cause },
    );
  });
}
