import {
  firstWords,
  quoted,
  type CompletedCommand,
  type CompletedOption,
} from './completed-commands.js';

/** The script that has zsh complete the command: to be sourced, or a file `_sluice` in its `fpath`. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  const groups = firstWords(commands).filter(({ name }) =>
    commands.some((command) => command.name.startsWith(`${name} `)),
  );
  return `#compdef sluice
# Completion of sluice for zsh: source <(sluice completion zsh)
_sluice() {
  local -a sluice_commands
  local command
  if ((CURRENT == 2)); then
    sluice_commands=(${described(firstWords(commands))})
    _describe 'command' sluice_commands
    return
  fi
  command="$words[2]"
  shift words
  ((CURRENT--))
  case "$command" in
${groups.map((group) => groupCase(group, commands)).join('\n')}
  esac
  case "$command" in
${commands.map(commandCase).join('\n')}
  esac
}
if [[ "$funcstack[1]" == _sluice ]]; then
  _sluice "$@"
else
  compdef _sluice sluice
fi
`;
}

function described(commands: readonly CompletedCommand[]): string {
  return commands
    .map(({ name, summary }) => {
      const word = name.slice(name.lastIndexOf(' ') + 1);
      return quoted(`${word}:${summary.replaceAll(':', String.raw`\:`)}`);
    })
    .join(' ');
}

function groupCase(group: CompletedCommand, commands: readonly CompletedCommand[]): string {
  const under = commands.filter(({ name }) => name.startsWith(`${group.name} `));
  return `    ${group.name})
      if ((CURRENT == 2)); then
        sluice_commands=(${described(under)})
        _describe 'command' sluice_commands
        return
      fi
      command="$command $words[2]"
      shift words
      ((CURRENT--))
      ;;`;
}

function commandCase(command: CompletedCommand): string {
  const specs = [
    ...command.options.map(optionSpec),
    ...(command.words.length > 0 ? [quoted(`*: :(${command.words.join(' ')})`)] : []),
    ...(command.takesFiles ? [quoted('*:file:_files')] : []),
  ];
  return `    ${quoted(command.name)}) _arguments ${specs.join(' ')} ;;`;
}

function optionSpec(option: CompletedOption): string {
  const { name, short, help, isRepeatable } = option;
  const explained = `[${escaped(help)}]${valueSpec(option)}`;
  if (short !== undefined) {
    return `${quoted(`(-${short} --${name})`)}{-${short},--${name}}${quoted(explained)}`;
  }
  return quoted(`${isRepeatable ? '*' : ''}--${name}${explained}`);
}

function valueSpec({ name, value }: CompletedOption): string {
  switch (value.kind) {
    case 'none':
      return '';
    case 'file':
      return `:${name}:_files`;
    case 'text':
      return `:${name}: `;
    case 'words':
      return `:${name}:(${value.words.join(' ')})`;
  }
}

/** What means something in the explanation of `_arguments`. */
function escaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}
