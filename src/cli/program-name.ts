import { basename, delimiter, dirname, join, resolve } from 'node:path';

/**
 * What a person types to run this program again, from where it was started: every printed command begins
 * with it. A project's own copy is no command of the shell; `npx` finds it.
 *
 * @param environment of the process: whether its PATH is the person's own, or one that npm made
 * @param script the program, as it was called
 */
export function programName(
  environment: NodeJS.ProcessEnv = process.env,
  script: string = process.argv[1] ?? '',
): string {
  const folder = dirname(resolve(script));
  const isOfProject =
    basename(script) === 'sluice' && folder.endsWith(join('node_modules', '.bin'));
  if (!isOfProject) return 'sluice';
  // npm puts the folder into the PATH of what it runs, and the person's shell has not got it.
  const isFound =
    environment['npm_lifecycle_event'] === undefined &&
    (environment['PATH'] ?? '').split(delimiter).some((each) => resolve(each) === folder);
  return isFound ? 'sluice' : 'npx --no-install sluice';
}
