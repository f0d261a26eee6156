import { foreignNumbers, misreadNumbers } from '../../report/sentences/advice-catalogue.js';
import {
  type ReadOnly,
  type SentenceDefinition,
  oneOf,
  orNull,
} from '../../platform/text/sentence.js';
import type {
  ComparedExport,
  DoubtfulColumn,
  Estimate,
  ErrorFault,
  Preflight,
} from '../../index.js';
import { shellQuote, shownCell } from '../../platform/text/printable.js';
import {
  counted,
  describeCredits,
  earlierCreditsSentence,
  grouped,
  startText,
} from '../../platform/text/shown-numbers.js';
import {
  foreignNumbersSentence,
  misreadNumbersSentence,
  unfitNumbersSentence,
  missingPlusSentence,
  oddSentence,
  percent,
  rowsSentence,
} from '../../report/sentences/list-sentences.js';
import {
  adviceOn,
  type BatchNames,
  batchName,
  costLines,
  countryLines,
  describeDifference,
  describeEstimate,
  describeUnfinished,
  describePreflight,
  emptyHistorySentence,
  firstNames,
  keptSentence,
  waitingWords,
} from './sentences.js';
import { type ColumnFigures, endLine } from './end-table.js';

/** `--quiet` leaves out `info`, not `notice`; a `warning` asks for attention. */
export type Severity = 'info' | 'notice' | 'warning' | 'error';

interface EventDefinition<in out Fields> extends Omit<SentenceDefinition<Fields>, 'sentence'> {
  readonly severity: Severity;
  readonly sentence: (fields: ReadOnly<Fields>) => string | readonly string[];
  /** What a person copies: on an unwrapped line of its own below the sentence. */
  readonly copied?: (fields: ReadOnly<Fields>) => string;
  /**
   * What a person calls it, of a warning: in the last line of a run, if that does not say it otherwise.
   * @default the words of its name
   */
  readonly called?: string | null;
  /** Its prefix at a terminal, where lines do not name the program; of an item of a list, anywhere. */
  readonly mark?: string;
}

/** Before each item of a list. */
export const listMark = '- ';

function definer(severity: Severity) {
  return <Fields>(
    definition: Omit<EventDefinition<Fields>, 'severity'>,
  ): EventDefinition<Fields> => ({ severity, ...definition });
}

const info = definer('info');
const notice = definer('notice');
const warning = definer('warning');
const error = definer('error');

const made = ({ message }: { readonly message: string }): string => message;

const status = {
  state: 'out.csv.sluice',
  started_at: '2026-01-30T22:15:00.000Z',
  batches: 18,
  done: 6,
  running: 2,
  in_doubt: 0,
  email_credits: 240000,
  phone_credits: 0,
  doubtful_email_credits: 0,
  doubtful_phone_credits: 0,
  so_far: '6 of 18 batches done, 2 being verified, at most 240,000 email credits spent',
};
const batch = { name: 'sluice-1f2e-3-1', batch_uuid: '0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10' };
const typeEstimate = {
  addresses: 255,
  from_history: 5,
  duplicates: 14,
  not_submitted: { empty: 5 },
  groups: [{ country: 'US', addresses: 250, batches: 3 }],
  credits: 250,
};
const estimate: Estimate = {
  dry_run: true,
  input: 'list.csv',
  output: 'out.csv',
  service: 'https://verify.example.com',
  rows: 281,
  email: typeEstimate,
  phone: null,
  columns: [],
  balance: { email: 1000, phone: 0 },
};

