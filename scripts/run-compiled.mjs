import { spawnSync } from 'node:child_process';
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
import { join } from 'node:path';
import { buildSync, version } from 'esbuild';
import { projectRoot } from './project.mjs';

const compiled = join(projectRoot, '.cache', 'compiled');
const maxAgeMs = 86_400_000;

/**
 * Compiles some folders and runs a module of theirs with the arguments of this process, whose exit code
 * it decides.
 *
 * @param module path from the project's root, as JavaScript
 */
export function runCompiled(name, folders, module) {
  const built = compileForNode(name, folders);
  const { status } = spawnSync(process.execPath, [join(built, module), ...process.argv.slice(2)], {
    cwd: projectRoot,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
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
