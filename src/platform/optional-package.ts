import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ConfigurationError } from './errors/errors.js';
import { shellQuote } from './text/printable.js';

interface Needed {
  /** What requires it, as the beginning of a sentence: `SQLite`. */
  readonly by: string;
  readonly install: string;
  /** Its name for `npm run drivers`. */
  readonly driver?: string;
}

/** Handles the failed import of an optional package: `import('libsql').catch(…)`, which bundlers accept as optional. */
export function refuseMissingPackage({ by, install, driver }: Needed): (error: unknown) => never {
  return (cause) => {
    if (!isMissing(cause)) throw cause;
    const what = install.includes(' ') ? 'packages that are' : 'a package that is';
    const clone = driver === undefined ? undefined : cloneFolder();
    const command =
      clone === undefined
        ? `npm install ${install}`
        : inFolder(clone, `npm run drivers -- ${driver}`);
    throw new ConfigurationError(`${by} needs ${what} not installed: ${command}`, {
      code: 'missing_dependency',
      cause,
    });
  };
}

/** In a clone `npm install` would change much else; a package has no such command. */
function cloneFolder(): string | undefined {
  try {
    const root = dirname(createRequire(import.meta.url).resolve('sluice/package.json'));
    return existsSync(join(root, 'scripts', 'drivers.mjs')) ? root : undefined;
  } catch {
    return undefined;
  }
}

function inFolder(folder: string, command: string): string {
  return folder === process.cwd() ? command : `(cd ${shellQuote(folder)} && ${command})`;
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')
  );
}
