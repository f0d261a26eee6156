import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIfStale } from './dist.mjs';
import { mustRun } from './run-tool.mjs';

/** Makes the tarball that would be published, and puts it into `folder`. */
export async function packTarball(folder) {
  await buildIfStale();
  // Without scripts: `prepack` would only build once more.
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await mustRun('npm', args);
  const [{ filename }] = JSON.parse(stdout);
  return join(folder, filename);
}

/**
 * Installs the tarball, and nothing else, in an empty folder outside the project, as its users do.
 * The folder is handed to `use` and removed afterwards.
 */
export async function withInstalledPackage(use) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-installed-'));
  try {
    const tarball = await packTarball(folder);
    const args = ['install', '--no-audit', '--no-fund', tarball];
    const { stderr } = await mustRun('npm', args, { cwd: folder });
    // Warnings about this machine's own settings are none about the package.
    const warnings = stderr
      .split('\n')
      .filter((line) => /warn/i.test(line) && !/config/i.test(line));
    if (warnings.length > 0) throw new Error(`npm install warns:\n${warnings.join('\n')}`);
    return await use(folder, tarball);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
