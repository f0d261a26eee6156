import { ConfigurationError } from '../errors/family.js';

interface Needed {
  /** What does not work without it, as a sentence begins with it: `SQLite`. */
  readonly by: string;
  /** What is installed, as `npm install` takes it. */
  readonly install: string;
}

/**
 * Loads a package that only some need, when it is needed: who does not use it installs none.
 *
 * @throws ConfigurationError `missing_dependency`, which says how to install it
 */
export async function loadPackage<Module>(
  load: () => Promise<Module>,
  needed: Needed,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw isMissing(error) ? missingError(needed, error) : error;
  }
}

/** {@link loadPackage} for who cannot wait, and loads by `require`. */
export function loadPackageNow<Module>(load: () => Module, needed: Needed): Module {
  try {
    return load();
  } catch (error) {
    throw isMissing(error) ? missingError(needed, error) : error;
  }
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')
  );
}

function missingError({ by, install }: Needed, cause: unknown): ConfigurationError {
  const what = install.includes(' ') ? 'packages that are' : 'a package that is';
  return new ConfigurationError(`${by} needs ${what} not installed: npm install ${install}`, {
    code: 'missing_dependency',
    cause,
  });
}
