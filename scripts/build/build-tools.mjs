import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
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
const imported = /(?:from|import\()\s*'(\.[^']+)\.js'/g;
const packages = /(?:from|import\()\s*["']((?:@[^/"']+\/)?[^./"'][^/"']*)/g;
/** What an option has to be names them: whoever gives one has them. */
const mayBeNamed = ['@aws-sdk/client-s3', '@opentelemetry/api'];

/**
 * Writes the declarations that programs can reach, and beside them, in src/, the sources that an editor
 * goes to. Those of all modules would double the package. Fails where the types are wrong, or need a
 * package that not everybody installs.
 *
 * @param faces what can be imported, by its place in `folder`
 */
export async function declare(folder, faces) {
  await mustRun(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', folder]);
  const reached = await reachedFrom(faces.map((name) => join(folder, name)));
  for (const file of await filesIn(folder)) {
    const [, module] = /^(.*)\.d\.ts(?:\.map)?$/.exec(file) ?? [];
    if (module !== undefined && !reached.has(module)) await rm(file);
  }
  const { peerDependencies } = await readProjectJson('package.json');
  for (const module of reached) {
    const text = await readFile(`${module}.d.ts`, 'utf8');
    const optional = [...text.matchAll(packages)].find(
      ([, name]) => name in peerDependencies && !mayBeNamed.includes(name),
    );
    if (optional) throw new Error(`the types of ${module} need ${optional[1]}`);
    const source = `${relative(folder, module)}.ts`;
    await mkdir(dirname(join(folder, 'src', source)), { recursive: true });
    await copyFile(join(sources, source), join(folder, 'src', source));
  }
}

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

async function reachedFrom(modules, reached = new Set()) {
  for (const module of modules) {
    if (reached.has(module)) continue;
    reached.add(module);
    const text = await readFile(`${module}.d.ts`, 'utf8');
    const next = [...text.matchAll(imported)].map(([, path]) => resolve(dirname(module), path));
    await reachedFrom(next, reached);
  }
  return reached;
}

async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
