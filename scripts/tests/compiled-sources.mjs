import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { buildSync, version } from 'esbuild';
import { projectRoot } from '../project.mjs';

const sources = join(projectRoot, 'src/');
const compiled = join(projectRoot, '.cache', 'compiled');
const maxAgeMs = 86_400_000;

/**
 * How Vitest loads src/. In a run as Node's own modules: Vitest's own loader, for which each import is a getter
 * and each module a question to another process, was a third of the tests' time. While it watches, and where
 * coverage is measured, Vitest has to see the sources itself.
 */
export function sourcesForTests() {
  const plugins = [textFiles()];
  if (!process.argv.includes('run') || process.env.COVERAGE === '1') return { plugins, test: {} };
  const folder = compileForNode('sources', ['src']);
  const plugin = {
    name: 'compiled-sources',
    enforce: 'pre',
    resolveId(id, importer) {
      const path = id.startsWith('.') && importer ? resolve(dirname(importer), id) : id;
      if (!path.startsWith(sources) || !/\.[jt]s$/.test(path)) return null;
      return join(folder, 'src', relative(sources, path).replace(/\.ts$/, '.js'));
    },
  };
  return {
    plugins: [plugin, ...plugins],
    test: {
      server: { deps: { external: [/\/\.cache\/compiled\//] } },
      // What Vitest has made of the tests, the next run need not make again. It names the folder.
      experimental: { fsModuleCache: true, fsModuleCachePath: join(folder, 'modules') },
    },
  };
}

/** For Vitest: a data file (`.txt`, `.sql`) is imported as text, as the bundler does of itself. */
function textFiles() {
  return {
    name: 'text-files',
    enforce: 'pre',
    load(id) {
      return /\.(?:txt|sql)$/.test(id)
        ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))};`
        : null;
    },
  };
}

/**
 * Turns the TypeScript of some folders into JavaScript, tests left out: types only go away, they are checked
 * elsewhere. What has been made once of the same sources is there for every process, and is never changed.
 *
 * @returns a folder under `.cache`, in which paths are as from the project's root
 */
export function compileForNode(name, folders) {
  const files = folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true })
      .filter((file) => /(?<!\.d|\.test)\.ts$|\.(?:txt|sql)$/.test(file))
      .map((file) => join(folder, file))
      .toSorted(),
  );
  const hash = createHash('sha256').update(version);
  // The sources read their version in package.json.
  for (const file of [...files, 'package.json']) {
    hash.update(`\0${file}\0`).update(readFileSync(join(projectRoot, file)));
  }
  const built = join(compiled, `${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(built)) return built;
  const fresh = `${built}.${process.pid}`;
  compile(files, fresh);
  try {
    renameSync(fresh, built);
  } catch (error) {
    // Another process was quicker.
    rmSync(fresh, { recursive: true });
    if (!existsSync(built)) throw error;
  }
  removeOld();
  return built;
}

function compile(files, folder) {
  buildSync({
    absWorkingDir: projectRoot,
    entryPoints: files.filter((file) => file.endsWith('.ts')),
    outbase: '.',
    outdir: folder,
    format: 'esm',
    target: 'es2023',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'warning',
  });
  inlineTexts(files, folder);
  copyFileSync(join(projectRoot, 'package.json'), join(folder, 'package.json'));
}

/** Removes what was made of earlier sources, when nobody can be running it any more. */
function removeOld() {
  for (const name of readdirSync(compiled)) {
    const folder = join(compiled, name);
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > maxAgeMs) rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes modules of the data files that sources import as text: nothing is bundled here. */
function inlineTexts(files, built) {
  for (const file of files) {
    if (!file.endsWith('.ts')) {
      const text = readFileSync(join(projectRoot, file), 'utf8');
      writeFileSync(join(built, `${file}.js`), `export default ${JSON.stringify(text)};\n`);
      continue;
    }
    const module = join(built, file.replace(/\.ts$/, '.js'));
    const code = readFileSync(module, 'utf8');
    const renamed = code.replaceAll(/(from "\.[^"]+\.(?:txt|sql))"/g, '$1.js"');
    if (renamed !== code) writeFileSync(module, renamed);
  }
}
