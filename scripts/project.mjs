import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from 'node:child_process';

export const projectRoot = fileURLToPath(new URL('..', import.meta.url));

/** Reads a JSON file of the project, named from its root. */
export async function readProjectJson(file) {
  return JSON.parse(await readFile(join(projectRoot, file), 'utf8'));
}

/** The entry points of the package: the name that is imported, and the module that it is. */
export async function readEntries() {
  const { exports: entries } = await readProjectJson('package.json');
  return Object.entries(entries).flatMap(([path, { types }]) => {
    const module = /^\.\/dist\/(.*)\.d\.ts$/.exec(types ?? '')?.[1];
    return module === undefined
      ? []
      : [{ entry: `sluice${path.slice(1)}`, module: `src/${module}.ts` }];
  });
}

/** The modules under a folder, in the order of their names. */
export async function sourceFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

/**
 * Runs a program to its end, without standard input, and returns its exit code and what it printed.
 * An end by a signal counts as exit code 1: nobody may take it for success. With `timeoutMs`, a program
 * that takes longer is killed with all that it has started.
 */
export function runTool(command, args, { cwd = projectRoot, env = process.env, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const isBounded = timeoutMs !== undefined;
    const stdio = ['ignore', 'pipe', 'pipe'];
    // With a process group of its own, all of it can be killed.
    const child = spawn(command, args, { cwd, env, stdio, detached: isBounded });
    const kill = () => process.kill(-child.pid, 'SIGKILL');
    const timer = isBounded && setTimeout(kill, timeoutMs);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, stdout, stderr, signal });
    });
  });
}

/** Like {@link runTool}, for steps that nothing can follow: a failure throws what was printed. */
export async function mustRun(command, args, options) {
  const result = await runTool(command, args, options);
  if (result.code !== 0) {
    const line = [command, ...args].join(' ');
    throw new Error(`${line}\nended with ${result.code}\n${result.stdout}${result.stderr}`);
  }
  return result;
}

/** Runs a script's main function; what it throws is printed and makes the script fail. */
export async function runScript(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
