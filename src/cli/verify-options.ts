import type { OptionDefinition } from './command.js';
import { configOption } from './config-file.js';
import { connectionOptions } from './connect.js';
import { historyOptions } from './history-options.js';
import { keepOptions } from './keep-options.js';
import { launchOptions } from './launch-options.js';

/** The options of `sluice verify`, in the order in which its help shows them. */
export const verifyOptions: readonly OptionDefinition[] = [
  {
    name: 'output',
    short: 'o',
    value: '<path>',
    help: 'Where enriched rows go: a file or a database (default -: standard output).',
  },
  { name: 'query', value: '<sql>', help: 'Which rows of a database are the input.' },
  { name: 'into', value: '<table>', help: 'The table of a database that the rows go into.' },
  {
    name: 'key',
    value: '<column>',
    isRepeatable: true,
    help: 'The column that tells the rows of a table: those that are there are updated.',
  },
  {
    name: 'email',
    value: '<column>',
    isRepeatable: true,
    help: 'A column of email addresses, by name or position (#3).',
  },
  {
    name: 'phone',
    value: '<column>',
    isRepeatable: true,
    help: 'A column of phone numbers, by name or position (#3).',
  },
  { name: 'country', value: '<CC>', help: 'Target country of every row, such as US.' },
  {
    name: 'country-column',
    value: '<column>',
    help: 'Target country row by row; --country is then for empty cells.',
  },
  {
    name: 'email-country',
    value: '<CC>',
    help: 'Target country of all emails, whatever that of their row is.',
  },
  {
    name: 'prefix',
    value: '<column>=<name>',
    isRepeatable: true,
    help: 'Added columns of that column begin with <name>_.',
  },
  { name: 'no-header', help: 'The input has no header: columns are #1, #2, …' },
  {
    name: 'input-format',
    value: '<format>',
    help: "csv, tsv, jsonl, txt, xlsx or parquet (default: by the file's ending, else by its first bytes).",
  },
  {
    name: 'output-format',
    value: '<format>',
    help: "The same (default: by the file's ending, else csv).",
  },
  {
    name: 'part-size',
    value: '<size>',
    help: 'The output is a folder of parts of about that size (256MB), gzip CSV or --output-format, with a manifest.',
  },
  {
    name: 'delimiter',
    value: '<text>',
    help: 'What stands between two cells of a CSV input (default: found by looking); tab for a tab.',
  },
  {
    name: 'quote',
    value: '<text>',
    help: 'What stands around a cell of a CSV or TSV input (default: found by looking); none for nothing.',
  },
  {
    name: 'escape',
    value: '<text>',
    help: 'What stands before a quote in a quoted cell (default: found by looking).',
  },
  {
    name: 'encoding',
    value: '<name>',
    help: 'utf-8, utf-16le, utf-16be, latin1 or windows-1252 (default: by the byte-order mark, else utf-8).',
  },
  {
    name: 'sheet',
    value: '<name or number>',
    help: 'Sheet of an XLSX input (default 1, the first).',
  },
  {
    name: 'neutralize-formulas',
    help: 'CSV and TSV: text of the service that a spreadsheet would take for a formula gets an apostrophe in front.',
  },
  { name: 'batch-size', value: '<n>', help: 'Most addresses in one batch (default 50000).' },
  { name: 'concurrency', value: '<n>', help: 'Most batches on the service at once (default 4).' },
  {
    name: 'poll-interval',
    value: '<ms>',
    help: 'First wait between two status polls of a batch (default 1000; 25 with the local service in this process).',
  },
  {
    name: 'batch-deadline',
    value: '<h>',
    help: 'How long a batch may stay in one stage, in hours (default 24).',
  },
  {
    name: 'max-credits',
    value: '<n>',
    help: 'Stop before more credits of a type than that are spent.',
  },
  {
    name: 'state',
    value: '<dir>',
    help: 'State directory (default: <output>.sluice beside a file output, ./<table>.sluice for a database).',
  },
  ...historyOptions,
  ...launchOptions,
  ...keepOptions,
  {
    name: 'retry-failed',
    help: 'After a run that ended with 3: send only its failed addresses again.',
  },
  {
    name: 'partial',
    help: 'When the service or the credits stop the run: write the output, unfinished rows as failed.',
  },
  {
    name: 'delete-batches',
    help: 'Delete each batch from the service after its results are safe on disk.',
  },
  {
    name: 'moved',
    help: 'The state directory was moved or restored, and no other process goes on with its run.',
  },
  { name: 'fresh', help: 'Drop an unfinished run found in the state directory.' },
  { name: 'target-audience', value: '<id or name>', help: 'Passed to the service.' },
  { name: 'target-industry', value: '<id or name>', help: 'Passed to the service.' },
  { name: 'target-objective', value: '<id or name>', help: 'Passed to the service.' },
  { name: 'no-remove-duplicates', help: 'The service keeps duplicates.' },
  { name: 'no-remove-wrong-format', help: 'The service keeps what is wrong in its format.' },
  { name: 'no-account-cache', help: "The account's earlier results are not reused." },
  {
    name: 'no-global-cache',
    help: "Other accounts' anonymous results are not reused, nor yours shared.",
  },
  {
    name: 'account-cache-days',
    value: '<n>',
    help: 'How far back the account cache looks (default 30).',
  },
  {
    name: 'global-cache-days',
    value: '<n>',
    help: 'How far back the global cache looks (default 30).',
  },
  { name: 'description', value: '<text>', help: 'Description of every batch.' },
  {
    name: 'batch-name',
    value: '<prefix>',
    help: "What every batch's name begins with (default sluice).",
  },
  {
    name: 'summary',
    value: '<path>',
    help: "The run's figures as JSON (-: standard output, when the output is a file).",
  },
  {
    name: 'report',
    value: '<file.html>',
    help: 'A page about the run: verdicts, domains, operators, credits, batches over time.',
  },
  configOption,
  { name: 'quiet', help: 'Say nothing but errors, and that the local service is used.' },
  { name: 'verbose', help: 'Say what becomes of every batch.' },
  { name: 'no-progress', help: 'Say nothing of how far the run is until something is done.' },
  { name: 'json-log', help: 'What is said, as one JSON object a line.' },
  ...connectionOptions,
];
