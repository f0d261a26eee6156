import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { projectRoot } from './project.mjs';

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
 * Turns the TypeScript of some folders into JavaScript, tests left out, in a folder of this process's own under
 * `.cache`: the same program may be run twice at a time. Types are checked elsewhere: here they only go away.
 *
 * @returns the folder, in which paths are as from the project's root
 */
export function compileForNode(name, folders) {
  const cache = join(projectRoot, '.cache');
  mkdirSync(cache, { recursive: true });
  const built = mkdtempSync(join(cache, `${name}-`));
  process.on('exit', () => rmSync(built, { recursive: true, force: true }));
  buildSync({
    absWorkingDir: projectRoot,
    entryPoints: folders.flatMap((folder) =>
      readdirSync(join(projectRoot, folder), { recursive: true })
        .filter((file) => /(?<!\.d|\.test)\.ts$/.test(file))
        .map((file) => join(folder, file)),
    ),
    outbase: '.',
    outdir: built,
    format: 'esm',
    target: 'es2023',
    logLevel: 'warning',
  });
  for (const folder of folders) inlineTexts(folder, built);
  // The sources read their version there.
  copyFileSync(join(projectRoot, 'package.json'), join(built, 'package.json'));
  return built;
}

/** Makes modules of the data files that sources import as text: nothing is bundled here. */
function inlineTexts(folder, built) {
  for (const file of readdirSync(join(projectRoot, folder), { recursive: true })) {
    if (!/(?<!\.d|\.test)\.ts$|\.txt$/.test(file)) continue;
    if (file.endsWith('.txt')) {
      const text = readFileSync(join(projectRoot, folder, file), 'utf8');
      writeFileSync(join(built, folder, `${file}.js`), `export default ${JSON.stringify(text)};\n`);
      continue;
    }
    const module = join(built, folder, file.replace(/\.ts$/, '.js'));
    const code = readFileSync(module, 'utf8');
    const renamed = code.replaceAll(/(from "\.[^"]+\.txt)"/g, '$1.js"');
    if (renamed !== code) writeFileSync(module, renamed);
  }
}
