import { version, ConfigurationError } from '../index.js';
import { guess } from './closest-name.js';
import type { Command, Surroundings } from './command.js';
import { commands } from './commands.js';
import { loadEnvFile } from './env-file.js';
import { exitCodes } from './exit-code.js';
import { commandHelp, programHelp } from './help.js';
import { parseCommandLine } from './parse-command-line.js';
import { print, sayLines } from './print.js';
import { printableLine } from '../words/printable.js';

/**
 * Finds the command that a line begins with, and runs it, or shows help.
 *
 * @returns the exit code
 * @throws what stopped the command
 */
export async function runCommand(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const [name] = args;
  const isHelp = name === 'help';
  if (name === '--help' || name === '-h' || (isHelp && args.length === 1)) {
    await print(programHelp(commands, version));
    return exitCodes.done;
  }
  const found = findCommand(isHelp ? args.slice(1) : args);
  if (!found) {
    sayLines(troubleWith(isHelp ? args[1] : name) + programHelp(commands, version));
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

function troubleWith(name: string | undefined): string {
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
function findCommand([name, ...rest]: readonly string[]):
  { readonly command: Command; readonly rest: readonly string[] } | undefined {
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
