import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIfStale } from './dist.mjs';
import { mustRun } from './run-tool.mjs';

/** Makes the tarball that would be published, and puts it into `folder`. */
export async function packTarball(folder) {
  await buildIfStale();
  // Without scripts: `prepare` would only build once more.
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
    await mustRun('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: folder });
    return await use(folder, tarball);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
