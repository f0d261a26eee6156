import { ConfigurationError } from '../../errors/family.js';

/**
 * Loads a package that only verification by the network needs: who does not use it installs none.
 *
 * @param install what is installed
 * @throws ConfigurationError `missing_dependency`, which says how to install it
 */
export async function loadPackage<Module>(
  load: () => Promise<Module>,
  install: string,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new ConfigurationError(
      `verification by the network needs a package that is not installed: npm install ${install}`,
      { code: 'missing_dependency' },
    );
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}
