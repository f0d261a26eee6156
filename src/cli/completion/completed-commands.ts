import type { Command, OptionDefinition } from '../command.js';
import { commonOptions } from '../options/parse-command-line.js';

/** What shells have to know of a command. */
export interface CompletedCommand {
  /** One word, or two. */
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  readonly words: readonly string[];
  /** Whether files are of use as its arguments. */
  readonly takesFiles: boolean;
}

export interface CompletedOption {
  readonly name: string;
  readonly short: string | undefined;
  readonly help: string;
  readonly isRepeatable: boolean;
  /** What follows it: nothing, one of some words, a file, or whatever it is. */
  readonly value:
    | { readonly kind: 'none' | 'file' | 'text' }
    | { readonly kind: 'words'; readonly words: readonly string[] };
}

/** The commands as shells complete them: those of two words stand behind the one they begin with. */
export function completedCommands(commands: readonly Command[]): readonly CompletedCommand[] {
  return commands.flatMap((command) => [
    completedCommand(command),
    ...completedCommands(command.subcommands ?? []),
  ]);
}

function completedCommand(command: Command): CompletedCommand {
  const { name, summary, usage, options, subcommands = [], words = [] } = command;
  return {
    name,
    summary,
    options: [...options, ...commonOptions].map(completedOption),
    words: [...words, ...subcommands.map((subcommand) => lastWord(subcommand.name))],
    takesFiles: /<(?:input|file|state)/.test(usage),
  };
}

function completedOption(option: OptionDefinition): CompletedOption {
  const { name, short, type, help, isRepeatable = false } = option;
  const kind = !type ? 'none' : type.isPath === true ? 'file' : 'text';
  return {
    name,
    short,
    help,
    isRepeatable,
    value: type?.words ? { kind: 'words', words: type.words } : { kind },
  };
}

function lastWord(name: string): string {
  return name.slice(name.lastIndexOf(' ') + 1);
}

/** The commands that are one word. */
export function firstWords(commands: readonly CompletedCommand[]): readonly CompletedCommand[] {
  return commands.filter(({ name }) => !name.includes(' '));
}

/** A text as the shells of this kind quote it: nothing in it is theirs. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
