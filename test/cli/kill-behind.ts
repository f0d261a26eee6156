import { runSluice, type Ended, type SluiceOptions } from './run-sluice.js';

const killAtWrite = new URL('../kill/kill-at-write.mjs', import.meta.url).href;

/** Runs the command, which is killed right after so many writes of its journal, if it gets there. */
export async function killBehind(
  args: readonly string[],
  writes: number,
  options: SluiceOptions,
): Promise<Ended> {
  const env = { NODE_OPTIONS: `--import ${killAtWrite}`, KILL_AT: String(writes) };
  return runSluice(args, { ...options, env: { ...options.env, ...env } });
}
