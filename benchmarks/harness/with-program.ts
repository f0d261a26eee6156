import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { reportingTo } from './usage.js';

/**
 * Runs a program, named from this folder or by its URL, beside some work, and ends it behind it. `work`
 * is given its first line.
 *
 * @param options.usageFile where it leaves what it used
 */
export async function withProgram<T>(
  module: string,
  args: readonly string[],
  work: (firstLine: string) => Promise<T>,
  options: { environment?: NodeJS.ProcessEnv; usageFile?: string | undefined } = {},
): Promise<T> {
  const { environment = process.env, usageFile } = options;
  const reporting = usageFile === undefined ? undefined : reportingTo(usageFile);
  const path = fileURLToPath(new URL(module, import.meta.url));
  const program = spawn(process.execPath, [...(reporting?.args ?? []), path, ...args], {
    env: { ...environment, ...reporting?.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(program, 'close');
  try {
    const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done === true) throw new Error(`${module} said nothing`);
    return await work(first.value);
  } finally {
    program.kill();
    await ended;
  }
}
