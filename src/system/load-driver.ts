import { ConfigurationError } from '../errors/family.js';

/**
 * Loads a package that only some need, when it is needed.
 *
 * @param what what needs it
 * @param install what is installed with it
 * @throws ConfigurationError `missing_dependency`, which says how to install it
 */
export async function loadDriver<Module>(
  load: () => Promise<Module>,
  { what, install }: { readonly what: string; readonly install: string },
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new ConfigurationError(
      `${what} needs a package that is not installed: npm install ${install}`,
      { code: 'missing_dependency' },
    );
  }
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')
  );
}