export const catalogue = {
  local_service: warning({
    when: 'No base URL is given: the local service verifies.',
    example: {},
    sentence: () =>
      'no base URL is given: the local service verifies, offline and free of charge; set SLUICE_BASE_URL and SLUICE_API_KEY for a real one',
  }),
  service_waiting: info({
    when: 'The service keeps requests waiting.',
    example: {
      host: 'verify.example.com',
      reason: orNull('HTTP 503'),
      for_seconds: 64,
      left_seconds: orNull(536),
      message: 'verify.example.com answers HTTP 503 since 1 min 4 s; gives up in 9 min',
    },
    sentence: made,
  }),
  service_back: info({
    when: 'The service takes requests again.',
    example: {
      host: 'verify.example.com',
      after_seconds: 64,
      message: 'verify.example.com takes requests again, after 1 min 4 s',
    },
    sentence: made,
  }),

  sheets: notice({
    when: 'The input is a workbook of several sheets, and none is named.',
    example: {
      sheets: [{ name: 'Leads', rows: orNull(12), holds: '12 rows, emails' }],
      more: 0,
    },
    sentence: ({ sheets, more }) =>
      `sheets: ${sheets.map(({ name, holds }) => `${JSON.stringify(name)} (${holds})`).join(', ')}${more > 0 ? `, and ${more} more` : ''}`,
  }),
  sheet: notice({
    when: 'The first sheet that has addresses is taken. `others` have addresses and columns of all these names, `apart` lack one of them.',
    example: { sheet: 'Leads', others: ['Partners'], apart: [] as string[] },
    variants: [{ others: [], apart: ['Newsletter', 'Staff'] }],
    sentence({ sheet, others, apart }) {
      const have = (names: readonly string[]): string =>
        `; ${names.map((name) => JSON.stringify(name)).join(', ')} ${names.length === 1 ? 'has' : 'have'}`;
      const together =
        others.length === 0
          ? ''
          : `${have(others)} addresses too: --sheet ${shellQuote([sheet, ...others].join(','))} verifies all in one run`;
      const each =
        apart.length === 0
          ? ''
          : `${have(apart)} addresses, but not all of these columns: run a command with ${apart.map((name) => `--sheet ${shellQuote(name)}`).join(', one with ')}`;
      return `using the sheet ${JSON.stringify(sheet)}${together}${each}`;
    },
  }),
  no_header: notice({
    when: 'The first row of the list holds addresses, and is read as one of them.',
    example: {},
    sentence: () =>
      'no header: the first row holds an email address or a phone number, so it is read as a row (--no-header: columns are #1, #2, …); if it is the header, add --skip-rows 0',
  }),
  found_encoding: notice({
    when: 'The list is not UTF-8, and is read in this encoding; `null` where it is not known.',
    example: { encoding: orNull('windows-1252') },
    variants: [{ encoding: null }],
    sentence: ({ encoding }) =>
      encoding === null
        ? 'encoding: some cells are not UTF-8 text, and their bytes are kept: name their encoding, such as --encoding shift_jis, gb18030 or windows-1251, to read and write them as text'
        : `encoding: ${encoding}, which many programs on Windows write (some cells are not UTF-8)`,
  }),
  looked: notice({
    when: 'Its columns are looked for.',
    example: { input: 'list.csv', rows: 200, is_whole: false },
    sentence: ({ input, rows, is_whole: isWhole }) =>
      `looked at ${isWhole ? 'all of' : 'the beginning of'} ${input} (${counted(rows, 'row')})`,
  }),
  found_table: notice({
    when: 'No query is given: this table of a database is read. `others`: its other tables, those with addresses first; `query`: that of the first of them.',
    example: {
      table: 'contacts',
      others: ['leads', 'orders'],
      query: orNull('select * from "leads"'),
    },
    variants: [{ others: [], query: null }, { others: ['leads'] }],
    sentence({ table, others, query }) {
      if (query === null) return `table ${table}`;
      const names = `${others.slice(0, 20).join(', ')}${others.length > 20 ? ', …' : ''}`;
      const give = others.length === 1 ? `${names} give` : `another (${names}) give its name in`;
      return `table ${table}; for ${give} --query ${shellQuote(query)}`;
    },
  }),
  found_column: notice({
    when: 'A column is taken for emails, phones or countries. `examples` is empty in a log.',
    example: { column: 'E-Mail', title: 'E-Mail', type: 'email', examples: ['ada@example.com'] },
    sentence: ({ column, title, type, examples }) =>
      onOneLine(`${type} column ${columnName(column, title)}`, examples),
  }),
  left_out_column: notice({
    when: 'A column looks like addresses or countries, and is not taken.',
    example: {
      column: 'Fax',
      title: 'Fax',
      why: oneOf('fax', 'own_people', 'lists', 'few_emails', 'few_phones', 'few_countries'),
      meant: [] as readonly { readonly cell: string; readonly code: string }[],
    },
    variants: [
      { column: 'phones', title: 'phones', why: 'lists' },
      { column: 'Notes', title: 'Notes', why: 'few_emails' },
      { column: 'Land', title: 'Land', why: 'few_countries' },
      {
        column: 'Land',
        title: 'Land',
        why: 'few_countries',
        meant: [
          { cell: 'Germny', code: 'DE' },
          { cell: 'Ausria', code: 'AT' },
        ],
      },
    ],
    sentence: ({ column, title, why, meant }) =>
      `left out: column ${columnName(column, title)} (${meant.length > 0 ? meantWords(meant) : leftOutWords[why]})`,
  }),
  column: notice({
    when: 'No column looks like addresses: each column of the list.',
    example: { column: 'id', title: 'id', examples: ['1'] },
    sentence: ({ column, title, examples }) =>
      `column ${columnName(column, title)}${shownCells(examples)}`,
  }),
  several_addresses: notice({
    when: 'Cells of a column hold several addresses, text around one (`bare`), or a list of one (`lists`): `--split-cells` is proposed.',
    example: {
      column: 'tels',
      title: 'tels',
      type: 'phone',
      cells: 1003,
      bare: 0,
      lists: 0,
      of: 1246,
      examples: ['030 12345, 030 67890'],
    },
    variants: [{ type: 'email', cells: 0, bare: 2, lists: 40, examples: [] }],
    sentence({ column, title, type, cells, bare, lists, of, examples }) {
      const what = type === 'email' ? 'email address' : 'phone number';
      const held = [
        ...(cells === 0
          ? []
          : [`${grouped(cells)} with several ${what}${type === 'email' ? 'es' : 's'}`]),
        ...(bare === 0 ? [] : [`${grouped(bare)} with text around one`]),
        ...(lists === 0 ? [] : [`${grouped(lists)} with a list of one`]),
      ];
      return `column ${columnName(column, title)}: of ${grouped(of)} cells, ${held.join(', ')}${shownCells(examples)}; --split-cells writes a row for each ${what}, and nothing else into its cell`;
    },
  }),
  found_country: notice({
    when: 'The options that say the country of each address; null where none is known.',
    example: {
      country: [['country', 'DE']] as readonly (readonly [string, string | true])[] | null,
      why: 'DE, as the calling codes of 12 of 12 numbers say',
    },
    sentence: ({ country, why }) =>
      `country: ${why}${country === null ? ' (every address needs one, emails too)' : ''}`,
  }),
  proposed_suppress: notice({
    when: 'Lists beside the input (of a database on a server: in the current folder) are named as those who have opted out, have addresses of its rows as far as that is known, and there is no `--suppress`: it is proposed.',
    example: { lists: [{ list: 'unsubscribed.csv', cells: 20 }] },
    sentence: ({ lists }) =>
      `suppress: ${lists.map(({ list }) => list).join(', ')}, by ${lists.length === 1 ? 'its name a list' : 'their names lists'} of those who have opted out`,
  }),
  suppress_unused: notice({
    when: 'Such lists have no address of the rows that are verified: they are not proposed.',
    example: { lists: [{ list: 'unsubscribed.csv', cells: 20 }] },
    sentence: ({ lists }) =>
      `not proposed, as no cell that is verified is in ${lists.length === 1 ? 'it' : 'them'}: --suppress ${lists.map(({ list, cells }) => `${list} (${counted(cells, 'cell')})`).join(', ')}`,
  }),
  suppress_beside: notice({
    when: 'Files beside the list are named as those who have opted out, there is no `--suppress`, and no addresses are found in them.',
    example: { lists: ['unsubscribed.csv'] },
    sentence: ({ lists }) =>
      `${lists.join(', ')} beside the list: ${lists.map((list) => `--suppress ${shellQuote(list)}`).join(' ')} leaves out those addresses, if they have opted out`,
  }),
  proposed_output: notice({
    when: 'No output is named: this one is proposed. `database`: where the rows come from; null for a file, or where the whole command for its table follows. `table` and `key`: of the rows, where they are known.',
    example: {
      output: 'list.verified.csv',
      exists: true,
      database: orNull('sqlite:crm.db'),
      table: orNull('contacts'),
      key: ['id'] as readonly string[],
    },
    variants: [{ table: null, key: [] }, { database: null }],
    sentence: ({ output, exists, database, table, key }) =>
      `output: ${output}${exists ? ' (exists, will be replaced)' : ''}${database === null ? '' : `; or add the results to the table: -o ${shellQuote(database)} --into ${shellQuote(table ?? 'TABLE')} ${(key.length > 0 ? key : ['COLUMN']).map((column) => `--key ${shellQuote(column)}`).join(' ')}`}`,
  }),
  proposed_history: notice({
    when: 'A history is proposed: it keeps the results, those of a trial too. `known`: of the addresses those that it has results of; of those beside the output or the list, the one with most is taken. `is_other`: it is named for another list.',
    example: { history: 'list.history', known: 600, of: 640, is_other: false },
    variants: [{ known: 0 }, { history: 'crm.history', is_other: true }],
    sentence: ({ history, known, of, is_other: isOther }) =>
      `history: ${history} (${isOther ? 'of another list; ' : ''}${known > 0 ? `it knows ${grouped(known)} of ${counted(of, 'address')}` : 'what it keeps, later runs do not pay for again'})`,
  }),
  history_not_counted: notice({
    when: 'What a history beside the output or the list knows cannot be counted.',
    example: { history: 'list.history', message: 'another process uses the history' },
    sentence: ({ history, message: why }) => `history ${history} is passed over: ${why}`,
  }),
  countries: notice({
    when: 'Rows cannot be sent for want of a country. `emails`: those of rows whose country is not understood. `is_asked`: a country for the others follows, or the question for one.',
    example: { countries: estimate.countries, emails: 0, is_asked: false },
    sentence: countryLines,
  }),
  fallback_country: notice({
    when: 'Rows without a country get this one.',
    example: { country: 'DE', why: 'from your locale (LANG=de_DE.UTF-8)' },
    sentence: ({ country, why }) => `country of rows that have none: ${country}, ${why}`,
  }),
  cost: notice({
    when: 'What a run would cost, before the question whether to start it.',
    example: estimate,
    sentence: costLines,
  }),
  command: notice({
    when: 'The whole command, with what was found.',
    example: {
      what: 'the whole command',
      command: 'sluice verify list.csv --email E-Mail --country DE -o list.verified.csv',
    },
    sentence: ({ what }) => `${what}:`,
    copied: ({ command }) => command,
  }),
  hidden_password: notice({
    when: 'The whole command leaves out what may hold a password.',
    example: { place: 'postgres://db.example.com/crm' },
    sentence: ({ place }) => `${place} is shortened, as it may hold a password: write it in full`,
  }),
  answer_refused: notice({
    when: 'An answer to a question means nothing.',
    example: { message: '"maybe" is not an answer: type y or n' },
    sentence: made,
  }),
  not_started: notice({
    when: 'A run has ended before it sent anything. `is_declined`: a person does not start the command that was shown.',
    example: { is_declined: true },
    variants: [{ is_declined: false }],
    sentence: ({ is_declined: isDeclined }) =>
      isDeclined
        ? 'stopped; nothing was sent: to start later, run the command above, or a changed one'
        : 'nothing was sent',
  }),
  doubtful_column: warning({
    when: 'Many cells of a column look wrong, lack a `+`, are numbers of other countries than the given ones, or are in the history for another country: one event for each `doubt`.',
    example: {
      column: 'mobile',
      type: 'phone',
      doubt: oneOf('malformed', 'missing_plus', 'foreign', 'unfit', 'misread', 'paid_abroad'),
      filled: 100,
      malformed: 60,
      others: 3,
      ambiguous: 0,
      rows: [] as readonly number[],
      examples: [] as readonly string[],
      needs_plus: false,
      ambiguous_country: undefined as string | undefined,
      foreign: undefined as Parameters<typeof foreignNumbersSentence>[1] | undefined,
      unfit: undefined as Parameters<typeof unfitNumbersSentence>[0] | undefined,
      misread: undefined as Parameters<typeof misreadNumbersSentence>[0] | undefined,
      in_history: undefined as DoubtfulColumn['inHistory'],
    },
    variants: [
      { doubt: 'unfit', unfit: { cells: 12, of: 60 } },
      { doubt: 'unfit', unfit: { cells: 3, of: 3, read_as: 'DE' } },
      { doubt: 'misread', misread: misreadNumbers },
      { doubt: 'misread', misread: misreadNumbers, foreign: foreignNumbers },
      { doubt: 'misread', misread: { ...misreadNumbers, given_by: 'country_column' } },
      { doubt: 'misread', misread: { ...misreadNumbers, given_by: 'country_from' } },
      { doubt: 'paid_abroad', in_history: { country: 'US', known: 50, addresses: 50 } },
    ],
    sentence({ column, type, doubt, filled, malformed, others, ambiguous, rows, ...found }) {
      const { examples, needs_plus: needsPlus, ambiguous_country: country } = found;
      const { foreign, unfit, misread, in_history: paid } = found;
      const lost = { cells: ambiguous, of: filled, rows, examples, country, needsPlus };
      const kinds = ['email addresses', 'phone numbers'];
      const [kind, other] = type === 'email' ? kinds : kinds.toReversed();
      const alike = `, and ${grouped(others)} ${others === 1 ? 'looks' : 'look'} like ${other}`;
      const orCountry =
        type === 'phone' && others === 0 ? ', and the country that of its numbers' : '';
      const question = `; is it the right column${orCountry}?`;
      const said = {
        malformed: () =>
          `${grouped(malformed)} of ${counted(filled, 'cell')} ${malformed === 1 ? 'does' : 'do'} not look like ${kind}${others > 0 ? alike : ''}${ambiguous === 0 && !foreign ? question : ''}`,
        missing_plus: () => missingPlusSentence(lost),
        foreign: () => foreign && foreignNumbersSentence(column, foreign),
        unfit: () => unfit && unfitNumbersSentence(unfit),
        misread: () => misread && misreadNumbersSentence(misread, { column, foreign }),
        paid_abroad: () =>
          paid &&
          `the history has results of ${grouped(paid.known)} of the first ${counted(paid.addresses, 'address')} for ${paid.country}, and of none for the country of this run: all are paid for again; to use its results, name --country ${paid.country}`,
      };
      return `column ${JSON.stringify(column)}: ${said[doubt]() ?? ''}`;
    },
  }),
  hidden_results: info({
    when: 'The output has no room for results.',
    example: { output: 'out.txt' },
    sentence: ({ output }) =>
      `${output} will hold the addresses without their results: write a .csv to see them, or choose the rows with --keep valid`,
  }),
  kept_open: info({
    when: 'Existing files are more open than the input.',
    example: { paths: ['out.csv'] },
    sentence: ({ paths }) =>
      `more users may read ${paths.join(', ')} than the input, because existing files keep their permissions: close them with chmod go= ${paths.map(shellQuote).join(' ')}`,
  }),
  open_key_file: warning({
    when: 'The file of `--env-file` or `--api-key-file` has a key, and others than its owner may read it.',
    called: 'key open to others',
    example: { path: 'sluice.env' },
    sentence: ({ path }) =>
      `${path} has the key, and others may read it: chmod go= ${shellQuote(path)}`,
  }),
  streaming: info({
    when: 'The run keeps nothing that could be resumed.',
    example: { output: orNull('/dev/stdout'), loses_paid: true },
    variants: [{ output: null }, { loses_paid: false }],
    sentence: ({ output, loses_paid: losesPaid }) =>
      `streaming to ${output ?? 'standard output'}: a run that is interrupted cannot be resumed${losesPaid ? ', and the next one pays for all of it again (a file as -o resumes, --history <file> keeps the results)' : ' (with a file as -o, it can)'}`,
  }),
  trial: info({
    when: 'Only the first rows are verified, and nothing keeps their results.',
    example: { rows: 100, limit: 100 },
    sentence: ({ limit }) =>
      `verifies only the first ${counted(limit, 'row')}: add --history <file> to this command and to the one for all rows, or these rows are paid for twice`,
  }),
  estimate: notice({
    when: '`--dry-run`: what would be sent, and what it would cost.',
    example: estimate,
    sentence: describeEstimate,
  }),
  changed_cells: notice({
    when: '`--dry-run`: cells that are sent in another form. Never in a log.',
    example: { cells: [{ column: 'mobile', cell: '030 1234567', submitted: '+49301234567' }] },
    sentence: ({ cells }) =>
      `some cells are sent in another form: ${cells.map(({ column, cell, submitted }) => `${JSON.stringify(column)} ${shownCell(cell)} as ${shownCell(submitted)}`).join(', ')}`,
  }),
  unfinished_run: notice({
    when: '`--dry-run`: an unfinished run is resumed, its results are used for this list, or it stops the command.',
    example: {
      state: 'out.csv.sluice',
      started_at: status.started_at,
      action: oneOf('resume', 'carry', 'stop'),
      why: orNull('it has 31 rows now and had 30'),
      paid: orNull('20 email credits'),
      paid_addresses: orNull(20),
      used_addresses: orNull(20),
      enough_credits: orNull(200),
      next: orNull('goes on, fetches the results of 2 paid batches'),
    },
    variants: [{ enough_credits: null }],
    sentence: describeUnfinished,
  }),
  shared_run: notice({
    when: '`--dry-run`: the shared run of that name has begun, and is not finished.',
    example: {
      name: 'run 2026-01-30 in postgres://db.example.com/jobs',
      started_at: status.started_at,
      email_credits: status.email_credits,
      phone_credits: status.phone_credits,
      so_far: status.so_far,
      next: 'goes on, fetches the results of 2 paid batches and verifies 10 more (at most 10,000 email credits)',
    },
    sentence: ({ name, so_far: soFar, next }) =>
      `${name} has begun: ${soFar}; with the same list and options, this command joins it: it ${next}, and pays for none of it again`,
  }),
  paid_again: warning({
    when: 'A new run replaces an output, or updates a table that has results, and pays for its addresses again. A notice where `--yes`, `--preflight` or `--retry-failed` agrees and no `history` is named; one that is named has no results of the list, and `meant` is one with a name like it. `is_kept` where the command that is shown has a new history.',
    example: {
      output: 'out.csv',
      is_updated: false,
      addresses: 250,
      history: orNull('out.histroy'),
      meant: orNull('out.history'),
      is_kept: undefined as boolean | undefined,
    },
    variants: [
      { meant: null },
      { history: null, meant: null },
      { history: null, meant: null, is_kept: true },
    ],
    sentence({ output, is_updated: isUpdated, addresses, history, meant, is_kept: isKept }) {
      const what = `this is a new run: it ${isUpdated ? 'updates' : 'replaces'} ${output} and pays for ${addresses === 1 ? 'its 1 address' : `all ${counted(addresses, 'address')}`}`;
      if (history === null && isKept === true) return what;
      return history === null
        ? `${what}; --history <file> keeps the results, and a later run pays only for what is new`
        : `${what}. ${emptyHistorySentence(history, meant)}`;
    },
  }),
  paid_elsewhere: warning({
    when: 'An unfinished run of the list with another output has paid: this run does not use its results.',
    called: 'paid for by another run',
    example: {
      state: 'out.csv.sluice',
      output: 'out.csv',
      started_at: status.started_at,
      paid: '200 email credits',
    },
    sentence: ({ state, output, started_at: startedAt, paid }) =>
      `the run of ${startText(startedAt)} to ${output} (${state}) is unfinished and has paid ${paid} for this list, and this run pays for those addresses again: give that command again to resume it`,
  }),
  keep_needs_all: notice({
    when: '`--keep` with a list for all columns, and there are several: a cell without such a verdict leaves its row out. `empty`: the cells that are known to have none.',
    example: {
      keep: 'valid',
      columns: ['email', 'mobile'],
      empty: [{ column: 'mobile', cells: 1675 }] as readonly {
        readonly column: string;
        readonly cells: number;
      }[],
    },
    variants: [{ empty: [] }],
    sentence({ keep, columns, empty }) {
      const [first = ''] = columns;
      const counts = empty.map(
        ({ column, cells }, at) => `${grouped(cells)} ${at === 0 ? 'rows ' : ''}have no ${column}`,
      );
      const leaves =
        counts.length === 0
          ? 'an empty cell leaves its row out'
          : `${counts.join(', ')}, and are left out`;
      return `--keep ${keep} keeps a row only if ${columns.join(', ')} are all ${keep.replaceAll(',', ' or ')}: ${leaves}; with --keep ${shellQuote(`${first}=${keep}`)} only ${first} counts`;
    },
  }),

  dropped: warning({
    when: 'A run that was paid for is dropped.',
    called: 'paid run dropped',
    example: {
      by: oneOf('--fresh', 'sluice abandon'),
      started_at: status.started_at,
      is_finished: false,
      paid: '240,000 email credits',
      so_far: status.so_far,
    },
    variants: [{ by: 'sluice abandon' }, { by: 'sluice abandon', is_finished: true }],
    sentence({ by, started_at: startedAt, is_finished: isFinished, paid }) {
      const run = `run of ${startText(startedAt)}`;
      if (isFinished) {
        return `${by} drops the record of the ${run}, which is finished: the same command then pays for all of it again, except for what a --history has`;
      }
      const then =
        by === '--fresh'
          ? `this run pays for the same addresses again; without ${by} that one is resumed`
          : 'the same command then pays for them again, except for what a --history has';
      return `${by} drops the ${run}, which has spent ${paid}: ${then}`;
    },
  }),
  uploads_kept: info({
    when: 'Batches of the dropped run stay on the service.',
    example: {
      batches: 3,
      service: 'https://verify.example.com',
      why: oneOf('not_asked', 'other_service', 'other_account'),
    },
    sentence({ batches, service, why }) {
      const are = keptSentence(batches, service);
      if (why === 'other_account') return `${are}, in another account, and stay there`;
      return why === 'other_service'
        ? `${are}, and stay there`
        : `${are}, and stay there; sluice batch list shows them, sluice batch delete removes one`;
    },
  }),
  uploads_deleted: info({
    when: 'Batches of the dropped run are deleted.',
    example: { batches: 3 },
    sentence: ({ batches }) => `deleted ${counted(batches, 'batch')} of the dropped run`,
  }),
  abandoned: info({
    when: '`sluice abandon` has given a run up.',
    example: { batches: 3, state: 'out.csv.sluice' },
    sentence: ({ batches, state }) => `deleted ${counted(batches, 'batch')} and ${state}`,
  }),
  uploads_left: info({
    when: 'Batches could not be deleted.',
    example: { names: [batch.name] },
    sentence: ({ names }) => `still on the service: ${firstNames(names)}`,
  }),
  paid_uploads_kept: info({
    when: 'Batches that were paid for are not deleted.',
    example: { names: [batch.name] },
    sentence: ({ names }) => `paid, so not deleted from the service: ${firstNames(names)}`,
  }),

  carried: info({
    when: 'The list has changed, and what was paid is used.',
    example: {
      started_at: status.started_at,
      change: 'the list has 20 rows more',
      paid_batches: 3,
      used_batches: 2,
      paid_addresses: 250,
      used_addresses: 200,
      failed_addresses: 0,
      unfinished: 1,
      has_history: true,
    },
    variants: [{ has_history: false }],
    sentence(fields) {
      const { started_at: startedAt, change, unfinished } = fields;
      const { paid_addresses: paid, failed_addresses: failed } = fields;
      const used = fields.used_addresses;
      const what = `the unfinished run of ${startText(startedAt)} differs (${change})`;
      const others = fields.has_history
        ? '; the history keeps the others'
        : '; the others are lost when this run ends, unless it has --history';
      const nothing =
        failed === 0 ? 'nothing was paid for it' : 'it has no results that were paid for';
      const again =
        paid === 0
          ? nothing
          : `${grouped(used)} of ${counted(paid, 'paid address')} ${areOrIs(used)} used again, and not paid again${used < paid ? others : ''}`;
      const failures =
        failed === 0
          ? ''
          : `; its batches with ${counted(failed, 'address')} failed after they were sent, and may be paid`;
      const wait =
        unfinished === 0
          ? ''
          : `; first the run finishes ${counted(unfinished, 'batch')} that ${areOrIs(unfinished)} paid`;
      return `${what}: ${again}${failures}${wait}`;
    },
  }),
  going_on: info({
    when: 'An unfinished run is resumed, of which something was sent.',
    example: status,
    sentence: ({ started_at: startedAt, so_far: soFar }) =>
      `going on from the unfinished run of ${startText(startedAt)}: ${soFar}`,
  }),
  already_finished: warning({
    when: 'The name of a shared run had finished: nothing is done.',
    example: { name: 'run 2026-01-30 in postgres://db.example.com/jobs' },
    sentence: ({ name }) =>
      `${name} has already finished: nothing was read, sent or written. For another list, or the same list on another day, name another --run`,
  }),
  older_state: warning({
    when: 'The service has more of the run than the state, or the state is a copy.',
    called: 'state out of date',
    example: { is_copied: true, learned: [batch.name], unused: [] as readonly string[] },
    sentence({ is_copied: isCopied, learned, unused }) {
      const first = isCopied
        ? 'the state directory was copied or restored; make sure that no other process continues this run'
        : 'the service has more of this run than the state directory';
      const resumed =
        learned.length > 0
          ? [
              `resumed ${counted(learned.length, 'batch')} that another process sent or launched: ${learned.join(', ')}`,
            ]
          : [];
      const rest =
        unused.length > 0
          ? [`also launched, and left unused on the service: ${unused.join(', ')}`]
          : [];
      return [first, ...resumed, ...rest].join('; ');
    },
  }),
  header_found: info({
    when: 'A header was found below a title.',
    example: { input: 'list.csv', unit: 'line', number: 3 },
    sentence: ({ input, unit, number }) =>
      `${input}: ${unit} ${number} is read as the header, and what is above it as a title; --skip-rows ${number - 1} confirms this, --skip-rows 0 reads the first ${unit} as the header`,
  }),
  footer_found: info({
    when: 'Lines below the last row were taken for a footer. `first`: of a sheet, the number of its first row; no output has it. Lines are in an output of all rows in the same format.',
    example: { input: 'list.csv', unit: 'line', count: 2, first: undefined as number | undefined },
    variants: [{ input: 'list.xlsx', unit: 'row', first: 83 }],
    sentence({ input, unit, count, first }) {
      const from =
        first === undefined ? '' : ` (row ${grouped(first)}${count > 1 ? ' and below' : ''})`;
      const left =
        first === undefined
          ? `, and only an output of all rows in the same format has ${count === 1 ? 'it' : 'them'}`
          : `, and ${areOrIs(count)} not in the output`;
      return count === 1
        ? `${input}: the last ${unit}${from} is read as a footer, not as a row${left}; --skip-footer 1 confirms this, --skip-footer 0 reads it as a row`
        : `${input}: the last ${counted(count, unit)}${from} are read as a footer, not as rows${left}; --skip-footer ${count} confirms this, --skip-footer 0 reads them as rows`;
    },
  }),
  reading: info({
    when: 'While the input is read, every five seconds at most.',
    example: { rows: 100000, addresses: 90000 },
    sentence: ({ rows, addresses }) =>
      `read ${counted(rows, 'row')}, ${counted(addresses, 'address')}`,
  }),
  read: info({
    when: 'The input is read to its end.',
    example: { rows: 281, addresses: 255, batches: 3 },
    sentence: ({ rows, addresses, batches }) =>
      `read ${counted(rows, 'row')}: ${counted(addresses, 'address')} in ${counted(batches, 'batch')}`,
  }),
  text_column: info({
    when: 'A column becomes text in the output ([kinds](kinds.md)).',
    example: { column: 'amount', kind: orNull('decimal(50,2)'), output: 'Parquet' },
    sentence: ({ column, kind, output }) =>
      `column ${JSON.stringify(column)} is written as text: ${output} cannot keep ${kind === null ? 'values of several kinds in one column' : `${kind} exactly`}`,
  }),
  notice: info({
    when: 'What the run waits for, or does in an unexpected way: which, [its `code`](#notices) says, and with it come the fields of that.',
    example: {
      code: orNull('history_in_use'),
      message: 'another process uses the history: waiting for it',
    },
    sentence: made,
  }),
  prepared: notice<Preflight>({
    when: '`--preflight`: the batches are prepared, and not launched.',
    example: {
      email: { batches: 3, addresses: 255, counts: null, credits: 255 },
      phone: null,
      balance: null,
    },
    sentence: describePreflight,
  }),
  batch: info({
    when: 'Something new is known of a batch. A warning where it fails after it was paid for.',
    called: 'paid batch failed',
    example: {
      ...batch,
      batch_uuid: orNull(batch.batch_uuid),
      type: 'email',
      country: 'US',
      addresses: 100,
      stage: 'exported',
      reason: undefined as string | undefined,
      charge: undefined as object | undefined,
      export: undefined as ComparedExport | undefined,
    },
    sentence: ({ reason, stage, addresses, export: exported, ...named }) =>
      reason === undefined
        ? `${batchName(named)}: ${stage}, ${counted(addresses, 'address')}`
        : `${batchName(named)} failed: ${reason}; ${adviceOn(reason, exported)}`,
  }),
  batches_failed: info({
    when: 'Several batches failed for one reason. A log has each of them as `batch`.',
    example: { reason: 'parse_error', batches: 4, batch_uuids: [batch.batch_uuid] },
    sentence({ reason, batches, batch_uuids: uuids }) {
      const more = batches - uuids.length;
      const names = `${uuids.join(', ')}${more > 0 ? ` and ${grouped(more)} more (--summary names all)` : ''}`;
      return `${counted(batches, 'batch')} failed: ${reason}; ${adviceOn(reason, undefined)}${uuids.length === 0 ? '' : `: ${names}`}`;
    },
  }),
  batch_waiting: info({
    when: 'A batch waits: the answers for it are not as they should be. Once a minute for each `reason`.',
    example: {
      ...batch,
      batch_uuid: orNull(batch.batch_uuid),
      stage: 'verifying',
      reason: oneOf('not_found', 'not_uploaded', 'not_prepared', 'not_launched', 'broken_export'),
    },
    sentence: ({ reason, ...named }) => `${batchName(named)} is waiting: ${waitingWords[reason]}`,
  }),
  difference: info<BatchNames & { readonly export: ComparedExport }>({
    when: 'An export differs from what the service counted. A log has it in `batch`.',
    called: 'results missing in an export',
    example: {
      ...batch,
      export: {
        counted: 100,
        named: 98,
        strangers: 0,
        conflicting: 0,
        missing: 2,
      },
    },
    sentence: ({ export: exported, ...named }) =>
      `${batchName(named)}: ${describeDifference(exported)}`,
  }),
  more_differences: info({
    when: 'More exports differ than are listed.',
    example: {},
    sentence: () => 'more exports differ: --summary and --report list them',
  }),
  progress: info({
    when: 'How far it is, every minute at most. A log has the events of batches.',
    example: {
      batches_done: 1000,
      batches: orNull(4000),
      after: '1 min, about 3 min left',
    },
    sentence: ({ batches_done: done, batches, after }) =>
      `${grouped(done)}${batches === null ? '' : ` of ${grouped(batches)}`} batches done after ${after}`,
  }),
  worker_ended: warning({
    when: 'A process of `--workers` has ended before the run.',
    called: 'worker ended early',
    example: { worker: 2, workers: 4, message: 'was ended by SIGKILL', left: 3 },
    sentence: ({ worker, workers, message, left }) =>
      `worker ${worker} of ${workers} ${message}; ${left === 1 ? 'only the first is left' : `${left} are left`}`,
  }),
  stopped: notice({
    when: '`--partial` writes what there is.',
    example: { code: 'budget_exhausted', message: 'the budget of 20 email credits is used up' },
    sentence: ({ message }) => `stopped: ${message}; unfinished addresses are written as failed`,
  }),
  left_behind: warning({
    when: 'Uploads stay on the service. Where `is_confirmed` is false, their answers were lost, and the list does not have them: a notice.',
    called: 'batches left on the service',
    example: { names: [batch.name], is_confirmed: true },
    variants: [{ is_confirmed: false }],
    sentence: ({ names, is_confirmed: isConfirmed }) =>
      isConfirmed
        ? `left on the service: ${names.join(', ')} (sluice batch list shows their ids, sluice batch delete <id> deletes one)`
        : `not in the list of the service now, and may appear later, as their uploads were not answered: ${names.join(', ')} (sluice batch list shows what is there, sluice batch delete <id> deletes one)`,
  }),
  writing: info({
    when: 'While the output is written, every minute at most.',
    example: { rows: 100000 },
    sentence: ({ rows }) => `writing: ${counted(rows, 'row')} so far`,
  }),
  written: info({
    when: 'The output is complete.',
    example: { rows: 281 },
    sentence: ({ rows }) => `the output is complete: ${counted(rows, 'row')}`,
  }),

  column_figures: info<ColumnFigures>({
    when: 'The figures of a verified column. A log has them in `finished`.',
    example: { column: 'email', figures: { rows: 281, verified: 257 } },
    sentence: endLine,
  }),
  compared: info<ComparedRuns>({
    when: 'The figures beside those of the run before. A log has them in `finished`.',
    example: {
      finished_at: '2026-01-29T22:40:00.000Z',
      types: [
        {
          type: 'email',
          more_addresses: 5,
          unknown: 0.1,
          unknown_before: 0.11,
          sent: 5,
          sent_before: 250,
        },
      ],
    },
    sentence: ({ finished_at: at, types }) =>
      `compared with the run of ${at.slice(0, 16).replace('T', ' ')} UTC: ${types.map(comparedType).join('; ')}`,
  }),
  odd_share: warning({
    when: 'A share changed unusually.',
    called: 'unusual share',
    example: {
      type: oneOf('email', 'phone'),
      share: oneOf('valid', 'wrong', 'unknown', 'new'),
      now: 0.4,
      usual: 0.8,
      allowed: 0.1,
    },
    sentence: (odd) =>
      `${oddSentence(odd)}; check the list and the service before you use the results`,
  }),
  mostly_suppressed: warning({
    when: 'Lists of `--suppress` hold over 90 % of at least 20 addresses.',
    called: 'most on a suppress list',
    example: { type: oneOf('email', 'phone'), suppressed: 280, cells: 281 },
    variants: [{ suppressed: 281 }],
    sentence: ({ type, suppressed, cells }) =>
      `${suppressed === cells ? `all ${counted(cells, type)} are` : `${grouped(suppressed)} of ${counted(cells, type)} are`} on a list of --suppress, and were not sent: is it the right list?`,
  }),
  outputs: info({
    when: 'Where the rows are. A log has it in `finished`.',
    example: {
      rows: 340,
      outputs: [
        { name: 'clean.csv', rows: 219 },
        { name: 'rejects.csv', rows: 121 },
      ],
      rows_left_out: 121,
      rows_repeated: undefined as number | undefined,
      left_out_by: undefined as readonly string[] | undefined,
      skipped_updates: undefined as { changed: number; gone: number } | undefined,
      took: undefined as string | undefined,
      is_earlier: false,
    },
    variants: [
      { rows_repeated: 20, left_out_by: ['keep', 'unique'] },
      { left_out_by: ['keepQuality'] },
    ],
    sentence: ({ took, is_earlier: isEarlier, ...rows }) =>
      `${isEarlier ? 'that run ' : ''}${rowsSentence(rows, took)}`,
  }),
  skipped_updates: warning({
    when: 'Rows of a table changed while they were verified. A log has it in `finished`.',
    called: 'rows changed meanwhile',
    example: { changed: 2, gone: 1 },
    sentence: ({ changed, gone }) =>
      `${counted(changed + gone, 'row')} got no result: ${grouped(changed)} changed and ${grouped(gone)} ${gone === 1 ? 'was' : 'were'} deleted while they were verified (--summary has their keys)`,
  }),
  credits_before: info({
    when: 'What the runs have cost that this one took over. A log has it in `finished`.',
    example: { email: 20, phone: 0 },
    sentence: earlierCreditsSentence,
  }),
  incomplete: warning({
    when: 'The run is over, and its exit code is not 0. A log has it in `finished`.',
    called: null,
    example: {
      exit_code: 3,
      reason: orNull('rows_failed'),
      message: 'the output is written, but some rows failed',
    },
    sentence: made,
  }),
  fewer_rows: warning({
    when: 'The list has no rows, or fewer than half of those before.',
    example: {
      rows: 40,
      previous: orNull(281),
      message:
        'the list has 40 rows and had 281 in the run before: check what makes the list, then run again',
    },
    sentence: made,
  }),
  next: info({
    when: 'What to do: which, [its `code`](#advice) says, and with it come the fields of that. One event for each advice; `finished` has all their sentences.',
    example: {
      code: orNull('rows_changed'),
      message: 'run again to verify the rows that changed meanwhile (2)',
    },
    sentence: made,
    mark: listMark,
  }),
  limited: info({
    when: '`--limit` has left rows.',
    example: {
      rows: 100,
      limit: 100,
      results: oneOf('lost', 'kept', 'free'),
    },
    sentence({ limit, results }) {
      const again = {
        kept: '; another run does not pay for them again',
        lost: '; another run pays for them again, as no --history keeps the results',
        free: '',
      }[results];
      return `the first ${counted(limit, 'row')} only${again}`;
    },
  }),
  finished: info<Readonly<Record<string, unknown>>>({
    when: 'The run is over: the [summary](../observability.md#the-summary), with the number of batches instead of the batches, `previous` instead of `compared`, how many `warnings` there were, and the `verdict`, which is the `message` where all is well. Only in a log.',
    example: { rows: 281, exit_code: 0 },
    sentence: () => [],
  }),
  verdict: info({
    when: 'The last line: all of a run in one. A log has it in `finished`.',
    example: { verdict: 'list.csv: 281 rows, 66 % of 276 emails valid, 250 credits, 2 warnings' },
    sentence: ({ verdict }) => verdict,
    mark: 'sluice: ',
  }),

  error: error({
    when: 'The command has failed: `code` is an [error code](../when-it-stops.md#error-codes), null for a defect and for a signal. `option` and `differs` (the flags), `file`, `line`, `rows`, `column` and `fault` are those of the [error](library.md#errors), where it has them.',
    example: {
      code: orNull('input_unreadable'),
      exit_code: 6,
      message: 'cannot read list.csv: file or folder not found [input_unreadable]',
      cause: undefined as string | undefined,
      option: undefined as string | undefined,
      differs: undefined as readonly string[] | undefined,
      file: undefined as string | undefined,
      line: undefined as number | undefined,
      rows: undefined as readonly number[] | undefined,
      column: undefined as string | undefined,
      fault: undefined as ErrorFault | undefined,
    },
    sentence: made,
    mark: 'sluice: ',
  }),
  error_cause: info({
    when: '`--verbose`: what the service answered, or the code of a database. A log has it in `error`.',
    example: { message: 'HTTP 402: Insufficient credits' },
    sentence: made,
  }),
  so_far: notice({
    when: 'A run that keeps its state has stopped.',
    example: status,
    sentence: ({ so_far: soFar }) => `so far: ${soFar}`,
  }),
  resumable: notice({
    when: 'The same: what to do. `state` is null where nothing is kept on this machine.',
    example: {
      state: orNull('out.csv.sluice'),
      message: 'run the same command again: it goes on and completes the output',
    },
    sentence: made,
  }),
  stopped_at_once: notice({
    when: 'The process was asked a second time to stop. `state` is null where it keeps none.',
    example: { is_done: false, state: orNull('out.csv.sluice') },
    variants: [{ is_done: true }, { state: null }],
    sentence({ is_done: isDone, state }) {
      if (isDone) return 'stopped at once; all was done by then';
      return state === null
        ? 'stopped at once; nothing is kept of it: the same command starts over'
        : `stopped at once; what was saved is in ${state}: the same command resumes from it`;
    },
  }),
  hint: info({
    when: 'A run was interrupted: how to show it or give it up.',
    example: { state: 'out.csv.sluice', program: 'sluice', is_paid: true },
    sentence: ({ state, program, is_paid: isPaid }) =>
      `${program} status ${shellQuote(state)} shows the run, ${program} abandon ${shellQuote(state)} gives it up${isPaid ? ', and what it has paid for' : ''}`,
  }),
  results_kept: notice({
    when: 'The output cannot be written; paid results are kept.',
    example: { state: 'out.csv.sluice' },
    sentence: ({ state }) =>
      `paid results are kept in ${state}: to write them elsewhere, add --state ${shellQuote(state)} and name another -o`,
  }),
  paid_in_vain: notice({
    when: 'A run has failed after it sent something, and streams, or its state cannot be read: what this process has launched.',
    example: { batches: 1, email_credits: 100, phone_credits: 0 },
    variants: [{ batches: 0, email_credits: 0 }],
    sentence: ({ batches, email_credits: email, phone_credits: phone }) =>
      batches === 0
        ? 'nothing was paid'
        : `paid before it stopped: at most ${describeCredits({ email, phone }) ?? '0 credits'}, for ${counted(batches, 'batch')}; the service keeps ${batches === 1 ? 'its' : 'their'} results: sluice batch list and sluice batch export show them, free of charge`,
  }),
  no_report: warning({
    when: 'A stopped run could not write its summary or report.',
    called: 'no report written',
    example: { code: orNull('output_failed'), message: 'cannot write report.html' },
    sentence: made,
  }),
  stopped_verdict: notice({
    when: 'The last line of a run that stopped, with exit code 2 except on a terminal. A log has it in `error`.',
    example: { input: 'list.csv', exit_code: 5, reason: 'payment_required' },
    variants: [
      { exit_code: 7, reason: 'store_unavailable' },
      { exit_code: 7, reason: 'store_restored' },
      { exit_code: 130, reason: 'interrupted' },
      { exit_code: 2, reason: 'unknown_column' },
    ],
    sentence({ input, exit_code: exitCode, reason }) {
      const why = storeWords[reason] ?? stopWords[exitCode] ?? 'unfinished';
      const code = why === reason ? '' : `, ${reason}`;
      return `${input}: stopped, ${why} (exit code ${exitCode}${code})`;
    },
    mark: 'sluice: ',
  }),
  process_warning: warning({
    when: 'Node.js or a package warns of something.',
    called: 'warning of Node.js',
    example: { name: 'ExperimentalWarning', message: 'SQLite is an experimental feature' },
    sentence: ({ name, message }) => `${name}: ${message}`,
  }),

  charge_in_doubt: notice({
    when: 'A single request that costs credits was interrupted after it was sent.',
    example: { operation: oneOf('verifyUnit', 'launchBatch') },
    variants: [{ operation: 'launchBatch' }],
    sentence: ({ operation }) =>
      operation === 'verifyUnit'
        ? 'the address was sent, and may have been charged: asking again may pay again'
        : 'the launch was sent, and may be paid for: look at the status of the batch before you launch it again',
  }),
  upload_in_doubt: notice({
    when: '`sluice batch upload` got no answer.',
    example: { name: 'leads-1f2e3d4c', program: 'sluice' },
    sentence: ({ name, program }) =>
      `the upload may have arrived: look for ${name} with ${program} batch list before you repeat it`,
  }),
  api_key: notice({
    when: '`sluice serve` has made a key.',
    example: { api_key: 'sk-1f2e3d4c' },
    sentence: ({ api_key: key }) => `API key (shown once): ${key}`,
  }),
  accounts_read: notice({
    when: '`sluice serve` has read its accounts again.',
    example: { accounts: 2 },
    sentence: ({ accounts }) => `accounts read again: ${accounts}`,
  }),
  accounts_refused: warning({
    when: '`sluice serve` cannot use the changed accounts.',
    example: { code: orNull('invalid_option'), message: 'accounts.json is not JSON' },
    sentence: ({ message }) => `${message}; the accounts are unchanged`,
  }),
  store_created: info({
    when: '`sluice store create` is done.',
    example: { schema: 'sluice' },
    sentence: ({ schema }) => `created the store: schema ${schema}`,
  }),
};

