import { version, ConfigurationError } from '../index.js';
import type { Surroundings, Command } from './command.js';
import { describeError } from './describe-error.js';
import { loadEnvFile } from './env-file.js';
import { guess } from './closest-name.js';
import { exitCodeOf, exitCodes } from './exit-code.js';
import { commandHelp, programHelp } from './help.js';
import { parseCommandLine } from './parse-command-line.js';
import { print, sayLines } from './print.js';
import { printableLine } from '../words/printable.js';

/**
 * Runs what a command line says, and says on standard error why it failed.
 *
 * @returns the exit code
 */
export async function runCommandLine(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  return endWith(async () => dispatch(args, surroundings));
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

async function dispatch(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const [name] = args;
  if (name === '--version' || name === '-V') {
    await print(`${version}\n`);
    return exitCodes.done;
  }
  // With all that they need: whoever only asks for the version does not wait for it.
  const { commands } = await import('./commands.js');
  const isHelp = name === 'help';
  if (name === '--help' || name === '-h' || (isHelp && args.length === 1)) {
    await print(programHelp(commands, version));
    return exitCodes.done;
  }
  const found = findCommand(commands, isHelp ? args.slice(1) : args);
  if (!found) {
    sayLines(troubleWith(commands, isHelp ? args[1] : name) + programHelp(commands, version));
    return exitCodes.usage;
  }
  const { command, rest } = found;
  const { positionals, options } = parseCommandLine(command, rest);
  if (isHelp || options.has('help') || options.has('help-all')) {
    await print(commandHelp(command, options.has('help-all')));
    return exitCodes.done;
  }
  await loadEnvFile(options, surroundings.environment);
  return command.run({ positionals, options, ...surroundings });
}

function troubleWith(commands: readonly Command[], name: string | undefined): string {
  if (name === undefined) return '';
  const names = commands.map((command) => command.name);
  return `sluice: there is no command ${printableLine(name)}${guess(name, names)}\n\n`;
}

/**
 * Finds the command that a line begins with, of one word or two.
 *
 * @returns `undefined` when its first word is none
 * @throws ConfigurationError when its second word is none
 */
function findCommand(
  commands: readonly Command[],
  [name, ...rest]: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } | undefined {
  const command = commands.find((known) => known.name === name);
  const [second] = rest;
  if (!command?.subcommands || second === undefined || second.startsWith('-')) {
    return command && { command, rest };
  }
  const { subcommands } = command;
  const subcommand = subcommands.find((known) => known.name === `${command.name} ${second}`);
  if (subcommand) return { command: subcommand, rest: rest.slice(1) };
  const names = subcommands.map((known) => known.name.slice(command.name.length + 1));
  throw new ConfigurationError(
    `there is no sluice ${command.name} ${second}${guess(second, names) || `; there is ${names.join(', ')}`}`,
  );
}
