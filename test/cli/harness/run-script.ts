import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { onTestFinished } from 'vitest';
import { withFolder } from '../../service/with-service.js';

// Below the project, where the package's own name means what was built.
const cache = fileURLToPath(new URL('../../../.cache/', import.meta.url));

export interface ScriptEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Folder that the script ran in; it is removed after the test. */
  readonly folder: string;
}

/** Runs a script in TypeScript as a process of its own, in an empty folder, until it ends by itself. */
export async function runScript(script: URL, args: readonly string[] = []): Promise<ScriptEnd> {
  const folder = await withFolder();
  return (await startScript(script, args, { folder })).ended;
}

/** Starts one in a folder of the test's own; it does not outlive the test. */
export async function startScript(
  script: URL,
  args: readonly string[],
  {
    folder,
    env = {},
  }: { readonly folder: string; readonly env?: Readonly<Record<string, string>> },
): Promise<{ readonly child: ChildProcess; readonly ended: Promise<ScriptEnd> }> {
  await mkdir(cache, { recursive: true });
  const compiledFolder = await mkdtemp(join(cache, 'script-'));
  onTestFinished(() => rm(compiledFolder, { recursive: true, force: true }));
  const compiled = join(compiledFolder, basename(script.pathname).replace(/\.ts$/, '.mjs'));
  const { code } = transformSync(await readFile(script, 'utf8'), {
    loader: 'ts',
    target: 'node20',
  });
  await writeFile(compiled, code);

  const child = spawn(process.execPath, [compiled, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<ScriptEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr, folder }));
  });
  return { child, ended };
}
