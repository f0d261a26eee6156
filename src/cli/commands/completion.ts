import { ConfigurationError } from '../../index.js';
import { guess } from '../help/closest-name.js';
import type { Command } from '../command.js';
import { bashCompletion } from '../completion/bash-completion.js';
import { completedCommands, type CompletedCommand } from '../completion/completed-commands.js';
import { fishCompletion } from '../completion/fish-completion.js';
import { zshCompletion } from '../completion/zsh-completion.js';
import { exitCodes } from '../exit-code.js';
import { onlyArgument } from '../options/positionals.js';
import { print } from '../terminal/print.js';

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
