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

/** What they have to know of an option. */
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

/** The script that has bash complete the command; it works with bash 3.2, too. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
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

function bashValueAction({ value }: CompletedOption): string | undefined {
  switch (value.kind) {
    case 'none':
      return undefined;
    case 'text':
      return 'return';
    case 'file':
      return '_sluice_files "$current"; return';
    case 'words':
      return `COMPREPLY=($(compgen -W ${quoted(value.words.join(' '))} -- "$current")); return`;
  }
}

function bashCase(command: CompletedCommand): string {
  const options = command.options.map(({ name }) => `--${name}`);
  const files = command.takesFiles
    ? ' if [[ "$current" != -* ]]; then _sluice_files "$current"; fi;'
    : '';
  return `    ${quoted(command.name)})${files} words=${quoted([...command.words, ...options].join(' '))} ;;`;
}

/** The script that has zsh complete the command: to be sourced, or a file `_sluice` in its `fpath`. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
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

function zshOption(option: CompletedOption): string {
  const { name, short, help, isRepeatable } = option;
  const explained = `[${zshEscaped(help)}]${zshValue(option)}`;
  if (short !== undefined) {
    return `${quoted(`(-${short} --${name})`)}{-${short},--${name}}${quoted(explained)}`;
  }
  return quoted(`${isRepeatable ? '*' : ''}--${name}${explained}`);
}

function zshValue({ name, value }: CompletedOption): string {
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
function zshEscaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}

export function fishCompletion(commands: readonly CompletedCommand[]): string {
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

/** Of a command of two words both are given; of one that begins others, nothing after it yet. */
function fishCondition({ name }: CompletedCommand, all: readonly CompletedCommand[]): string {
  const given = '(commandline -opc)';
  const words = name.split(' ');
  const isGroup = groupsAmong(all).some((group) => group.name === name);
  return [
    ...words.map((word, at) => `string match -q -- ${word} ${given}[${at + 2}]`),
    ...(isGroup ? [`test (count ${given}) -eq ${words.length + 1}`] : []),
  ].join('; and ');
}

function fishFlags({ name, short, help, value }: CompletedOption): string {
  const flags = [`-l ${name}`, ...(short === undefined ? [] : [`-s ${short}`])];
  switch (value.kind) {
    case 'none':
      break;
    case 'file':
      flags.push('-r -F');
      break;
    case 'text':
      flags.push('-x');
      break;
    case 'words':
      flags.push(`-x -a ${fishQuoted(value.words.join(' '))}`);
  }
  return `${flags.join(' ')} -d ${fishQuoted(help)}`;
}

/** In fish's single quotes only the backslash and the quote itself are special. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}

/** The commands that are one word. */
function firstWords(commands: readonly CompletedCommand[]): readonly CompletedCommand[] {
  return commands.filter(({ name }) => !name.includes(' '));
}

/** The commands that other commands begin with. */
function groupsAmong(commands: readonly CompletedCommand[]): readonly CompletedCommand[] {
  return firstWords(commands).filter(({ name }) =>
    commands.some((command) => command.name.startsWith(`${name} `)),
  );
}

/** A text as the shells of this kind quote it: nothing in it is theirs. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** What is after the first word of a command's name, or the name itself. */
export function lastWord(name: string): string {
  return name.slice(name.lastIndexOf(' ') + 1);
}
