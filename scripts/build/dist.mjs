import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasDevelopmentPackages, loadBundler, placeSources } from './build-tools.mjs';
import {
  dataAsText,
  directImports,
  fixedOpenapi,
  fixedVersion,
  lateHttp2,
  lateOptimizing,
} from './plugins.mjs';
import { projectRoot, readProjectJson } from '../project.mjs';

const dist = join(projectRoot, 'dist');
const cache = join(projectRoot, '.cache');
const stampFile = join(cache, 'build.json');
/** What decides, besides src/, what a build gives. */
const decisive = [
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
  'scripts/build/build-tools.mjs',
  'scripts/build/declarations.mjs',
  'scripts/build/dist.mjs',
  'scripts/build/mapped-lines.mjs',
  'scripts/build/plugins.mjs',
];

/**
 * Builds src/ and puts the outcome in the place of dist/: a bundle of the library, another of the command,
 * and the declarations that programs can reach, with their sources. All are written beside it first: nothing of a removed module stays,
 * and two builds at once do not mix their files.
 * Without the development packages the command is built, and no declarations.
 */
export async function build() {
  const source = await sourceStamp();
  const fresh = join(cache, `dist-${process.pid}`);
  await mkdir(cache, { recursive: true });
  try {
    const { build: bundle } = await loadBundler();
    const isDeclared = hasDevelopmentPackages();
    const [exported] = await Promise.all([
      bundleLibrary(bundle, fresh),
      bundleCommand(bundle, fresh),
      isDeclared && declareFaces(fresh),
    ]);
    await placeSources(fresh);
    await writeForRequire(fresh);
    if (isDeclared) await declareForRequire(fresh, exported);
    // npm makes a bin executable when it links it; what is built behind the link must be already.
    await chmod(join(fresh, 'cli', 'main.js'), 0o755);
    const output = await filesIn(fresh);
    await rm(dist, { recursive: true, force: true });
    await rename(fresh, dist);
    await writeFile(stampFile, JSON.stringify({ source, output }));
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The compiler's own parser is there in development alone. */
async function declareFaces(folder) {
  const { declare } = await import('./declarations.mjs');
  await declare(folder, await faces());
}

const settings = {
  absWorkingDir: projectRoot,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.18',
  loader: { '.sql': 'text' },
};

/**
 * What a program may import of `sluice` without the rest: in chunks of its own, its bundler leaves out all
 * else.
 */
const apart = ['client/client'];
/** Imports what index.ts does: what both need is in chunks, so that index.js does nothing but import and export. */
const twin = 'twin';

/**
 * Writes what is imported. What several entry points need is in chunks of its own: each module exists once.
 *
 * @returns what each entry point exports
 */
async function bundleLibrary(bundle, folder) {
  const { version } = await readProjectJson('package.json');
  const { metafile } = await bundle({
    ...settings,
    entryPoints: { ...sourcesOf([...(await faces()), ...apart]), [twin]: twin },
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    packages: 'external',
    // Without the texts, for the package's size: stacks then name the files and lines of the sources.
    sourcemap: true,
    sourcesContent: false,
    plugins: [fixedVersion(version), fixedOpenapi(bundle, settings), indexTwin],
    metafile: true,
  });
  const unused = [twin, ...apart].flatMap((name) => [`${name}.js`, `${name}.js.map`]);
  await Promise.all(unused.map((file) => rm(join(folder, file))));
  const outputs = new Map(
    Object.entries(metafile.outputs).map(([path, { exports }]) => [
      join(projectRoot, path),
      exports,
    ]),
  );
  return new Map((await faces()).map((name) => [name, outputs.get(join(folder, `${name}.js`))]));
}

const indexTwin = {
  name: 'index-twin',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${twin}$`) }, () => ({ path: twin, namespace: twin }));
    build.onLoad({ filter: /./, namespace: twin }, () => ({
      contents: "export * from './src/index.ts';",
      resolveDir: projectRoot,
    }));
  },
};

/**
 * Writes the command, with the packages that it needs and with nothing of them and of the library that it
 * does not: to find and load their hundreds of files was most of its start. What is run first is a module;
 * it loads the rest as one script, whose compiled code it keeps, and what a command needs alone begins to
 * work when that is run. So the library's modules are in it a second time; nothing is shared with them.
 */
async function bundleCommand(bundle, folder) {
  const { bin, peerDependencies, version } = await readProjectJson('package.json');
  const plugins = [directImports(), fixedVersion(version), fixedOpenapi(bundle, settings)];
  await bundle({
    ...settings,
    entryPoints: sourcesOf(Object.values(bin).flatMap(builtName)),
    outdir: folder,
    plugins,
  });
  const { metafile, outputFiles } = await bundle({
    ...settings,
    splitting: false,
    format: 'cjs',
    entryPoints: [join('src', 'cli', 'run-command-line.ts')],
    outfile: join(folder, 'cli', 'command.cjs'),
    // Packages that not everybody installs, and one way into undici that few commands take.
    external: [...Object.keys(peerDependencies), 'undici/index.js'],
    define: { 'import.meta.url': 'scriptUrl' },
    // First of all, or the whole script is not strict. Zod compiles the check of an object at its first use, a
    // tenth of a short run, which pays after thousands.
    banner: {
      js: "'use strict';\nconst scriptUrl = require('node:url').pathToFileURL(__filename).href;\n(globalThis.__zod_globalConfig ??= {}).jitless = true;",
    },
    plugins: [...plugins, dataAsText(), lateHttp2(), lateOptimizing()],
    minifySyntax: true,
    minifyWhitespace: true,
    // A line is what is shown of the place of a defect.
    lineLimit: 200,
    legalComments: 'eof',
    metafile: true,
    write: false,
  });
  const [{ imports }] = Object.values(metafile.outputs);
  const late = imports.filter(({ kind }) => kind === 'dynamic-import').length;
  for (const { path, text } of outputFiles) {
    if (text.split('__zod_globalConfig').length < 3) throw new Error("zod's settings have moved");
    await writeFile(path, inAscii(withImporter(text, late)));
  }
  await writeFile(
    join(folder, 'cli', 'licences.txt'),
    await bundledLicences(Object.keys(metafile.inputs)),
  );
}

/** Has whoever runs the script import what it asks for late. */
function withImporter(text, expected) {
  let count = 0;
  const replaced = text.replaceAll(/\bimport\((?=\s*["'`])/g, () => {
    count += 1;
    return 'importModule(';
  });
  if (count === expected) return replaced;
  throw new Error(`${count} imports in the script, where the bundler has left ${expected}`);
}