const leftOutWords = {
  fax: 'fax numbers; name it to verify it',
  own_people: 'of your own people; name it to verify it',
  lists: 'its cells are lists of more than addresses: write a row for each address to verify them',
  few_emails: 'few of its cells are emails; name it to verify it',
  few_phones: 'less than half of its cells are phone numbers; name it to verify it',
  few_countries: 'few of its cells are countries; --country-column uses it',
};

/** Countries in a form that only people read for sure. */
function meantWords(meant: readonly { readonly cell: string; readonly code: string }[]): string {
  const forms = meant.map(({ cell, code }) => `${code} for ${shownCell(cell)}`);
  return `to use it, write ${forms.join(', ')} in the list`;
}

/** Why a run has stopped, by the code of its error. */
const storeWords: Readonly<Record<string, string>> = {
  store_unavailable: 'the store was not reached',
  store_restored: 'the store has lost its latest entries',
};

/** The same by its exit code; 2 has the error as its last line. */
const stopWords: Readonly<Record<number, string>> = {
  1: 'a defect in Sluice',
  2: 'the command cannot begin',
  4: 'the key was refused',
  5: 'credits or budget used up',
  6: 'input or output failed',
  7: 'the service failed',
  8: 'a list is suspect, nothing was sent',
  75: 'to be run again',
  130: 'interrupted',
  143: 'terminated',
};

