import { ConfigurationError } from '../../index.js';
import { guess } from '../../platform/text/closest-name.js';
import type { Command, OptionDefinition } from '../command.js';
import { commonOptions, onlyArgument } from '../options/parse-command-line.js';
import { exitCodes } from '../process/exit-code.js';
import { print } from '../terminal/print.js';

const scripts = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Record<string, (commands: readonly CompletedCommand[]) => string>;

const shells = Object.keys(scripts) as readonly (keyof typeof scripts)[];

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
          `completion is for ${shells.join(', ')}, not for ${JSON.stringify(given)}${guess(given, shells)}`,
          { fault: 'unsupported' },
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
    options: [...options, ...commonOptions],
    words: [...words, ...subcommands.map((subcommand) => lastWord(subcommand.name))],
    takesFiles: /<(?:input|file|state)/.test(usage),
  };
}

interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionDefinition[];
  readonly words: readonly string[];
  readonly takesFiles: boolean;
}

/** The completion script for bash, 3.2 included. */
function bashCompletion(commands: readonly CompletedCommand[]): string {
  const groups = groupsAmong(commands);
  return `# Completion of sluice for bash: source <(sluice completion bash)
_sluice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local command='' words='' line
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then command="\${COMP_WORDS[1]}"; fi
  if ((COMP_CWORD > 2)); then
    case "$command" in
      ${groups.map(({ name }) => quoted(name)).join('|') || "''"}) command="$command \${COMP_WORDS[2]}" ;;
    esac
  fi
  case "$command $before" in
${commands.flatMap(bashValueCases).join('\n')}
  esac
  case "$command" in
    '') words=${quoted([...firstWords(commands).map(({ name }) => name), '--help', '--version'].join(' '))} ;;
${commands.map(bashCase).join('\n')}
  esac
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -W "$words" -- "$current")
}
_sluice_files() {
  local line
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$1")
}
complete -F _sluice sluice
`;
}

function bashValueCases(command: CompletedCommand): readonly string[] {
  return command.options.flatMap((option) => {
    const action = bashValueAction(option);
    if (action === undefined) return [];
    const names = [`--${option.name}`, ...(option.short === undefined ? [] : [`-${option.short}`])];
    const patterns = names.map((name) => quoted(`${command.name} ${name}`)).join('|');
    return [`    ${patterns}) ${action} ;;`];
  });
}

function bashValueAction({ type }: OptionDefinition): string | undefined {
  if (!type) return undefined;
  if (type.words) {
    return `COMPREPLY=($(compgen -W ${quoted(type.words.join(' '))} -- "$current")); return`;
  }
  return type.isPath === true ? '_sluice_files "$current"; return' : 'return';
}

function bashCase(command: CompletedCommand): string {
  const options = command.options.map(({ name }) => `--${name}`);
  const files = command.takesFiles
    ? ' if [[ "$current" != -* ]]; then _sluice_files "$current"; fi;'
    : '';
  return `    ${quoted(command.name)})${files} words=${quoted([...command.words, ...options].join(' '))} ;;`;
}

/** The completion script for zsh: to be sourced, or a file `_sluice` in its `fpath`. */
function zshCompletion(commands: readonly CompletedCommand[]): string {
  const groups = groupsAmong(commands);
  return `#compdef sluice
# Completion of sluice for zsh: source <(sluice completion zsh)
_sluice() {
  local -a sluice_commands
  local command
  if ((CURRENT == 2)); then
    sluice_commands=(${zshDescribed(firstWords(commands))})
    _describe 'command' sluice_commands
    return
  fi
  command="$words[2]"
  shift words
  ((CURRENT--))
  case "$command" in
${groups.map((group) => zshGroupCase(group, commands)).join('\n')}
  esac
  case "$command" in
${commands.map(zshCase).join('\n')}
  esac
}
if [[ "$funcstack[1]" == _sluice ]]; then
  _sluice "$@"
else
  compdef _sluice sluice
fi
`;
}

function zshDescribed(commands: readonly CompletedCommand[]): string {
  return commands
    .map(({ name, summary }) =>
      quoted(`${lastWord(name)}:${summary.replaceAll(':', String.raw`\:`)}`),
    )
    .join(' ');
}

