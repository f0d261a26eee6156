import { defineOptions, type NameOf } from '../command.js';
import { configOption } from './config-file.js';
import { connectionOptions } from '../service/connect.js';
import { engineOptions } from './engine-options.js';
import { historyOptions } from './history-options.js';
import { keepOptions } from './keep-options.js';
import { launchOptions } from './launch-options.js';
import { storeOptions } from './store-options.js';

/** The options of `sluice verify`, in the groups and in the order in which its help shows them. */
export const verifyOptions = [
  ...defineOptions(
    [
      {
        name: 'input-format',
        value: '<format>',
        help: 'csv, tsv, jsonl, txt, xlsx or parquet (default: by the file ending, else by its first bytes).',
      },
      {
        name: 'query',
        value: '<sql>',
        help: 'Query whose rows are the input, when the input is a database.',
      },
      { name: 'no-header', help: 'The input has no header: columns are #1, #2, …' },
      {
        name: 'skip-rows',
        value: '<n>',
        help: 'Lines above the header, or rows of a sheet (default: auto-detected; the line is printed).',
      },
      {
        name: 'sheet',
        value: '<name or number>',
        help: 'Sheet of an XLSX input (default: 1, the first).',
      },
      {
        name: 'encoding',
        value: '<name>',
        help: 'utf-8, utf-16le, utf-16be, latin1 or windows-1252 (default: by the byte-order mark, else utf-8).',
      },
      {
        name: 'delimiter',
        value: '<text>',
        help: 'Field delimiter of a CSV input; tab for a tab (default: auto-detected).',
      },
      {
        name: 'quote',
        value: '<text>',
        help: 'Quote of a CSV or TSV input; none for no quoting (default: auto-detected).',
      },
      {
        name: 'escape',
        value: '<text>',
        help: 'Escape in front of a quote inside a quoted cell (default: auto-detected).',
      },
    ],
    'Input',
  ),
  ...defineOptions(
    [
      {
        name: 'email',
        short: 'e',
        value: '<column>',
        isRepeatable: true,
        isCommon: true,
        help: 'Column of email addresses, by name or position (#3).',
      },
      {
        name: 'phone',
        short: 'p',
        value: '<column>',
        isRepeatable: true,
        isCommon: true,
        help: 'Column of phone numbers, by name or position (#3).',
      },
      {
        name: 'country',
        short: 'c',
        value: '<CC>',
        isCommon: true,
        help: 'Target country of every row, such as US.',
      },
      {
        name: 'country-column',
        value: '<column>',
        isCommon: true,
        help: 'Column with the country of each row. Empty cells: --country-from <phone column>, then --country.',
      },
      {
        name: 'country-from',
        value: '<phone column>',
        help: "Country of each row by its number's calling code (+44…, 0044…), where the country column says none; --country for the others.",
      },
      {
        name: 'email-country',
        value: '<CC>',
        help: 'Target country of all emails, whatever the country of their row.',
      },
      {
        name: 'prefix',
        value: '<column>=<name>',
        isRepeatable: true,
        help: 'Added columns of that column begin with <name>_.',
      },
    ],
    'Columns and country',
  ),
  ...defineOptions(
    [
      {
        name: 'output',
        short: 'o',
        value: '<path>',
        isCommon: true,
        help: 'Where the enriched rows go: a file, an s3:// URL or a database (default: -, standard output; at a terminal, a file is proposed).',
      },
      {
        name: 'output-format',
        value: '<format>',
        help: 'Format of the output (default: by the file ending, else csv).',
      },
      {
        name: 'into',
        value: '<table>',
        help: 'Table to write, when the output is a database.',
      },
      {
        name: 'key',
        value: '<column>',
        isRepeatable: true,
        help: 'Key column: existing rows of the table are updated, others inserted.',
      },
      {
        name: 'part-size',
        value: '<size>',
        help: 'Write a folder of parts of about that size (256MB) with a manifest: gzip CSV, or --output-format.',
      },
      {
        name: 'split-by',
        value: '<what>',
        values: ['verdict'],
        help: 'verdict: the output is a folder with a file each for valid, wrong, unknown and none.',
      },
      {
        name: 'columns',
        value: '<list>',
        help: 'Which added columns are written, without their prefix, in that order: verification,valid,quality (default: all).',
      },
      {
        name: 'suggest',
        isCommon: true,
        help: 'Add <column>_suggestion: the domain probably meant by a misspelt one (gmial.com: gmail.com). It is never sent.',
      },
      {
        name: 'neutralize-formulas',
        help: 'In CSV and TSV: put an apostrophe before text from the service that a spreadsheet would run as a formula.',
      },
    ],
    'Output',
  ),
  ...defineOptions(
    [
      {
        name: 'limit',
        short: 'n',
        value: '<n>',
        isCommon: true,
        help: 'Only the first n rows: a trial.',
      },
      ...keepOptions,
    ],
    'Which rows',
  ),
  ...defineOptions(
    [
      ...launchOptions,
      {
        name: 'max-credits',
        value: '<n>',
        isCommon: true,
        help: 'Spend at most this many credits per type.',
      },
      ...historyOptions,
    ],
    'Cost and approval',
  ),
  ...defineOptions(
    [
      {
        name: 'state',
        value: '<dir>',
        help: "State directory (default: <output>.sluice beside a file output, ./<table>.sluice for a database); with --store a folder for this process's batch files (default: the system's for temporary files).",
      },
      { name: 'fresh', help: 'Drop an unfinished run found in the state directory.' },
      {
        name: 'on-change',
        value: '<way>',
        help: 'If the list of an unfinished run has changed: carry (use what was paid), stop, or auto (default: carry if at least half of it is of use).',
      },
      {
        name: 'moved',
        help: 'The state directory was moved or restored, and no other process continues its run.',
      },
      {
        name: 'retry-failed',
        help: 'After a run that ended with 3: send only its failed addresses again.',
      },
      {
        name: 'partial',
        help: 'If the service or the credits stop the run: write the output, with unfinished rows as failed.',
      },
    ],
    'Going on',
  ),
  ...defineOptions(storeOptions, 'One run in many processes'),
  ...defineOptions(connectionOptions, 'Service and key'),
  ...defineOptions(
    [
      { name: 'batch-size', value: '<n>', help: 'Most addresses in one batch (default: 50000).' },
      {
        name: 'concurrency',
        value: '<n>',
        help: 'Most batches on the service at once (default: 4).',
      },
      {
        name: 'poll-interval',
        value: '<ms>',
        help: 'First wait between two status polls of a batch (default: 1000; 25 with the local service in this process).',
      },
      {
        name: 'batch-deadline',
        value: '<h>',
        help: 'Longest time of a batch in one stage, in hours (default: 24).',
      },
      {
        name: 'delete-batches',
        help: 'Delete each batch from the service after its results are safe on disk.',
      },
      { name: 'batch-name', value: '<prefix>', help: 'Prefix of batch names (default: sluice).' },
      { name: 'description', value: '<text>', help: 'Description of every batch.' },
      { name: 'target-audience', value: '<id or name>', help: 'Passed to the service.' },
      { name: 'target-industry', value: '<id or name>', help: 'Passed to the service.' },
      { name: 'target-objective', value: '<id or name>', help: 'Passed to the service.' },
      { name: 'no-remove-duplicates', help: 'The service keeps duplicates.' },
      { name: 'no-remove-wrong-format', help: 'The service keeps addresses of a wrong format.' },
      { name: 'no-account-cache', help: 'Do not reuse earlier results of your account.' },
      {
        name: 'no-global-cache',
        help: 'Do not reuse anonymous results of other accounts, nor share yours.',
      },
      {
        name: 'account-cache-days',
        value: '<n>',
        help: 'How many days the account cache looks back (default: 30).',
      },
      {
        name: 'global-cache-days',
        value: '<n>',
        help: 'How many days the global cache looks back (default: 30).',
      },
    ],
    'Batches',
  ),
  ...defineOptions(
    [
      {
        name: 'report',
        value: '<file.html>',
        isCommon: true,
        help: 'Write a page about the run: verdicts, domains, operators, credits, batches over time.',
      },
      {
        name: 'summary',
        value: '<path>',
        help: 'Write the figures of the run as JSON (-: standard output, when the output is a file).',
      },
      {
        name: 'quiet',
        short: 'q',
        help: 'Print only errors (and the local-service notice).',
      },
      { name: 'verbose', short: 'v', help: 'Print what happens to every batch.' },
      { name: 'no-progress', help: 'Print no progress.' },
      { name: 'json-log', help: 'Print log lines as JSON, one object a line.' },
      configOption,
    ],
    'Logs, report and configuration',
  ),
  ...defineOptions(engineOptions, 'Live verification, with --local'),
];

export type VerifyOption = NameOf<typeof verifyOptions>;
