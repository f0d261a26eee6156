import type { ColumnOptions } from '../../index.js';
import { defineOptions, type NameOf, type OptionType } from '../command.js';
import { descriptionOption, parameterOptions } from './batch-options.js';
import { configOption } from './config-file.js';
import { connectionOptions } from '../connect.js';
import { engineOptions } from './engine-options.js';
import { historyOptions } from './history-options.js';
import { keepOptions } from './keep-options.js';
import { launchOptions } from './launch-options.js';
import { needs, needsState, notWith } from './option-rules.js';
import {
  choice,
  count,
  fileFormat,
  hourMs,
  amount,
  pair,
  path,
  patience,
  percent,
  size,
  suppressList,
  text,
  whole,
} from './option-types.js';
import { notWithStore, storeOptions } from './store-options.js';

/** Its name, or its number among the sheets. */
const sheet: OptionType<string | number> = {
  shown: '<name or number>',
  parse: (given) => (/^[1-9]\d{0,3}$/.test(given) ? Number(given) : given),
};

/** A tab is hard to type in a shell. */
const delimiter: OptionType<string> = {
  shown: '<text>',
  parse: (given) => (given === 'tab' || given === '\\t' ? '\t' : given),
};

/** Names that are none, the library refuses with those that there are. */
const columnList: OptionType<NonNullable<ColumnOptions['columns']>> = {
  shown: '<list>',
  parse: (given) =>
    ['', 'none'].includes(given.trim())
      ? []
      : (given.split(',').map((name) => name.trim()) as NonNullable<ColumnOptions['columns']>),
};

const forFileInput = notWith(
  ['input is a database'],
  (name) => `--${name} is for files, and the input is a database`,
);
const forFileOutput = notWith(
  ['output is a database'],
  (name) => `--${name} is for files, and the output is a database`,
);
const forDatabaseOutput = needs(
  ['output is a database'],
  (name) => `--${name} is for databases, and no output is one`,
);

/** What form an input file has. */
export const formOptions = defineOptions(
  [
    {
      name: 'no-header',
      library: 'header',
      help: 'The input has no header: columns are #1, #2, …',
    },
    {
      name: 'skip-rows',
      type: whole(),
      help: 'Lines above the header, or rows of a sheet (default: auto-detected; the line is printed).',
    },
    {
      name: 'sheet',
      type: sheet,
      help: 'Sheet of an XLSX input (default: 1, the first).',
    },
    {
      name: 'encoding',
      type: text('<name>'),
      help: 'utf-8, utf-16le, utf-16be, latin1 or windows-1252 (default: by the byte-order mark, else utf-8).',
    },
    {
      name: 'delimiter',
      type: delimiter,
      help: 'Field delimiter of a CSV input; tab for a tab (default: auto-detected).',
    },
    {
      name: 'quote',
      type: text('<text>'),
      help: 'Quote of a CSV or TSV input; none for no quoting (default: auto-detected).',
    },
    {
      name: 'escape',
      type: text('<text>'),
      help: 'Escape in front of a quote inside a quoted cell (default: auto-detected).',
    },
  ],
  'Input',
  [forFileInput],
);

/** Whether a list has as many rows as it should. */
export const listSizeOptions = defineOptions([
  {
    name: 'min-rows',
    type: count(),
    rules: [needsState],
    help: 'If the list has fewer rows: send nothing, leave the old output, exit 8.',
  },
  {
    name: 'max-shrink',
    type: percent(),
    rules: [needsState],
    help: 'The same if the list has lost more than this share of the rows of its last run that had any (by --history, else by the old output).',
  },
]);

