import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportingTo, usageIn, type Usage } from './usage.js';

export interface CommandRun extends Usage {
  readonly seconds: number;
}

/**
 * Runs a program, named from this folder or by its URL, and measures it from its start to its end.
 *
 * @param folder where it may leave what it measured
 * @throws Error when it fails, with what it printed
 */
export async function runCommand(
  module: string,
  args: readonly string[],
  { folder, environment = {} }: { folder: string; environment?: NodeJS.ProcessEnv },
): Promise<CommandRun> {
  const path = fileURLToPath(new URL(module, import.meta.url));
  const usageFile = join(folder, 'usage');
  const reporting = reportingTo(usageFile);
  const { SLUICE_BASE_URL: _url, SLUICE_API_KEY: _key, ...inherited } = process.env;
  const env = { ...inherited, ...environment, ...reporting.env };
  const startedMs = performance.now();
  const program = spawn(process.execPath, [...reporting.args, path, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  program.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    program.on('error', reject);
    program.on('close', resolve);
  });
  const seconds = (performance.now() - startedMs) / 1000;
  if (code !== 0) throw new Error(`${module} ended with ${String(code)}\n${printed}`);
  return { seconds, ...(await usageIn(usageFile)) };
}
