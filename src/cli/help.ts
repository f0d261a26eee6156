import type { Command, OptionDefinition } from './command.js';
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
    'sluice <command> --help shows the options of a command.',
    '',
  ].join('\n');
}

/** The text of `sluice <command> --help`. */
export function commandHelp(command: Command): string {
  const options = [...command.options, ...commonOptions];
  return [
    `Usage: sluice ${command.name} ${command.usage}`,
    '',
    command.summary,
    '',
    ...subcommandLines(command),
    'Options:',
    ...table(options.map((option) => [optionNames(option), option.help])),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
  ].join('\n');
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
