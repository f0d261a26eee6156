import { firstWords, type CompletedCommand, type CompletedOption } from './completed-commands.js';

/** The script that has fish complete the command. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const first = firstWords(commands);
  const lines = [
    '# Completion of sluice for fish: sluice completion fish | source',
    'complete -c sluice -f',
    ...first.map(
      ({ name, summary }) =>
        `complete -c sluice -n __fish_use_subcommand -a ${name} -d ${fishQuoted(summary)}`,
    ),
    ...commands.flatMap((command) => commandLines(command, commands)),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines(
  command: CompletedCommand,
  all: readonly CompletedCommand[],
): readonly string[] {
  const condition = fishQuoted(isChosen(command, all));
  const begin = `complete -c sluice -n ${condition}`;
  return [
    ...command.words.map((word) => {
      const summary = all.find(({ name }) => name === `${command.name} ${word}`)?.summary;
      return `${begin} -a ${word}${summary === undefined ? '' : ` -d ${fishQuoted(summary)}`}`;
    }),
    ...(command.takesFiles ? [`${begin} -F`] : []),
    ...command.options.map((option) => `${begin} ${optionFlags(option)}`),
  ];
}

/** Of a command of two words both are given; of one that begins others, nothing behind it yet. */
function isChosen({ name }: CompletedCommand, all: readonly CompletedCommand[]): string {
  const given = '(commandline -opc)';
  const words = name.split(' ');
  const isGroup = all.some((command) => command.name.startsWith(`${name} `));
  return [
    ...words.map((word, at) => `string match -q -- ${word} ${given}[${at + 2}]`),
    ...(isGroup ? [`test (count ${given}) -eq ${words.length + 1}`] : []),
  ].join('; and ');
}

function optionFlags({ name, short, help, value }: CompletedOption): string {
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
