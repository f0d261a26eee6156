import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { onTestFinished, vi } from 'vitest';

// Processes start slowly on a machine that is busy; no test here waits for time to pass.
vi.setConfig({ testTimeout: 120_000 });

// Below the project, where the package's own name means what was built.
const cache = fileURLToPath(new URL('../../.cache/', import.meta.url));

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
  const folder = await mkdtemp(join(tmpdir(), 'sluice-script-'));
  await mkdir(cache, { recursive: true });
  const compiledFolder = await mkdtemp(join(cache, 'script-'));
  onTestFinished(async () => {
    for (const made of [folder, compiledFolder]) await rm(made, { recursive: true, force: true });
  });
  const compiled = join(compiledFolder, basename(script.pathname).replace(/\.ts$/, '.mjs'));
  await writeFile(compiled, transpile(await readFile(script, 'utf8')));

  const child = spawn(process.execPath, [compiled, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr, folder }));
  });
}

function transpile(source: string): string {
  return ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  }).outputText;
}
