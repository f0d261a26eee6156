// `npm run executable`: the command as one file, which needs no Node and no npm: a Node with the bundled
// command in it. It is for the machine on which it is made; `.cache/executable/sluice` unless a path is
// given.
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { cachedPackage, nodeBinary } from './package/installed-packages.mjs';
import { projectRoot, readProjectJson, mustRun, runScript } from './project.mjs';

const nodeVersion = '22.23.3';
const injector = 'postject@1.0.0-alpha.6';
/** Where the injector finds what to switch on, by Node's documentation. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

await runScript(async () => {
  const work = join(projectRoot, '.cache', 'executable');
  const name = process.platform === 'win32' ? 'sluice.exe' : 'sluice';
  const output = resolve(process.argv[2] ?? join(work, name));
  await mkdir(work, { recursive: true });
  await mkdir(dirname(output), { recursive: true });
  const [main, blob, config] = ['sluice.cjs', 'sluice.blob', 'sea.json'].map((n) => join(work, n));
  await bundle(main);
  await writeFile(
    config,
    JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true }),
  );
  const node = await nodeBinary(nodeVersion);
  await mustRun(node, ['--experimental-sea-config', config]);
  await rm(output, { force: true });
  await copyFile(node, output);
  await chmod(output, 0o755);
  const isMac = process.platform === 'darwin';
  if (isMac) await mustRun('codesign', ['--remove-signature', output]);
  const home = await cachedPackage('postject', injector);
  const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : [];
  const args = [output, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse, ...segment];
  await mustRun(process.execPath, [join(home, 'dist', 'cli.js'), ...args]);
  if (isMac) await mustRun('codesign', ['--sign', '-', output]);
  console.log(output);
});

/** Writes the command and all that it brings along as one script, of the form that Node can embed. */
async function bundle(outfile) {
  const { peerDependencies, version } = await readProjectJson('package.json');
  await esbuild.build({
    absWorkingDir: projectRoot,
    stdin: {
      contents:
        "import { startCommandLine } from './src/cli/run-command-line.ts'; void startCommandLine();",
      resolveDir: projectRoot,
    },
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    loader: { '.sql': 'text' },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'eof',
    define: { 'import.meta.url': 'executableUrl' },
    banner: {
      js: "const executableUrl = require('node:url').pathToFileURL(process.execPath).href;",
    },
    plugins: [
      besideExecutable(Object.keys(peerDependencies)),
      embeddedFiles({ 'sluice/package.json': { name: 'sluice', version, peerDependencies } }),
    ],
  });
}

/** Packages that only some need are not embedded: they may be installed beside the executable. */
function besideExecutable(names) {
  return {
    name: 'beside-executable',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
        names.includes(path) ? { path, namespace: 'beside' } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: 'beside' }, ({ path }) => ({
        contents: `module.exports = require('node:module').createRequire(executableUrl)(${JSON.stringify(path)});`,
      }));
    },
  };
}

/** Files that the sources load while they run, by createRequire(), are in the executable. */
function embeddedFiles(manifests) {
  return {
    name: 'embedded-files',
    setup(build) {
      build.onResolve({ filter: /^node:module$/ }, ({ importer }) =>
        importer.startsWith(join(projectRoot, 'src'))
          ? { path: 'module', namespace: 'embedded' }
          : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: 'embedded' }, () => ({
        contents: `
          const embedded = new Map(Object.entries(${JSON.stringify(manifests)}));
          export function createRequire(from) {
            const outside = require('node:module').createRequire(from);
            const load = (name) => embedded.get(name) ?? outside(name);
            return Object.assign(load, { resolve: outside.resolve });
          }`,
        resolveDir: projectRoot,
      }));
    },
  };
}
