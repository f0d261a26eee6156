import { defineOptions, type Command, type OptionDefinition } from '../command.js';
import { helpTopics } from './help-topics.js';
import { commonOptions } from '../options/parse-command-line.js';
import { wrapped } from '../terminal/text-table.js';

/** The text of `sluice --help`. */
export function programHelp(commands: readonly Command[], version: string): string {
  return [
    `sluice ${version}: streams contact lists through a data verification service and back`,
    '',
    'Usage: sluice <command> [options]',
    '',
    'Commands:',
    ...table(commands.map(({ name, summary }) => [name, summary])),
    '',
    'sluice verify <list> finds the columns to verify, shows the cost, and asks.',
    'sluice help <command> shows the options of a command.',
    `sluice help <topic> explains ${helpTopics.map(({ name }) => name).join(', ')}.`,
    'sluice --version (-V) prints the version.',
    '',
  ].join('\n');
}

/**
 * The text of `sluice <command> --help`.
 *
 * @param isWhole also the options that few people need, of a command that has many. @default false
 * @param width of the terminal that shows it. @default lines are as long as they are
 */
export function commandHelp(
  command: Command,
  {
    isWhole = false,
    width,
  }: { readonly isWhole?: boolean; readonly width?: number | undefined } = {},
): string {
  const common = command.options.filter(({ isCommon }) => isCommon === true);
  const isShort = !isWhole && common.length > 0;
  const shown = isShort ? common : command.options;
  const shared = isShort ? commonOptions.filter(({ isCommon }) => isCommon) : commonOptions;
  return [
    `Usage: sluice ${command.name} ${command.usage}`,
    '',
    command.summary,
    '',
    ...subcommandLines(command),
    ...groupLines([...shown, ...defineOptions(shared, groupOfShared(command.options))], width),
    ...(isShort
      ? [
          `sluice ${command.name} --help-all shows all ${command.options.length} options.`,
          ...moreLines,
          '',
        ]
      : []),
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
  ].join('\n');
}

const moreLines = [
  'Your service: SLUICE_BASE_URL and SLUICE_API_KEY; sluice help environment.',
  'Finished rows: sluice help columns. Exit codes: sluice help exit-codes. Docs: README.md and docs/.',
];

/** Options that every command has are among those of its last group that most people need. */
export function groupOfShared(options: readonly OptionDefinition[]): string | undefined {
  return (options.findLast(({ isCommon }) => isCommon) ?? options.at(-1))?.group;
}

/** Options under the headings of their groups, all in one column. */
function groupLines(options: readonly OptionDefinition[], width?: number): readonly string[] {
  const lines = table(
    options.map((option) => [optionNames(option), option.help]),
    width,
  );
  const groups = [...new Set(options.map(({ group }) => group))];
  return groups.flatMap((group) => [
    `${group ?? 'Options'}:`,
    ...lines.filter((_, index) => options[index]?.group === group),
    '',
  ]);
}

function subcommandLines({ subcommands }: Command): readonly string[] {
  if (!subcommands) return [];
  const rows = subcommands.map(({ name, summary }) => [name, summary] as const);
  return ['Commands:', ...table(rows), ''];
}

function optionNames({ name, short, type }: OptionDefinition): string {
  const names = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  return type ? `${names} ${type.shown}` : names;
}

/** @param width where the second column continues in the next line, if it has room at all */
function table(rows: readonly (readonly [string, string])[], width = 0): readonly string[] {
  const first = Math.max(...rows.map(([name]) => name.length));
  const left = width - first - 5;
  return rows.map(([name, text]) => {
    const lines = left < leastText ? [text] : wrapped(text, left);
    return `  ${name.padEnd(first)}  ${lines.join(`\n${' '.repeat(first + 4)}`)}`;
  });
}

/** A column of fewer characters is harder to read than long lines. */
const leastText = 24;
