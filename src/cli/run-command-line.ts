import { version } from '../index.js';
import type { Surroundings } from './command.js';
import { describeError } from './describe-error.js';
import { exitCodeOf, exitCodes } from './exit-code.js';
import { print, sayLines } from './print.js';

/**
 * Runs what a command line says, and says on standard error why it failed.
 *
 * @returns the exit code
 */
export async function runCommandLine(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  return endWith(async () => {
    if (args[0] === '--version' || args[0] === '-V') {
      await print(`${version}\n`);
      return exitCodes.done;
    }
    // With all that they need: whoever asks for the version does not wait for it.
    const { runCommand } = await import('./run-command.js');
    return runCommand(args, surroundings);
  });
}

/** What work ends with; a failure is said on standard error. */
export async function endWith(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    sayLines(`${describeError(error)}\n`);
    return exitCodeOf(error);
  }
}