/** The options of `sluice verify`, in the groups and in the order in which its help shows them. */
export const verifyOptions = [
  ...defineOptions(
    [
      {
        name: 'input-format',
        type: fileFormat,
        library: 'source.format',
        rules: [forFileInput],
        help: 'csv, tsv, jsonl, txt, xlsx or parquet (default: by the file ending, else by its first bytes).',
      },
      {
        name: 'query',
        type: text('<sql>'),
        rules: [
          needs(
            ['input is a database'],
            (name) => `--${name} is for databases, and no input is one`,
          ),
        ],
        help: 'Query whose rows are the input, when the input is a database.',
      },
    ],
    'Input',
  ),
  ...formOptions,
  ...defineOptions(
    [
      {
        name: 'email',
        short: 'e',
        type: text('<column>'),
        isRepeatable: true,
        isCommon: true,
        help: 'Column of email addresses, by name or position (#3).',
      },
      {
        name: 'phone',
        short: 'p',
        type: text('<column>'),
        isRepeatable: true,
        isCommon: true,
        help: 'Column of phone numbers, by name or position (#3).',
      },
      {
        name: 'country',
        short: 'c',
        type: text('<CC>'),
        isCommon: true,
        help: 'Target country of every row, such as US.',
      },
      {
        name: 'country-column',
        type: text('<column>'),
        isCommon: true,
        help: 'Column with the country of each row. Empty cells: --country-from <phone column>, then --country.',
      },
      {
        name: 'country-from',
        type: text('<phone column>'),
        help: "Country of each row by its number's calling code (+44…, 0044…), where the country column says none; --country for the others.",
      },
      {
        name: 'email-country',
        type: text('<CC>'),
        help: 'Target country of all emails, whatever the country of their row.',
      },
      {
        name: 'prefix',
        sets: 'columns',
        type: pair('<column>=<name>'),
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
        type: path('<path>'),
        library: 'sink',
        isCommon: true,
        help: 'Where the enriched rows go: a file, an s3:// URL or a database (default: -, standard output; at a terminal, a file is proposed).',
      },
      {
        name: 'output-format',
        type: fileFormat,
        library: 'sink.format',
        rules: [forFileOutput],
        help: 'Format of the output (default: by the file ending, else csv).',
      },
      {
        name: 'into',
        type: text('<table>'),
        rules: [forDatabaseOutput],
        help: 'Table to write, when the output is a database.',
      },
      {
        name: 'key',
        type: text('<column>'),
        rules: [forDatabaseOutput],
        isRepeatable: true,
        help: 'Key column: existing rows of the table are updated, others inserted.',
      },
      {
        name: 'part-size',
        type: size(),
        library: 'partBytes',
        rules: [forFileOutput],
        help: 'Write a folder of parts of about that size (256MB) with a manifest: gzip CSV, or --output-format.',
      },
      {
        name: 'split-by',
        type: choice('<what>', ['verdict']),
        rules: (['part-size', 'max-unknown'] as const).map((other) =>
          notWith(
            [other],
            () => `--split-by does not go with --${other}: it writes one file for each verdict`,
          ),
        ),
        help: 'verdict: the output is a folder with a file each for valid, wrong, unknown and none.',
      },
      {
        name: 'columns',
        sets: 'columns',
        type: columnList,
        help: 'Which added columns are written, without their prefix, in that order: verification,valid,quality (default: all).',
      },
      {
        name: 'suggest',
        sets: 'columns',
        isCommon: true,
        help: 'Add <column>_suggestion: the domain probably meant by a misspelt one (gmial.com: gmail.com). It is never sent.',
      },
      {
        name: 'neutralize-formulas',
        rules: [forFileOutput],
        help: 'In CSV and TSV: put an apostrophe before text from the service that a spreadsheet would run as a formula.',
      },
    ],
    'Output',
  ),
  ...defineOptions(
    [
      {
        name: 'limit',
        sets: 'run',
        short: 'n',
        type: count(),
        isCommon: true,
        help: 'Only the first n rows: a trial.',
      },
      {
        name: 'split-cells',
        sets: 'run',
        rules: [
          notWith(['key'], () => '--split-cells makes several rows of one, which --key would join'),
        ],
        help: 'A verified cell with several addresses (a@x.example; b@x.example) becomes a row for each.',
      },
      {
        name: 'suppress',
        sets: 'run',
        type: suppressList,
        isRepeatable: true,
        help: 'List of addresses and domains that are never sent, such as an unsubscribe list; its column is found, or named after a #. Give it again for another.',
      },
      ...listSizeOptions,
      ...keepOptions,
    ],
    'Which rows',
  ),
  ...defineOptions(
    [
      ...launchOptions,
      {
        name: 'max-credits',
        sets: 'run',
        type: amount(),
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
        type: path('<dir>'),
        library: 'stateDir',
        help: "State directory (default: <output>.sluice beside a file output, ./<table>.sluice for a database); with --store a folder for this process's batch files (default: the system's for temporary files).",
      },
      {
        name: 'fresh',
        rules: [
          notWith(
            ['retry-failed'],
            () => '--fresh drops the run that --retry-failed continues: give one of them',
          ),
          notWithStore('another name (--run) is another run'),
          needsState,
        ],
        help: 'Drop an unfinished run found in the state directory.',
      },
      {
        name: 'on-change',
        type: choice('<way>', ['auto', 'carry', 'stop']),
        rules: [
          notWithStore('a list that has changed is another run: give it another name (--run)'),
          needsState,
        ],
        help: 'If the list of an unfinished run has changed: carry (use what was paid), stop, or auto (default: carry if at least half of it is of use).',
      },
      {
        name: 'moved',
        rules: [notWithStore('the run is not in a folder that could be moved'), needsState],
        help: 'The state directory was moved or restored, and no other process continues its run.',
      },
      {
        name: 'retry-failed',
        rules: [needsState],
        help: 'After a run that ended with 3: send only its failed addresses again.',
      },
      {
        name: 'partial',
        rules: [needsState],
        help: 'If the service or the credits stop the run: write the output, with unfinished rows as failed.',
      },
    ],
    'Going on',
  ),
  ...defineOptions(storeOptions, 'One run in many processes'),
  ...defineOptions(connectionOptions, 'Service and key'),
  ...defineOptions(
    [
      {
        name: 'batch-size',
        sets: 'run',
        type: count(),
        help: 'Most addresses in one batch (default: 50000).',
      },
      {
        name: 'concurrency',
        sets: 'run',
        type: count(),
        help: 'Most batches on the service at once (default: 4).',
      },
      {
        name: 'poll-interval',
        sets: 'run',
        type: count('<ms>'),
        library: 'pollIntervalMs',
        help: 'First wait between two status polls of a batch (default: 1000; 25 with the local service in this process).',
      },
      {
        name: 'batch-deadline',
        sets: 'run',
        type: patience('<h>', hourMs),
        library: 'batchDeadlineMs',
        help: 'Longest time of a batch in one stage, in hours (default: 24).',
      },
      {
        name: 'delete-batches',
        rules: [needsState],
        help: 'Delete each batch from the service after its results are safe on disk.',
      },
      {
        name: 'batch-name',
        sets: 'run',
        type: text('<prefix>'),
        help: 'Prefix of batch names (default: sluice).',
      },
      descriptionOption,
      ...parameterOptions,
    ],
    'Batches',
  ),
  ...defineOptions(
    [
      {
        name: 'report',
        type: path('<file.html>'),
        isCommon: true,
        help: 'Write a page about the run: verdicts, domains, operators, credits, batches over time.',
      },
      {
        name: 'summary',
        type: path('<path>'),
        help: 'Write the figures of the run as JSON (-: standard output, when the output is a file).',
      },
      {
        name: 'quiet',
        short: 'q',
        help: 'Print only errors and warnings.',
      },
      { name: 'verbose', short: 'v', help: 'Print what happens to every batch.' },
      { name: 'no-progress', help: 'Print no progress.' },
      { name: 'json-log', help: 'Print log lines as JSON, one object a line.' },
      configOption,
    ],
    'Logs, report and configuration',
  ),
  ...defineOptions(engineOptions, 'Live verification, with --local', [
    needs(['local'], (name) => `--${name} needs --local`),
  ]),
];

export type VerifyOption = NameOf<typeof verifyOptions>;
