import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from './project.mjs';
import { mustRun } from './run-tool.mjs';

/**
 * Installs a package of an exact version into .cache/, for the few commands that need it: no clone
 * downloads it. No script of it is run.
 *
 * @param spec as `postject@1.0.0-alpha.6`
 * @returns the package's folder
 */
export async function cachedPackage(folderName, spec) {
  const folder = join(projectRoot, '.cache', folderName);
  await mkdir(folder, { recursive: true });
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--force'];
  await mustRun('npm', ['install', ...options, spec]);
  return join(folder, 'node_modules', spec.slice(0, spec.lastIndexOf('@')));
}
