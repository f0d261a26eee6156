import { basename, delimiter, dirname, join, resolve } from 'node:path';
import type { Surroundings } from './command.js';

/** What tells how the program was called. */
export type Called = Pick<Surroundings, 'argv' | 'env' | 'cwd'>;

/**
 * What a person types to run this program again, from where it was started: every printed command begins
 * with it. A project's own copy is no command of the shell; `npx` finds it.
 */
export function programName({ argv, env, cwd }: Called): string {
  const [, script = ''] = argv;
  const folder = dirname(resolve(cwd, script));
  const isOfProject =
    basename(script) === 'sluice' && folder.endsWith(join('node_modules', '.bin'));
  if (!isOfProject) return 'sluice';
  // npm puts the folder into the PATH of what it runs, and the person's shell has not got it.
  const isFound =
    env['npm_lifecycle_event'] === undefined &&
    (env['PATH'] ?? '').split(delimiter).some((each) => resolve(cwd, each) === folder);
  return isFound ? 'sluice' : 'npx --no-install sluice';
}
