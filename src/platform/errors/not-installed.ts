import { ConfigurationError } from './errors.js';

interface Needed {
  /** What does not work without it, as a sentence begins with it: `SQLite`. */
  readonly by: string;
  /** What is installed, as `npm install` takes it. */
  readonly install: string;
}

/**
 * Takes the failure of an import of a package that only some need: `import('libsql').catch(…)`, which
 * bundlers know as an import that may fail.
 *
 * @throws ConfigurationError `missing_dependency`, which says how to install it; any other error as it is
 */
export function notInstalled({ by, install }: Needed): (error: unknown) => never {
  return (cause) => {
    if (!isMissing(cause)) throw cause;
    const what = install.includes(' ') ? 'packages that are' : 'a package that is';
    throw new ConfigurationError(`${by} needs ${what} not installed: npm install ${install}`, {
      code: 'missing_dependency',
      cause,
    });
  };
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')
  );
}
