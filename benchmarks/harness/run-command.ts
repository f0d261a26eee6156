import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const reportPeak = new URL('../report-peak.js', import.meta.url).href;

export interface CommandRun {
  readonly seconds: number;
  readonly peakBytes: number;
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
  const peakFile = join(folder, 'peak');
  const { SLUICE_BASE_URL: _url, SLUICE_API_KEY: _key, ...inherited } = process.env;
  const env = { ...inherited, ...environment, SLUICE_BENCHMARK_PEAK: peakFile };
  const startedMs = performance.now();
  const program = spawn(process.execPath, ['--import', reportPeak, path, ...args], {
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
  return { seconds, peakBytes: Number(await readFile(peakFile, 'utf8')) };
}
