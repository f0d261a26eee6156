import { reasonWords } from '../../report/sentences/reason-words.js';

/* The tables of docs/ say the same of exit codes, environment variables and columns, and tests hold them to it. */

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
    happened: 'suspect: too many unknown, too few rows, an empty --suppress list',
    todo: 'look at <output>.suspect, or at the list',
  },
  {
    code: 75,
    happened: '--detach has sent all; or not agreed',
    todo: 'run again later to collect, or to agree',
  },
  { code: 130, happened: 'interrupted by SIGINT (Ctrl-C)', todo: 'run again' },
  { code: 143, happened: 'terminated by SIGTERM', todo: 'run again' },
] as const;

export const environmentTexts = [
  { names: 'SLUICE_BASE_URL', meaning: 'the service, unless --base-url or --local is given' },
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

/** By the column's suffix. */
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

interface HelpTopic {
  readonly name: string;
  readonly tables: readonly {
    readonly title: string;
    readonly rows: readonly (readonly [string, string])[];
  }[];
  readonly more: readonly string[];
}

export const helpTopics: readonly HelpTopic[] = [
  {
    name: 'exit-codes',
    tables: [
      {
        title: 'What a command ends with, and what to do:',
        rows: exitCodeTexts.map(({ code, happened, todo }) => [
          String(code),
          todo === 'nothing' ? happened : `${happened}: ${todo}`,
        ]),
      },
    ],
    more: ['After all but 0, 2, 3 and 8 the same command resumes.', 'More: docs/when-it-stops.md'],
  },
  {
    name: 'environment',
    tables: [
      {
        title: 'Environment variables:',
        rows: environmentTexts.map(({ names, meaning }) => [names, meaning]),
      },
    ],
    more: ['--env-file <path> reads them from a file. More: docs/command-line.md'],
  },
  {
    name: 'columns',
    tables: [
      {
        title: 'Columns added for each verified column <c>, of emails, phones or both:',
        rows: columnTexts.map(({ column, type, meaning }) => [
          `<c>_${column}`.padEnd(24) + type,
          meaning,
        ]),
      },
      {
        title: 'Reasons in <c>_reason:',
        // A getter: option names are known only when the command line runs.
        get rows() {
          return Object.entries(reasonWords).map(
            ([code, { words, meaning }]) =>
              [code, code === words ? meaning : `${words}: ${meaning}`] as const,
          );
        },
      },
    ],
    more: ['More: docs/columns.md'],
  },
  {
    name: 'resume',
    tables: [
      {
        title: 'The same command resumes a run that stopped, and pays nothing twice:',
        rows: [
          ['sluice status', 'lists the unfinished runs of this folder'],
          ['--retry-failed', 'sends again what failed in a finished run'],
          [
            '--fresh',
            'drops an unfinished run and starts over: what it has paid is paid again; a script is not asked',
          ],
          [
            'sluice abandon <state>',
            'gives it up, and what it has paid for; in a script with --yes',
          ],
        ],
      },
    ],
    more: ['More: docs/when-it-stops.md'],
  },
  {
    name: 'cost',
    tables: [
      {
        title: 'One credit for each unique address that the service verifies, per country:',
        rows: [
          ['--dry-run', 'counts what would be sent, and its cost against the balance'],
          ['--limit <n>', 'verifies only the first rows, as a trial'],
          ['--max-credits <n>', 'stops, resumable, before more are spent'],
          ['--history <file>', 'keeps results: they are not paid again'],
          ['sluice credits', 'prints the balance'],
        ],
      },
    ],
    more: ['More: docs/cost.md'],
  },
  {
    name: 'countries',
    tables: [
      {
        title: 'The service verifies each address, emails too, for a target country:',
        rows: [
          ['--country <CC>', 'of every row, or of those whose own is not known'],
          ['--country-column <column>', 'takes it row by row'],
          ['--country-from <phone column>', 'takes that of the calling code (+44…)'],
          ['--email-country <CC>', 'of all emails, whatever their row says'],
        ],
      },
    ],
    more: ['More: docs/your-list.md'],
  },
];