function zshGroupCase(group: CompletedCommand, commands: readonly CompletedCommand[]): string {
  const under = commands.filter(({ name }) => name.startsWith(`${group.name} `));
  return `    ${group.name})
      if ((CURRENT == 2)); then
        sluice_commands=(${zshDescribed(under)})
        _describe 'command' sluice_commands
        return
      fi
      command="$command $words[2]"
      shift words
      ((CURRENT--))
      ;;`;
}

function zshCase(command: CompletedCommand): string {
  const specs = [
    ...command.options.map(zshOption),
    ...(command.words.length > 0 ? [quoted(`*: :(${command.words.join(' ')})`)] : []),
    ...(command.takesFiles ? [quoted('*:file:_files')] : []),
  ];
  return `    ${quoted(command.name)}) _arguments ${specs.join(' ')} ;;`;
}

function zshOption(option: OptionDefinition): string {
  const { name, short, help, isRepeatable } = option;
  const explained = `[${zshEscaped(help)}]${zshValue(option)}`;
  if (short !== undefined) {
    return `${quoted(`(-${short} --${name})`)}{-${short},--${name}}${quoted(explained)}`;
  }
  return quoted(`${isRepeatable ? '*' : ''}--${name}${explained}`);
}

function zshValue({ name, type }: OptionDefinition): string {
  if (!type) return '';
  if (type.words) return `:${name}:(${type.words.join(' ')})`;
  return `:${name}:${type.isPath === true ? '_files' : ' '}`;
}

/** Characters with a meaning in the explanation of `_arguments`. */
function zshEscaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}

function fishCompletion(commands: readonly CompletedCommand[]): string {
  const first = firstWords(commands);
  const lines = [
    '# Completion of sluice for fish: sluice completion fish | source',
    'complete -c sluice -f',
    ...first.map(
      ({ name, summary }) =>
        `complete -c sluice -n __fish_use_subcommand -a ${name} -d ${fishQuoted(summary)}`,
    ),
    ...commands.flatMap((command) => fishLines(command, commands)),
  ];
  return `${lines.join('\n')}\n`;
}

function fishLines(command: CompletedCommand, all: readonly CompletedCommand[]): readonly string[] {
  const condition = fishQuoted(fishCondition(command, all));
  const begin = `complete -c sluice -n ${condition}`;
  return [
    ...command.words.map((word) => {
      const summary = all.find(({ name }) => name === `${command.name} ${word}`)?.summary;
      return `${begin} -a ${word}${summary === undefined ? '' : ` -d ${fishQuoted(summary)}`}`;
    }),
    ...(command.takesFiles ? [`${begin} -F`] : []),
    ...command.options.map((option) => `${begin} ${fishFlags(option)}`),
  ];
}

/** When fish offers a command: of two words both are given; of a first word, nothing after it yet. */
function fishCondition({ name }: CompletedCommand, all: readonly CompletedCommand[]): string {
  const given = '(commandline -opc)';
  const words = name.split(' ');
  const isGroup = groupsAmong(all).some((group) => group.name === name);
  return [
    ...words.map((word, at) => `string match -q -- ${word} ${given}[${at + 2}]`),
    ...(isGroup ? [`test (count ${given}) -eq ${words.length + 1}`] : []),
  ].join('; and ');
}

function fishFlags({ name, short, help, type }: OptionDefinition): string {
  const value = type?.words
    ? `-x -a ${fishQuoted(type.words.join(' '))}`
    : type?.isPath === true
      ? '-r -F'
      : '-x';
  return [
    `-l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(type ? [value] : []),
    `-d ${fishQuoted(help)}`,
  ].join(' ');
}

/** In fish's single quotes only the backslash and the quote itself are special. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}

function firstWords(commands: readonly CompletedCommand[]): readonly CompletedCommand[] {
  return commands.filter(({ name }) => !name.includes(' '));
}

function groupsAmong(commands: readonly CompletedCommand[]): readonly CompletedCommand[] {
  return firstWords(commands).filter(({ name }) =>
    commands.some((command) => command.name.startsWith(`${name} `)),
  );
}

/** A text in single quotes for POSIX shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function lastWord(name: string): string {
  return name.slice(name.lastIndexOf(' ') + 1);
}
