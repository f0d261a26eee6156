import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { projectRoot, readProjectJson, mustRun } from '../project.mjs';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The compiler, which writes the declarations; not there after `npm ci --omit=dev`. */
export const compiler = join(projectRoot, 'node_modules', 'typescript-native', 'bin', 'tsc');

/** Whether the development packages are installed. */
export const hasDevelopmentPackages = () => existsSync(compiler);

/** The bundler: the installed one, else the same version in a folder of its own, for this build alone. */
export async function loadBundler() {
  if (hasDevelopmentPackages()) return import('esbuild');
  const { devDependencies } = await readProjectJson('package.json');
  const folder = join(projectRoot, '.cache', 'bundler');
  await mkdir(folder, { recursive: true });
  const manifest = join(folder, 'package.json');
  await writeFile(manifest, JSON.stringify({ private: true, name: 'bundler' }));
  const wanted = `esbuild@${devDependencies.esbuild}`;
  const env = { ...process.env, npm_config_global: 'false', npm_config_dry_run: 'false' };
  const options = ['--no-save', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  await mustRun('npm', ['install', ...options, wanted], { cwd: folder, env });
  return import(pathToFileURL(createRequire(manifest).resolve('esbuild')).href);
}

const sources = join(projectRoot, 'src');
/** Has the maps name the sources where the package has them. */
export async function placeSources(folder) {
  for (const file of await filesIn(folder)) {
    if (!file.endsWith('.map')) continue;
    const map = JSON.parse(await readFile(file, 'utf8'));
    map.sources = map.sources.map((source) => {
      const path = relative(sources, resolve(dirname(file), source));
      return relative(dirname(file), join(folder, 'src', path)).replaceAll('\\', '/');
    });
    await writeFile(file, JSON.stringify(map));
  }
}

/** All files under a folder, by path. */
export async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
