import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot, readProjectJson } from '../project.mjs';
import { mustRun } from '../run-tool.mjs';

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
