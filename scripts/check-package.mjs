// `npm run check:package`: the packed tarball is what users get, so it is installed and used as they do.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { compiler } from './build/build-tools.mjs';
import {
  folderBytes,
  installedPackages,
  licenceViolations,
} from './package/installed-packages.mjs';
import { runMainJob, withInstalledPackage } from './package/packed-package.mjs';
import {
  projectRoot,
  readEntries,
  readProjectJson,
  mustRun,
  runScript,
  runTool,
} from './project.mjs';

/** What the core may bring along. */
const limits = { packages: 8, bytes: 30_000_000, tarball: 3_000_000 };

/** Bundles that import only this: where from, where they run, what they leave out, and most bytes, minified. */
const bundleLimits = [
  { name: 'isSluiceError', entry: 'sluice/errors', platform: 'browser', most: 2_000 },
  { name: 'countryCodes', entry: 'sluice/contract', platform: 'browser', most: 120_000 },
  { name: 'Client', entry: 'sluice', platform: 'node', most: 500_000 },
  { name: 'Client', entry: 'sluice', platform: 'node', external: ['undici'], most: 200_000 },
];

/** Most types that a compiler makes from generic ones for a small program. */
const mostInstantiations = 10_000;

/** What the declarations need of optional packages. */
const optionalTypes = `
declare module '@aws-sdk/client-s3' { export type S3Client = unknown; }
declare module '@opentelemetry/api' {
  export type TracerProvider = unknown;
  export type MeterProvider = unknown;
}
`;

await runScript(() =>
  withInstalledPackage(async (folder, tarball) => {
    const bin = (name) => join(projectRoot, 'node_modules', '.bin', name);
    await mustRun(bin('publint'), ['run', tarball, '--strict']);
    await mustRun(bin('attw'), [tarball, '--profile', 'node16', '--no-emoji']);
    console.log(await checkFootprint(folder, tarball));
    console.log(await checkMaps(join(folder, 'node_modules', 'sluice')));
    await checkImports(folder);
    await checkTypes(folder);
    console.log(await checkTypeCost(folder));
    await checkVersion(folder);
    await checkBundle(folder);
    console.log(await checkBundleSizes(folder));
    console.log(`the main job: ${await runMainJob(folder)} rows`);
  }),
);

async function checkFootprint(folder, tarball) {
  const nodeModules = join(folder, 'node_modules');
  const packages = await installedPackages(nodeModules);
  const brought = packages.filter(({ name }) => name !== 'sluice');
  const bytes = await folderBytes(nodeModules);
  const packed = (await stat(tarball)).size;
  const own = await folderBytes(join(nodeModules, 'sluice'));
  const sizes = `${megabytes(packed)} packed, ${megabytes(own)} unpacked`;
  const summary = `sluice (${sizes}) and ${brought.length} packages, ${megabytes(bytes)} in all`;
  if (brought.length > limits.packages || bytes > limits.bytes || packed > limits.tarball) {
    throw new Error(`too much to install: ${summary}`);
  }
  const violations = licenceViolations(packages);
  if (violations.length > 0) throw new Error(`licences to look at:\n${violations.join('\n')}`);
  const scripted = brought.filter(({ manifest }) => runsOnInstall(manifest));
  if (scripted.length > 0) {
    throw new Error(`scripts run on install: ${scripted.map(({ name }) => name).join(', ')}`);
  }
  return summary;
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** An editor goes from each declaration to its source, and a stack names the same files. */
async function checkMaps(home) {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const files = new Set(
    entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name)),
  );
  const named = new Set();
  for (const file of files) {
    if (!/\.(?:d\.ts|js\.map)$/.test(file)) continue;
    const map = file.endsWith('.map') ? file : `${file}.map`;
    const { sources } = JSON.parse(await readFile(map, 'utf8'));
    const paths = sources.map((source) => resolve(dirname(map), source));
    for (const path of paths) if (files.has(path)) named.add(path);
    const isWhole = file === map || (paths.length === 1 && files.has(paths[0]));
    const isOdd = paths.some((path) => !path.startsWith(join(home, 'dist', 'src')));
    if (!isWhole || isOdd) throw new Error(`${map} names sources that are not in the package`);
  }
  return `maps to ${named.size} sources`;
}

function runsOnInstall({ scripts = {} }) {
  return ['preinstall', 'install', 'postinstall'].some((name) => name in scripts);
}

/** The entry points load, without the optional packages, and nothing behind them can be reached. */
async function checkImports(folder) {
  const names = (await readEntries()).map(({ entry }) => entry);
  const script = join(folder, 'imports.mjs');
  await writeFile(
    script,
    `for (const name of ${JSON.stringify(names)}) {
  const face = await import(name);
  if ('default' in face || Object.keys(face).length === 0) throw new Error(name + ' exports nothing');
}
const inside = await import('sluice/dist/index.js').catch((error) => error.code);
if (inside !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw new Error('dist/ can be imported');
`,
  );
  const { stderr } = await mustRun(process.execPath, [script], { cwd: folder });
  if (stderr !== '') throw new Error(`an import prints: ${stderr}`);
}

