import { ConfigurationError } from '../index.js';
import { guess } from './closest-name.js';
import type { Command } from './command.js';

/**
 * Finds the command that a line begins with, of one word or two.
 *
 * @returns `undefined` when its first word is none
 * @throws ConfigurationError when its second word is none
 */
export function findCommand(
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
