import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from './project.mjs';
import { mustRun } from './run-tool.mjs';

const dist = join(projectRoot, 'dist');
const cache = join(projectRoot, '.cache');
const stampFile = join(cache, 'build.json');
const compiler = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc');

/**
 * Compiles src/ and puts the outcome in the place of dist/. The compiler writes beside it first:
 * nothing of a removed module stays, and two builds at once do not mix their files.
 */
export async function build() {
  const source = await sourceStamp();
  const fresh = join(cache, `dist-${process.pid}`);
  await mkdir(cache, { recursive: true });
  try {
    await mustRun(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', fresh]);
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

/** Compiles only when dist/ is not what the present sources compile to. */
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

/** A digest of everything that decides what the compiler emits. */
async function sourceStamp() {
  const hash = createHash('sha256');
  const sources = (await filesIn(join(projectRoot, 'src'))).map((file) => join('src', file));
  for (const file of ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', ...sources]) {
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