interface ComparedRuns {
  readonly finished_at: string;
  readonly types: readonly {
    readonly type: string;
    readonly more_addresses: number;
    /** Shares; null where nothing was verified. */
    readonly unknown: number | null;
    readonly unknown_before: number | null;
    /** Addresses that the history had no result of. */
    readonly sent: number;
    readonly sent_before: number;
  }[];
}

function comparedType({
  type,
  more_addresses: more,
  unknown,
  unknown_before: before,
  sent,
  sent_before: sentBefore,
}: ComparedRuns['types'][number]): string {
  const change =
    more === 0
      ? 'as many addresses'
      : counted(Math.abs(more), more > 0 ? 'more address' : 'fewer address');
  const share =
    unknown === null
      ? []
      : [
          `${percent(unknown)} of the verified unknown${before === null ? '' : ` (${percent(before)} before)`}`,
        ];
  return [
    `${type}: ${change}`,
    ...share,
    `${grouped(sent)} sent (${grouped(sentBefore)} before)`,
  ].join(', ');
}

function columnName(column: string, title: string): string {
  return column === title ? JSON.stringify(column) : `${column} (${JSON.stringify(title)})`;
}

function shownCells(cells: readonly string[]): string {
  return cells.length === 0 ? '' : `: ${cells.map(shownCell).join(', ')}`;
}

