import { collectAsUsual } from './gc-tuning.js';
import type { Surroundings } from './command.js';
import { commands } from './commands.js';
import { endWith, start, asksVersion, printVersion } from './start.js';
import { nameOptionsBy } from '../platform/text/option-name.js';
import { flagNaming } from './options/flag-names.js';
import { runCommand } from './run-command.js';

/** What the built command loads. */
export interface CommandLine {
  readonly startCommandLine: typeof startCommandLine;
}

/** Runs the command line of this process, and ends it. @param keepCode keeps what was compiled for the next one */
export async function startCommandLine(keepCode?: () => void): Promise<never> {
  return start(async (surroundings) =>
    runCommandLine({
      ...surroundings,
      keepCode() {
        collectAsUsual();
        keepCode?.();
      },
    }),
  );
}

/**
 * Runs what a command line says, and says on standard error why it failed.
 *
 * @returns the exit code
 */
export async function runCommandLine(surroundings: Surroundings): Promise<number> {
  const { argv, stdout, stderr } = surroundings;
  const args = argv.slice(2);
  // For as long as the process lives: its last acts say something, too.
  nameOptionsBy(flagNaming(commands));
  return endWith(
    async () => (asksVersion(args) ? printVersion(stdout) : runCommand(args, surroundings)),
    stderr,
    // Also what is said before the options are understood.
    args.includes('--json-log') ? surroundings.clock : undefined,
  );
}
