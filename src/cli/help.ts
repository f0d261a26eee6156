import { defineOptions, type Command, type OptionDefinition } from './command.js';
import { commonOptions } from './parse-command-line.js';

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
    'sluice --version (-V) prints the version.',
    '',
  ].join('\n');
}

/**
 * The text of `sluice <command> --help`.
 *
 * @param all also the options that few people need, of a command that has many
 */
export function commandHelp(command: Command, all = false): string {
  const common = command.options.filter(({ isCommon }) => isCommon === true);
  const isShort = !all && common.length > 0;
  const shown = isShort ? common : command.options;
  const shared = isShort ? commonOptions.filter(({ isCommon }) => isCommon) : commonOptions;
  return [
    `Usage: sluice ${command.name} ${command.usage}`,
    '',
    command.summary,
    '',
    ...subcommandLines(command),
    ...groupLines([...shown, ...defineOptions(shared, shown.at(-1)?.group)]),
    ...(isShort
      ? [`sluice ${command.name} --help-all shows all ${command.options.length} options.`, '']
      : []),
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
  ].join('\n');
}

/** Options under the headings of their groups, all in one column. */
function groupLines(options: readonly OptionDefinition[]): readonly string[] {
  const lines = table(options.map((option) => [optionNames(option), option.help]));
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

function optionNames({ name, short, value }: OptionDefinition): string {
  const names = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  return value === undefined ? names : `${names} ${value}`;
}

function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`);
}
