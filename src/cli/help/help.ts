import { type Command, defineOptions, omitUndefined, type OptionDefinition } from '../command.js';
import { commonOptions } from '../options/parse-command-line.js';
import { wrapped } from '../terminal/text-table.js';
import { helpTopics } from './help-topics.js';

export function programHelp(commands: readonly Command[], version: string, width?: number): string {
  return [
    `sluice ${version}: verifies the email addresses and phone numbers in contact lists`,
    '',
    'Usage: sluice <command> [options]',
    '',
    'Commands:',
    ...table(
      commands.map(({ name, summary }) => [name, summary]),
      width,
    ),
    '',
    'sluice verify <list> finds the columns to verify, shows the cost, and asks.',
    'sluice help <command> shows the options of a command.',
    ...wrapped(
      `sluice help <topic> explains ${helpTopics.map(({ name }) => name).join(', ')}.`,
      lineWidth(width),
    ),
    'sluice --version (-V) prints the version.',
    '',
  ].join('\n');
}

/** @param isWhole also the rarely used options */
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
    ...commandLines(`Usage: sluice ${command.name} ${command.usage}`, width),
    '',
    ...wrapped(command.summary, lineWidth(width)),
    '',
    ...subcommandLines(command, width),
    ...groupLines(
      [
        ...shown,
        ...defineOptions(shared, omitUndefined({ group: groupOfShared(command.options) })),
      ],
      width,
    ),
    ...(isShort
      ? [
          `sluice ${command.name} --help-all shows all ${command.options.length} options.`,
          ...moreLines,
          '',
        ]
      : []),
    'Examples:',
    ...command.examples.flatMap((example) => commandLines(`  ${example}`, width)),
    '',
  ].join('\n');
}

/** Piped help may be read in a terminal, too. */
const usualWidth = 80;
/** A narrower terminal has no room for two columns. */
const leastWidth = 60;

function lineWidth(width = usualWidth): number {
  return width < leastWidth ? usualWidth : width;
}

/** A command broken into lines that a shell joins. */
function commandLines(command: string, width?: number): readonly string[] {
  const lines: string[] = [];
  for (const part of command.split(/ (?=\[?-|\|)/)) {
    const last = lines.at(-1);
    const joined = `${last} ${part}`;
    // The backslash at the end needs room, too.
    if (last === undefined) lines.push(part);
    else if (joined.length <= lineWidth(width) - ' \\'.length) lines.splice(-1, 1, joined);
    else lines.push(`      ${part}`);
  }
  return lines.map((line, at) => (at < lines.length - 1 ? `${line} \\` : line));
}

const moreLines = [
  'Duplicates: --unique. Several addresses in a cell: --split-cells.',
  'Misspelt domains: --suggest. A file for each verdict: --split-by verdict.',
  'A run that stopped: run the same command again, it resumes (sluice status).',
  'Your service: SLUICE_BASE_URL and SLUICE_API_KEY; sluice help environment.',
  'Finished rows: sluice help columns. Exit codes: sluice help exit-codes.',
  'Docs: README.md and docs/.',
];

/** Common options join the last group of frequently used ones. */
export function groupOfShared(options: readonly OptionDefinition[]): string | undefined {
  return (options.findLast(({ isCommon }) => isCommon) ?? options.at(-1))?.group;
}

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

function subcommandLines({ subcommands }: Command, width?: number): readonly string[] {
  if (!subcommands) return [];
  const rows = subcommands.map(({ name, summary }) => [name, summary] as const);
  return ['Commands:', ...table(rows, width), ''];
}

function optionNames({ name, short, type }: OptionDefinition): string {
  const names = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  return type ? `${names} ${type.shown}` : names;
}

/** Two columns, of which the second continues in the next line. */
function table(rows: readonly (readonly [string, string])[], width?: number): readonly string[] {
  const first = Math.max(...rows.map(([name]) => name.length));
  const left = lineWidth(width) - first - 5;
  return rows.map(([name, text]) => {
    return `  ${name.padEnd(first)}  ${wrapped(text, left).join(`\n${' '.repeat(first + 4)}`)}`;
  });
}

/** The options of a command that begin with a word, with or without dashes. @returns `undefined` without any */
export function optionHelp(
  word: string,
  { name: command, options }: Command,
  width?: number,
): string | undefined {
  const wanted = word.replace(/^--/, '');
  const found = options.filter(({ name }) => name === wanted || name.startsWith(`${wanted}-`));
  if (found.length === 0) return undefined;
  const rows = found.map((option) => [optionNames(option), option.help] as const);
  const more = `sluice ${command} --help-all shows all options.`;
  return [`Options of sluice ${command}:`, ...table(rows, width), '', more, ''].join('\n');
}

export function topicHelp(name: string, width?: number): string | undefined {
  const topic = helpTopics.find((known) => known.name === name);
  if (!topic) return undefined;
  const tables = topic.tables.flatMap(({ title, rows }) => [title, '', ...table(rows, width), '']);
  return [...tables, ...topic.more, ''].join('\n');
}
