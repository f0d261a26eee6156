import { defineOptions, type NameOf, type OptionType } from '../command.js';
import {
  needsState,
  choice,
  fileFormat,
  location,
  needs,
  notWith,
  path,
  size,
  text,
  whole,
} from './option-types.js';
import { connectionOptions } from '../connect.js';
import { descriptionOption, parameterOptions } from './batch-options.js';
import { configOption } from './config-file.js';
import { engineOptions } from './engine-options.js';
import { historyOptions, storeOptions } from './store-options.js';
import { keepOptions } from './keep-options.js';
import { libraryOptionsOf } from './library-options.js';

/** A name, or a sheet's number; several with commas. */
const sheet: OptionType<string | number> = {
  shown: '<names or numbers>',
  parse: (given) => (/^[1-9]\d{0,3}$/.test(given) ? Number(given) : given),
};

/** A tab is hard to type in a shell. */
const delimiter: OptionType<string> = {
  shown: '<text>',
  parse: (given) => (given === 'tab' || given === '\\t' ? '\t' : given),
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
      decides: 'rows',
      help: 'Lines above the header, or rows of a sheet (default: auto-detected; the line is printed).',
    },
    {
      name: 'skip-footer',
      type: whole(),
      decides: 'rows',
      help: 'Lines below the last row that are not rows: totals, a copyright (default: auto-detected; how many is printed).',
    },
    {
      name: 'sheet',
      type: sheet,
      decides: 'rows',
      help: 'Sheet of an XLSX input; several as one list, with commas between them, or all (default: 1, the first).',
    },
    {
      name: 'encoding',
      type: text('<name>'),
      decides: 'rows',
      help: 'Encoding of a text: windows-1252, latin1, utf-16le, shift_jis, gb18030 or another (default: by the byte-order mark, else utf-8).',
    },
    {
      name: 'delimiter',
      type: delimiter,
      decides: 'rows',
      help: 'Field delimiter of a CSV input; tab for a tab (default: auto-detected).',
    },
    {
      name: 'quote',
      type: text('<text>'),
      decides: 'rows',
      help: 'Quote of a CSV or TSV input; none for no quoting (default: auto-detected).',
    },
    {
      name: 'escape',
      type: text('<text>'),
      decides: 'rows',
      help: 'Escape in front of a quote inside a quoted cell (default: auto-detected).',
    },
  ],
  { group: 'Input', rules: [forFileInput] },
);

const launchOptions = defineOptions([
  {
    name: 'dry-run',
    decides: 'this process',
    isCommon: true,
    help: 'Read and count only: print what would be sent and what it would cost.',
  },
  {
    name: 'preflight',
    decides: 'this process',
    rules: [needsState],
    help: "Upload the list (free), show the service's own price, and ask before anything is paid.",
  },
  {
    name: 'yes',
    decides: 'this process',
    alsoCalled: ['onDoubtfulColumns'],
    help: 'Answer yes to every question: the price of --preflight, columns or changes that look wrong, paid results to be dropped.',
  },
]);

/** The options of `sluice verify`, by group, in the order of its help. */
export const verifyOptions = [
  ...defineOptions(
    [
      {
        name: 'input-format',
        type: fileFormat,
        decides: 'rows',
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
            (name) =>
              `--${name} is for databases, and no input is one: name it by its URL, or as duckdb:<file> or sqlite:<file>`,
          ),
        ],
        help: 'Query whose rows are the input, when the input is a database.',
      },
    ],
    { group: 'Input' },
  ),
  ...formOptions,
  ...libraryOptionsOf('Columns and country'),
  ...defineOptions(
    [
      {
        name: 'output',
        short: 'o',
        type: location('<path>'),
        library: 'sink',
        isCommon: true,
        help: 'Where the rows go, with their results: a file, an s3:// URL or a database (default: -, standard output; at a terminal, a file is proposed).',
      },
      {
        name: 'output-format',
        type: fileFormat,
        decides: 'output',
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
        rules: [
          forDatabaseOutput,
          notWith(
            ['split-cells'],
            () => '--split-cells makes several rows of one, which --key would join',
          ),
        ],
        isRepeatable: true,
        help: 'Key column: existing rows of the table are updated, others inserted.',
      },
      {
        name: 'part-size',
        type: size,
        library: 'partBytes',
        rules: [forFileOutput],
        help: 'Write a folder of parts of about that size (256MB) with a manifest: gzip CSV, or --output-format.',
      },
      {
        name: 'split-by',
        type: choice('<what>', ['verdict']),
        decides: 'rows of the output',
        rules: (['part-size', 'max-unknown'] as const).map((other) =>
          notWith(
            [other],
            () => `--split-by does not go with --${other}: it writes one file for each verdict`,
          ),
        ),
        help: 'verdict: the output is a folder with a file each for valid, wrong, unknown and none.',
      },
      {
        name: 'neutralize-formulas',
        rules: [forFileOutput],
        help: 'In CSV and TSV: put an apostrophe before text from the service that a spreadsheet would run as a formula.',
      },
    ],
    { group: 'Output' },
  ),
  ...libraryOptionsOf('Output'),
  ...libraryOptionsOf('Which rows'),
  ...defineOptions(keepOptions, { group: 'Which rows' }),
  ...defineOptions([...launchOptions, ...historyOptions], { group: 'Cost and approval' }),
  ...libraryOptionsOf('Cost and approval'),
  ...defineOptions(
    [
      {
        name: 'state',
        type: path('<dir>'),
        library: 'stateDir',
        help: "State directory (default: <output>.sluice beside a file output, ./<table>.sluice for a database); with --store a folder for this process's batch files (default: the system's for temporary files).",
      },
    ],
    { group: 'Resuming' },
  ),
  ...libraryOptionsOf('Resuming'),
  ...defineOptions(storeOptions, { group: 'One run in many processes' }),
  ...defineOptions(connectionOptions, { group: 'Service and key' }),
  ...libraryOptionsOf('Batches'),
  ...defineOptions([descriptionOption, ...parameterOptions], { group: 'Batches' }),
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
        decides: 'this process',
        help: 'Print only errors and warnings.',
      },
      {
        name: 'verbose',
        short: 'v',
        decides: 'this process',
        help: 'Print what happens to every batch.',
      },
      { name: 'no-progress', decides: 'this process', help: 'Print no progress.' },
      configOption,
    ],
    { group: 'Logs, report and configuration' },
  ),
  ...defineOptions(engineOptions, {
    group: 'Live verification, with --local',
    rules: [needs(['local'], (name) => `--${name} needs --local`)],
  }),
];

export type VerifyOption = NameOf<typeof verifyOptions> | 'json-log';