/** The bundler escapes what is no ASCII in strings; the same does in expressions and comments. */
function inAscii(text) {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Writes what `require()` of an entry point loads: the same module. A Node that cannot says in its own
 * words to edit the package's files; these say what a program does instead.
 */
async function writeForRequire(folder) {
  for (const name of await faces()) {
    const entry = `sluice/${name.replace(/\/?index$/, '').replace(/^.*\//, '')}`.replace(/\/$/, '');
    const text = `'use strict';
try {
  module.exports = require('./${name.split('/').at(-1)}.js');
} catch (error) {
  if (error.code !== 'ERR_REQUIRE_ESM') throw error;
  const isJest = process.env.JEST_WORKER_ID !== undefined && process.env.VITEST === undefined;
  const message =
    'sluice is an ES module, and ' +
    (isJest ? 'Jest' : 'Node ' + process.versions.node) +
    " cannot require() one: write const sluice = await import('${entry}') in its place, " +
    (isJest ? 'and run Jest with NODE_OPTIONS=--experimental-vm-modules' : 'or use Node 20.19, 22.12 or newer');
  throw Object.assign(new Error(message), { code: error.code });
}
`;
    await writeFile(join(folder, `${name}.cjs`), text);
  }
}

/**
 * Declares what `require()` gives: what the ES module exports. CommonJS in TypeScript may not import the
 * module's own declarations, only types of them.
 */
async function declareForRequire(folder, exported) {
  for (const [name, values] of exported) {
    const from = `'./${name.split('/').at(-1)}.js' with { 'resolution-mode': 'import' }`;
    // Names of classes alone begin with a capital, and are types, too.
    const lines = values
      .toSorted()
      .flatMap((value) => [
        `export declare const ${value}: typeof module.${value};`,
        ...(/^[A-Z]/.test(value) ? [`export type ${value} = module.${value};`] : []),
      ]);
    const text = `import type * as module from ${from};
export type * from ${from};
${lines.join('\n')}
`;
    await writeFile(join(folder, `${name}.d.cts`), text);
  }
}

/** The source files of what is built, by its place in dist/. */
function sourcesOf(names) {
  return Object.fromEntries(names.map((name) => [name, join('src', `${name}.ts`)]));
}

/** What can be imported, by its place in dist/. */
async function faces() {
  const { exports: entries } = await readProjectJson('package.json');
  return Object.values(entries).flatMap((face) => builtName(face.default));
}

function builtName(file) {
  return /^(?:\.\/)?dist\/(.*)\.js$/.exec(file ?? '')?.[1] ?? [];
}

/** Builds only when dist/ is not what the present sources build to. */
export async function buildIfStale() {
  if (!(await isFresh())) await build();
}

async function isFresh() {
  try {
    const known = JSON.parse(await readFile(stampFile, 'utf8'));
    const output = await filesIn(dist);
    return known.source === (await sourceStamp()) && known.output.join() === output.join();
  } catch {
    return false;
  }
}

/** A digest of everything that decides what is built. */
async function sourceStamp() {
  const hash = createHash('sha256');
  const sources = (await filesIn(join(projectRoot, 'src'))).map((file) => join('src', file));
  for (const file of [...decisive, ...sources]) {
    hash.update(`${file}\0`).update(await readFile(join(projectRoot, file)));
  }
  return hash.digest('hex');
}

async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

/**
 * The licences of the packages that are in a bundle, as they ask for: with every copy.
 *
 * @param inputs the files that were bundled, from the project's root
 * @throws Error naming a package without a text to give along
 */
async function bundledLicences(inputs) {
  const folders = inputs.flatMap((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  const texts = [...new Set(folders)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map(async (folder) => {
      const { name, version } = JSON.parse(
        await readFile(join(projectRoot, folder, 'package.json')),
      );
      const names = await readdir(join(projectRoot, folder));
      const file = names.find((found) => /^licen[cs]e(?:\.|$)/i.test(found));
      if (file === undefined) throw new Error(`${name} has no licence to give along`);
      const text = await readFile(join(projectRoot, folder, file), 'utf8');
      return `${name} ${version}\n\n${text.trim()}\n`;
    });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}