/** The declarations compile as they are, with no setting that skips them; what is optional is not installed. */
async function checkTypes(folder) {
  const names = (await readEntries()).map(({ entry }) => entry);
  const imports = names.map((name, index) => `import type * as face${index} from '${name}';`);
  const faces = names.map((_, index) => `face${index}`).join(', ');
  await writeFile(join(folder, 'types.mts'), `${imports.join('\n')}\nexport type { ${faces} };\n`);
  await writeFile(join(folder, 'types.cts'), required(names));
  await writeFile(join(folder, 'optional.d.ts'), optionalTypes);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'es2022',
    // In which CommonJS may require no ES module.
    module: 'node16',
    types: ['node'],
    typeRoots: [join(projectRoot, 'node_modules', '@types')],
  };
  const config = { compilerOptions, files: ['types.mts', 'types.cts', 'optional.d.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await mustRun(process.execPath, [compiler, '-p', folder]);
}

/** Types that are inferred where they could be written out make every program slow to compile: 90,000 for `Summary` alone. */
async function checkTypeCost(folder) {
  const program = `
import { Client, run, verifyAddress, verifyRows } from 'sluice';
const client = new Client({ baseUrl: '', apiKey: '' });
const { rows, email } = await run({ source: 'a.csv', sink: 'b.csv', client, email: ['email'], country: 'US' });
console.log(rows, email?.buckets, (await client.credits()).email_credit);
const options = { client, email: ['email'], country: 'US' } as const;
for await (const row of verifyRows([{ email: '' }], options)) console.log(row.email_valid);
console.log((await verifyAddress({ client, email: '', country: 'US' })).record?.valid);
`;
  await writeFile(join(folder, 'cost.mts'), program);
  const settings = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022'];
  const types = ['--types', 'node', '--typeRoots', join(projectRoot, 'node_modules', '@types')];
  const modules = ['--module', 'node16', '--ignoreConfig', '--extendedDiagnostics'];
  const options = [...settings, ...types, ...modules, 'cost.mts'];
  const { stdout } = await mustRun(process.execPath, [compiler, ...options], { cwd: folder });
  const made = Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1]);
  if (!(made <= mostInstantiations)) throw new Error(`a program instantiates ${made} types`);
  return `a program instantiates ${made} types`;
}

/** A program in CommonJS: it has values, their types, and classes that are both. */
function required(names) {
  const imports = names.map((name, index) => `import face${index} = require('${name}');`);
  return `${imports.join('\n')}
import { Client, type RunOptions, run, SluiceError, type Summary } from 'sluice';
export const faces = [${names.map((_, index) => `face${index}`).join(', ')}];
export async function start(options: RunOptions): Promise<Summary | string> {
  const client: Client = new Client({ baseUrl: '', apiKey: '' });
  try {
    return await run(options);
  } catch (error) {
    if (error instanceof SluiceError) return error.code;
    throw error;
  } finally {
    await client.close();
  }
}
`;
}

/** Bundlers take the library as it is, without a warning, and what they make of it runs. */
async function checkBundle(folder) {
  const source = join(folder, 'bundled.ts');
  const names = (await readEntries()).map(({ entry }) => entry);
  const imports = names.map((name, index) => `import * as face${index} from '${name}';`);
  await writeFile(
    source,
    `${imports.join('\n')}
const { createService } = face${names.indexOf('sluice/service')};
const { Client } = face${names.indexOf('sluice')};
const service = await createService();
const { baseUrl, apiKey } = service;
const client = new Client({ baseUrl, apiKey });
console.log(typeof (await client.credits()).email_credit, ${names.map((_, index) => `face${index}`).join(', ')});
await client.close();
await service.close();
`,
  );
  const outfile = join(folder, 'bundled.mjs');
  // Packages in CommonJS, such as undici, ask for require().
  const banner =
    "import { createRequire as from } from 'node:module'; const require = from(import.meta.url);";
  const { warnings } = await esbuild.build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: banner },
    logLevel: 'silent',
  });
  if (warnings.length > 0) throw new Error(`a bundle warns: ${JSON.stringify(warnings)}`);
  const { stdout } = await mustRun(process.execPath, [outfile], { cwd: folder });
  if (!stdout.startsWith('number')) throw new Error(`a bundle printed ${stdout.slice(0, 200)}`);
}

/** A bundler leaves out what a program does not import. */
async function checkBundleSizes(folder) {
  const sizes = [];
  for (const { name, entry, platform, external = [], most } of bundleLimits) {
    const { metafile } = await esbuild.build({
      stdin: { contents: `export { ${name} } from '${entry}';`, resolveDir: folder },
      bundle: true,
      minify: true,
      platform,
      external,
      format: 'esm',
      metafile: true,
      write: false,
      outdir: folder,
      logLevel: 'silent',
    });
    const [{ bytes }] = Object.values(metafile.outputs);
    const without = external.map((left) => ` without ${left}`).join('');
    sizes.push(`${name}${without} ${(bytes / 1000).toFixed(1)} kB`);
    if (bytes > most) throw new Error(`a bundle of ${name} has ${bytes} bytes, more than ${most}`);
  }
  return `bundles: ${sizes.join(', ')}`;
}

async function checkVersion(folder) {
  const { version } = await readProjectJson('package.json');
  const { code, stdout } = await runTool('npx', ['--no-install', 'sluice', '--version'], {
    cwd: folder,
  });
  if (code !== 0 || stdout.trim() !== version) {
    throw new Error(`sluice --version printed ${JSON.stringify(stdout)} and ended with ${code}`);
  }
}
