import { ConfigurationError } from '../../index.js';
import type { Command, OptionDefinition } from '../command.js';
import {
  bashCompletion,
  fishCompletion,
  lastWord,
  zshCompletion,
  type CompletedCommand,
  type CompletedOption,
} from './completion-scripts.js';
import { exitCodes } from '../process/exit-code.js';
import { commonOptions, onlyArgument } from '../options/parse-command-line.js';
import { print } from '../terminal/print.js';
import { guess } from '../../platform/text/closest-name.js';

const scripts = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Record<string, (commands: readonly CompletedCommand[]) => string>;

const shells = Object.keys(scripts) as readonly (keyof typeof scripts)[];

/** @param allCommands gives all commands, this one among them */
export function createCompletionCommand(allCommands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    usage: '<shell>',
    summary: 'Print a script that has bash, zsh or fish complete commands and options.',
    options: [],
    words: shells,
    examples: [
      'source <(sluice completion bash)',
      'sluice completion fish > ~/.config/fish/completions/sluice.fish',
    ],
    run: async ({ positionals, stdout }) => {
      const given = onlyArgument(positionals, `name your shell: ${shells.join(', ')}`);
      const shell = shells.find((known) => known === given);
      if (shell === undefined) {
        throw new ConfigurationError(
          `there is completion for ${shells.join(', ')}, not for ${JSON.stringify(given)}${guess(given, shells)}`,
        );
      }
      await print(scripts[shell](completedCommands(allCommands())), stdout);
      return exitCodes.done;
    },
  };
}

/** The commands as shells complete them: those of two words are after the one they begin with. */
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
