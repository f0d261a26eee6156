import {
  firstWords,
  quoted,
  type CompletedCommand,
  type CompletedOption,
} from './completed-commands.js';

/** The script that has bash complete the command; it works with bash 3.2, too. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const groups = firstWords(commands).filter(({ name }) =>
    commands.some((command) => command.name.startsWith(`${name} `)),
  );
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
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$command" in
    '') words=${quoted([...firstWords(commands).map(({ name }) => name), '--help', '--version'].join(' '))} ;;
${commands.map(commandCase).join('\n')}
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

function valueCases(command: CompletedCommand): readonly string[] {
  return command.options.flatMap((option) => {
    const action = valueAction(option);
    if (action === undefined) return [];
    const names = [`--${option.name}`, ...(option.short === undefined ? [] : [`-${option.short}`])];
    const patterns = names.map((name) => quoted(`${command.name} ${name}`)).join('|');
    return [`    ${patterns}) ${action} ;;`];
  });
}

function valueAction({ value }: CompletedOption): string | undefined {
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

function commandCase(command: CompletedCommand): string {
  const options = command.options.map(({ name }) => `--${name}`);
  const files = command.takesFiles
    ? ' if [[ "$current" != -* ]]; then _sluice_files "$current"; fi;'
    : '';
  return `    ${quoted(command.name)})${files} words=${quoted([...command.words, ...options].join(' '))} ;;`;
}