const lineWidth = 78;

/** With as many of the cells as fit on a line, and the first in any case. */
function onOneLine(text: string, cells: readonly string[]): string {
  const fitting = cells.findLastIndex(
    (_, last) => `${text}${shownCells(cells.slice(0, last + 1))}`.length <= lineWidth,
  );
  return text + shownCells(cells.slice(0, Math.max(fitting, 0) + 1));
}

function areOrIs(count: number): string {
  return count === 1 ? 'is' : 'are';
}

type Catalogue = typeof catalogue;
export type EventName = keyof Catalogue;
export type FieldsOf<Name extends EventName> =
  Catalogue[Name] extends EventDefinition<infer Fields> ? ReadOnly<Fields> : never;

export interface Message {
  readonly event: EventName;
  readonly severity: Severity;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function message<Name extends EventName>(
  event: Name,
  fields: FieldsOf<Name>,
  severity: Severity = catalogue[event].severity,
): Message {
  return { event, severity, fields: fields as Readonly<Record<string, unknown>> };
}

export function sentencesOf({ event, fields }: Omit<Message, 'severity'>): readonly string[] {
  const { sentence } = catalogue[event] as EventDefinition<unknown>;
  const lines = sentence(fields);
  return typeof lines === 'string' ? [lines] : lines;
}

/** What a person calls it; of a notice, of which there are many, by its code. */
export function nameOf({ event, fields: { code } }: Message): string | null {
  const { called } = catalogue[event] as EventDefinition<unknown>;
  return called !== undefined
    ? called
    : (typeof code === 'string' ? code : event).replaceAll('_', ' ');
}

/** Text that stands below a message, or before it at a terminal. */
export function formOf({ event, fields }: Message): {
  readonly copied: string | undefined;
  readonly mark: string;
} {
  const { copied, mark = '' } = catalogue[event] as EventDefinition<unknown>;
  return { copied: copied?.(fields), mark };
}
