import { reasonWords } from '../../report/sentences/reason-words.js';
import { type Command, defineOptions, type OptionDefinition } from '../command.js';
import { commonOptions } from '../options/parse-command-line.js';
import { wrapped } from '../terminal/text-table.js';

/** The text of `sluice --help`. @param width of the terminal that shows it. @default 80 */
export function programHelp(commands: readonly Command[], version: string, width?: number): string {
  return [
    `sluice ${version}: streams contact lists through a verification service and back`,
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

/**
 * The text of `sluice <command> --help`.
 *
 * @param isWhole also the options that few people need, of a command that has many. @default false
 * @param width of the terminal that shows it. @default 80
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
    ...commandLines(`Usage: sluice ${command.name} ${command.usage}`, width),
    '',
    ...wrapped(command.summary, lineWidth(width)),
    '',
    ...subcommandLines(command, width),
    ...groupLines([...shown, ...defineOptions(shared, groupOfShared(command.options))], width),
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

/** What is not written to a terminal may be read in one all the same. */
const usualWidth = 80;
/** A narrower terminal has no room for two columns. */
const leastWidth = 60;

function lineWidth(width = usualWidth): number {
  return width < leastWidth ? usualWidth : width;
}

/** A command in lines that a shell takes for one. */
function commandLines(command: string, width?: number): readonly string[] {
  const lines: string[] = [];
  for (const part of command.split(/ (?=\[?-|\|)/)) {
    const last = lines.at(-1);
    const joined = `${last} ${part}`;
    // The stroke at the end needs room, too.
    if (last === undefined) lines.push(part);
    else if (joined.length <= lineWidth(width) - ' \\'.length) lines.splice(-1, 1, joined);
    else lines.push(`      ${part}`);
  }
  return lines.map((line, at) => (at < lines.length - 1 ? `${line} \\` : line));
}

const moreLines = [
  'Your service: SLUICE_BASE_URL and SLUICE_API_KEY; sluice help environment.',
  'Finished rows: sluice help columns. Exit codes: sluice help exit-codes.',
  'Docs: README.md and docs/.',
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

/** What `sluice help <topic>` shows besides commands. */
interface HelpTopic {
  readonly name: string;
  readonly text: (width?: number) => string;
}

export const helpTopics: readonly HelpTopic[] = [
  {
    name: 'exit-codes',
    text: (width) =>
      [
        'What a command ends with, and what to do:',
        '',
        ...table(
          exitCodeTexts.map(({ code, happened, todo }) => [
            String(code),
            todo === 'nothing' ? happened : `${happened}: ${todo}`,
          ]),
          width,
        ),
        '',
        'After all but 0, 2, 3 and 8 the same command resumes.',
        'More: docs/when-it-stops.md',
        '',
      ].join('\n'),
  },
  {
    name: 'environment',
    text: (width) =>
      [
        'Environment variables:',
        '',
        ...table(
          environmentTexts.map(({ names, meaning }) => [names, meaning]),
          width,
        ),
        '',
        '--env-file <path> reads them from a file. More: docs/command-line.md',
        '',
      ].join('\n'),
  },
  {
    name: 'columns',
    text: (width) =>
      [
        'Columns added for each verified column <c>, of emails, phones or both:',
        '',
        ...table(
          columnTexts.map(({ column, type, meaning }) => [
            `<c>_${column}`.padEnd(24) + type,
            meaning,
          ]),
          width,
        ),
        '',
        'Reasons in <c>_reason:',
        '',
        ...table(
          Object.entries(reasonWords).map(([code, { words, meaning }]) => [
            code,
            code === words ? meaning : `${words}: ${meaning}`,
          ]),
          width,
        ),
        '',
        'More: docs/columns.md',
        '',
      ].join('\n'),
  },
  {
    name: 'resume',
    text: (width) =>
      [
        'The same command resumes a run that stopped, and pays nothing twice:',
        '',
        ...table(
          [
            ['sluice status', 'lists the unfinished runs of this folder'],
            ['--retry-failed', 'sends again what failed in a finished run'],
            ['--fresh', 'drops an unfinished run and starts over'],
            ['sluice abandon <state>', 'gives it up'],
          ],
          width,
        ),
        '',
        'More: docs/when-it-stops.md',
        '',
      ].join('\n'),
  },
  {
    name: 'cost',
    text: (width) =>
      [
        'One credit for each unique address that the service verifies, per country:',
        '',
        ...table(
          [
            ['--dry-run', 'counts what would be sent, and its cost against the balance'],
            ['--limit <n>', 'verifies only the first rows, as a trial'],
            ['--max-credits <n>', 'stops, resumable, before more are spent'],
            ['--history <file>', 'keeps results: they are not paid again'],
            ['sluice credits', 'prints the balance'],
          ],
          width,
        ),
        '',
        'More: docs/cost.md',
        '',
      ].join('\n'),
  },
  {
    name: 'countries',
    text: (width) =>
      [
        'The service verifies each address, emails too, for a target country:',
        '',
        ...table(
          [
            ['--country <CC>', 'of every row, or of those whose own is not known'],
            ['--country-column <column>', 'takes it row by row'],
            ['--country-from <phone column>', 'takes that of the calling code (+44…)'],
            ['--email-country <CC>', 'of all emails, whatever their row says'],
          ],
          width,
        ),
        '',
        'More: docs/your-list.md',
        '',
      ].join('\n'),
  },
];

/*
 * What help says of exit codes, environment variables and columns. The tables of docs/ say the same, and
 * tests hold them to it.
 */

export const exitCodeTexts = [
  { code: 0, happened: 'every row came out and none is failed', todo: 'nothing' },
  { code: 1, happened: 'a defect in Sluice', todo: 'report it, run again' },
  {
    code: 2,
    happened: 'wrong usage, configuration or state',
    todo: 'fix what the message names',
  },
  { code: 3, happened: 'finished, and some rows are failed', todo: '--retry-failed' },
  {
    code: 4,
    happened: 'the service refused the key (401, 403)',
    todo: 'set a valid key of the same account, run again',
  },
  {
    code: 5,
    happened: 'credits or --max-credits are used up',
    todo: 'buy credits or raise the limit, run again',
  },
  {
    code: 6,
    happened: 'input or output failed',
    todo: 'fix the file, disk or database, run again',
  },
  { code: 7, happened: 'the service failed or was not reached', todo: 'run again later' },
  {
    code: 8,
    happened: 'suspect, with too many unknown verdicts or too few rows in the list',
    todo: 'look at <output>.suspect, or at the list',
  },
  {
    code: 75,
    happened: '--detach has launched all; or not agreed',
    todo: 'run again later to collect, or to agree',
  },
  { code: 130, happened: 'interrupted by SIGINT (Ctrl-C)', todo: 'run again' },
  { code: 143, happened: 'terminated by SIGTERM', todo: 'run again' },
] as const;

export const environmentTexts = [
  { names: 'SLUICE_BASE_URL', meaning: 'the service, unless --base-url names it' },
  {
    names: 'SLUICE_API_KEY',
    meaning: 'the key, unless --api-key-file is given; also of serve',
  },
  {
    names: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    meaning: 'proxies, for services on other machines',
  },
  { names: 'NODE_EXTRA_CA_CERTS', meaning: 'more certificates to trust (Node.js reads it)' },
  { names: 'NO_COLOR', meaning: 'no colours' },
  { names: 'TERM=dumb', meaning: 'no live lines' },
] as const;

/** By what follows the prefix. */
export const columnTexts = [
  {
    column: 'verification',
    type: 'both',
    meaning: 'verified, not_submitted, no_result or failed',
  },
  { column: 'reason', type: 'both', meaning: 'empty when verified, else a reason' },
  { column: 'valid', type: 'both', meaning: 'the verdict: valid' },
  { column: 'wrong', type: 'both', meaning: 'the verdict: wrong' },
  { column: 'unknown', type: 'both', meaning: 'the verdict: the service does not know' },
  { column: 'quality', type: 'email', meaning: 'good, bad, risky, unknown' },
  { column: 'result', type: 'email', meaning: 'ok, invalid, error, unknown' },
  { column: 'is_syntax_error', type: 'both', meaning: 'not an address at all' },
  { column: 'is_free', type: 'email', meaning: 'a provider of free mailboxes' },
  { column: 'is_role', type: 'email', meaning: 'a function, not a person (sales@…)' },
  { column: 'is_disposable', type: 'email', meaning: 'a throw-away service' },
  { column: 'is_catch_all', type: 'email', meaning: 'its domain takes mail for any name' },
  { column: 'type', type: 'phone', meaning: "the service's word: mobile, fixed line, …" },
  { column: 'status', type: 'phone', meaning: "the service's word for its live status" },
  { column: 'is_ported', type: 'phone', meaning: 'it changed its network' },
  {
    column: 'current_network_mcc',
    type: 'phone',
    meaning: 'country code of its network, or empty',
  },
  { column: 'current_network_mnc', type: 'phone', meaning: 'code of its network, or empty' },
  { column: 'operator', type: 'phone', meaning: 'name of its operator, or empty' },
] as const;
