import {
  optionName,
  codedSentence,
  oneOf,
  orNull,
  type ReadOnly,
  type SentenceDefinition,
} from './sentence.js';
import { counted, grouped, startText } from './shown-numbers.js';

/** What a run waits for, does unexpectedly, or cannot know. */
export interface Notice {
  /** Its code in docs/reference/events.md: the words may change. `null` for a source's or sink's own text. */
  readonly code: string | null;
  /** The values in the sentence. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
  /** Whether it needs attention. @default false */
  readonly isWarning?: boolean;
}

/** Receives a notice, or the sentence of a source or sink without a code. */
export type OnNotice = (notice: Notice | string) => void;

interface NoticeDefinition<Fields> extends SentenceDefinition<Fields> {
  readonly isWarning?: true;
}

function define<Fields>(definition: NoticeDefinition<Fields>): NoticeDefinition<Fields> {
  return definition;
}

/** Every notice of a run, by code. */
export const notices = {
  // The input
  input_waiting: define({
    when: 'The server of the list has given nothing for some seconds: it is asked again.',
    example: {
      input: 'https://lists.example.com/contacts.csv',
      why: 'no answer within 30 s',
      attempt: 2,
      attempts: 6,
    },
    sentence: ({ input, why, attempt, attempts }) =>
      `${input}: ${why}; trying again (attempt ${attempt} of ${attempts})`,
  }),
  transcoded: define({
    when: 'The list is a text in another encoding than UTF-8.',
    example: { input: 'list.csv', encoding: 'windows-1252' },
    sentence: ({ input, encoding }) => `${input} is read as ${encoding}; a text output is UTF-8`,
  }),
  sheets_empty: define({
    when: 'Sheets that were asked for have no rows.',
    example: { input: 'list.xlsx', sheets: ['Notes'] },
    sentence: ({ input, sheets }) => `${input}: ${countedNames(sheets, 'sheet')} empty`,
  }),
  sheets_hidden: define({
    when: 'Sheets that are verified are hidden in spreadsheet programs.',
    example: { input: 'list.xlsx', sheets: ['Old'] },
    sentence: ({ input, sheets }) =>
      `${input}: ${countedNames(sheets, 'sheet')} hidden in spreadsheet programs, and verified all the same (${optionName('sheet')} names those to verify)`,
  }),
  sheets_left_out: define({
    when: 'The first of several sheets is read, and none was named.',
    example: { input: 'list.xlsx', sheet: 'Leads', others: ['Partners', 'Notes'] },
    sentence: ({ input, sheet, others }) =>
      `${input}: only the sheet ${JSON.stringify(sheet)} is verified; ${countedNames(others, 'other sheet')} not (${optionName('sheet')} names one, several with commas between them, or all)`,
  }),
  sheets_apart: define({
    when: 'Sheets with another header than the first go into outputs of their own. `sheets`: those of each output.',
    example: {
      outputs: ['out.csv', 'out-Partners.csv'],
      sheets: [['Leads', 'Customers'], ['Partners']] as readonly (readonly string[])[],
    },
    sentence: ({ outputs, sheets }) =>
      `the sheets have ${sheets.length} headers, and each gets an output of its own: ${outputs.map((output, at) => `${output} (${namedFirst(sheets[at] ?? [])})`).join(', ')}`,
  }),
  sheets_kept: define({
    when: 'The output is a workbook, and keeps the sheets of the input that were not read. `lost`: what of the sheets that were read, or of the workbook, it has not (`tables`, `drawings`, `comments`, `pivot tables`, `names`, `macros`). `moved`: sheets whose header was below other rows.',
    example: { input: 'list.xlsx', sheets: ['Notes'], lost: [] as string[], moved: [] as string[] },
    variants: [{ sheets: ['Notes', 'Old'], lost: ['tables', 'comments'] }, { moved: ['Leads'] }],
    sentence({ input, sheets, lost, moved }) {
      const without = lost.length === 0 ? '' : `; not in the output: ${lost.join(', ')}`;
      const shift =
        moved.length === 0
          ? ''
          : `; the header of ${moved.map((name) => JSON.stringify(name)).join(', ')} is in row 1 of the output: check what other sheets take from its cells`;
      return `${input}: ${countedNames(sheets, 'other sheet')} kept in the output${without}${shift}`;
    },
  }),
  sheets_not_kept: define({
    when: 'The output is a workbook, and cannot keep the sheets of the input that were not read. `references`: other sheets refer to a table or a sheet that it has not; `dates_1904`: dates count from 1904; `macros`: macro sheets; `form`: parts that Sluice cannot read; `size`: they are too large.',
    example: {
      input: 'list.xlsx',
      sheets: ['Notes'],
      why: oneOf('references', 'dates_1904', 'macros', 'form', 'size'),
    },
    variants: [
      { why: 'dates_1904' },
      { why: 'macros' },
      { why: 'form' },
      { why: 'size', sheets: ['Notes', 'Old'] },
    ],
    sentence: ({ input, sheets, why }) =>
      `${input}: ${countedNames(sheets, 'other sheet')} not in the output: ${notKept[why]}`,
  }),
  formulas_without_result: define({
    when: 'Cells of a workbook are formulas whose results it does not hold.',
    example: { input: 'list.xlsx', formulas: 12 },
    variants: [{ formulas: 1 }],
    sentence: ({ input, formulas }) =>
      `${input}: ${formulas === 1 ? '1 formula has' : `${formulas} formulas have`} no stored result, so ${formulas === 1 ? 'its cell is' : 'their cells are'} empty here: open the workbook in a spreadsheet program, save it there, and run again`,
  }),
  split_rows: define({
    when: '`--split-cells` made several rows of one. `type`: of the split cells; `null` for both.',
    example: { rows: 3, more: 4, type: orNull(oneOf('email', 'phone')) },
    variants: [{ type: 'phone' }, { type: null }],
    sentence: ({ rows, more, type }) =>
      `${counted(rows, 'row')} with several ${type === null ? 'addresses' : type === 'email' ? 'email addresses' : 'phone numbers'} in a cell: one row for each, ${counted(more, 'row')} more`,
  }),
  suppress_list: define({
    when: 'A list of `--suppress` was read.',
    example: {
      list: 'optouts.csv',
      cells: 20,
      without_country: 0,
      unread: 0,
      rows: [] as readonly number[],
    },
    variants: [{ without_country: 1 }, { without_country: 3 }],
    sentence: suppressListSentence,
  }),
  suppress_list_unread: define({
    when: 'Cells of a list of `--suppress` suppress nothing. `rows` are the first of them.',
    isWarning: true,
    example: {
      list: 'optouts.csv',
      cells: 20,
      without_country: 0,
      unread: 6,
      rows: [4, 5, 8, 9, 11] as readonly number[],
    },
    variants: [{ unread: 1, rows: [4] }],
    sentence: suppressListSentence,
  }),
  opted_out: define({
    when: 'Columns say of rows that they have opted out, and there is no `--suppress`: they are verified like all others. `of_rows` where only the first rows were looked at.',
    example: {
      columns: [{ column: 'HasOptedOutOfEmail', rows: 12 }],
      rows: 12,
      of_rows: orNull(1000),
    },
    variants: [
      {
        columns: [
          { column: 'HasOptedOutOfEmail', rows: 12 },
          { column: 'DoNotCall', rows: 7 },
        ],
        rows: 15,
        of_rows: null,
      },
      { columns: [{ column: 'HasOptedOutOfEmail', rows: 1 }], rows: 1, of_rows: null },
    ],
    sentence({ columns, rows, of_rows: of }) {
      const some =
        of === null ? counted(rows, 'row') : `${grouped(rows)} of the first ${counted(of, 'row')}`;
      const [only, ...more] = columns;
      const where =
        only && more.length === 0
          ? only.column
          : columns.map(({ column, rows: own }) => `${column} ${grouped(own)}`).join(', ');
      return `${some} ${rows === 1 ? 'has' : 'have'} opted out (${where}), and ${rows === 1 ? 'is' : 'are'} treated like all others: to leave ${rows === 1 ? 'it' : 'them'} out, save ${rows === 1 ? 'that row' : 'those rows'} as a list of ${rows === 1 ? 'its' : 'their'} own, and name it with ${optionName('suppress')}`;
    },
  }),
  other_countries: define({
    when: 'A column names other countries than the one that is given for all rows, for which all emails are verified, and by which phone numbers are read. `of_rows` where only the first rows were looked at; `unread`: rows whose cell there is no country.',
    example: {
      column: 'Country',
      rows: 172,
      of_rows: orNull(1000),
      read_as: 'DE',
      has_phones: true,
      unread: 0,
    },
    variants: [{ rows: 1, of_rows: null }, { unread: 20 }, { has_phones: false }],
    sentence({ column, rows, of_rows: of, read_as: country, has_phones: hasPhones, unread }) {
      const one = rows === 1;
      const some =
        of === null ? counted(rows, 'row') : `${grouped(rows)} of the first ${counted(of, 'row')}`;
      const [are, does] = hasPhones
        ? [
            one ? 'its phone number is read as of' : 'their phone numbers are read as of',
            'reads each by the country of its row',
          ]
        : [
            one ? 'its email is verified for' : 'their emails are verified for',
            'verifies each for the country of its row',
          ];
      return `${some} ${one ? 'has' : 'have'} another country in ${JSON.stringify(column)}, and ${are} ${country}: ${optionName('countryColumn', column)} ${does}${unread === 0 ? '' : `; correct the ${counted(unread, 'cell')} there that ${unread === 1 ? 'is no country' : 'are no countries'} first, or ${unread === 1 ? 'its row is' : 'their rows are'} not sent`}`;
    },
  }),
  damaged_names: define({
    when: 'Names of columns have the sign for broken bytes: the list may not be in UTF-8.',
    isWarning: true,
    example: { columns: ['Stra\ufffde'] },
    sentence: ({ columns }) =>
      `${columns.map((name) => JSON.stringify(name)).join(', ')}: if the list is not in UTF-8, name its encoding with ${optionName('encoding')}, such as windows-1252 or shift_jis, or the names of the added columns and other texts come out broken`,
  }),
  few_countries: define({
    when: 'Hardly a cell of the column of `--country-column` is a country: the other rows are not sent. Without `--country` the run is refused.',
    isWarning: true,
    example: { column: 'Currency', cells: 100, countries: 0 },
    sentence: ({ column, cells, countries }) =>
      `${JSON.stringify(column)}: ${grouped(countries)} of ${counted(cells, 'cell')} are countries, and the rows of the others are not sent: is it the right column (${optionName('countryColumn')})?`,
  }),
  no_calling_codes: define({
    when: 'The column of `--country-from` has no calling codes.',
    example: { column: 'mobile', cells: 100 },
    sentence: ({ column, cells }) =>
      `${column}: 0 of ${counted(cells, 'cell')} ${cells === 1 ? 'begins' : 'begin'} with a calling code (+44…, 0044…), so ${optionName('countryFrom')} finds no country: write the numbers with +, or name the column of their countries (${optionName('countryColumn')})`,
  }),

  // Credits
  emails_of_countries: define({
    when: 'Emails are in rows of several countries: each is paid for once in each of them. Of over 16,384 emails an even sample is counted. `country`: the one of most emails.',
    example: { emails: 20, country: 'US' },
    variants: [{ emails: 1 }],
    sentence: ({ emails, country }) =>
      `${counted(emails, 'email')} ${emails === 1 ? 'is' : 'are'} in rows of several countries, and paid for once in each: ${optionName('emailCountry', country)} verifies all emails for one country, and pays for each once`,
  }),
  budget_short: define({
    when: '`--max-credits` is too low for all batches of a type. `used`: what launched batches of a resumed run have cost, or may cost at most; `smallest`, `largest`: what the smallest and the largest of the others need.',
    example: {
      type: 'email',
      needed: 250,
      allowed: 20,
      used: 0,
      smallest: 100,
      largest: 150,
      exit_code: 5,
    },
    variants: [
      { smallest: 10 },
      { smallest: 10, largest: 20 },
      { used: 10 },
      { used: 10, smallest: 10, exit_code: 3 },
    ],
    sentence({ type, needed, allowed, used, smallest, largest, exit_code: code }) {
      const left = Math.max(0, allowed - used);
      if (used > 0) {
        const stops =
          smallest > left
            ? `not even the smallest batch, of ${grouped(smallest)}, fits, so the run may launch none of them and end with exit code ${code}`
            : `the run may stop before it is done, with exit code ${code}`;
        return `${counted(needed, `${type} credit`)} more ${needed === 1 ? 'is' : 'are'} needed at most, and ${grouped(used)} of the ${grouped(allowed)} that ${optionName('maxCredits')} allows are spent or reserved for launched batches: ${stops}; ${optionName('maxCredits', used + needed)} is enough`;
      }
      const outcome =
        smallest > allowed
          ? `not even the smallest batch, of ${grouped(smallest)}, fits; raise ${optionName('maxCredits')} or lower ${optionName('batchSize')}`
          : largest > allowed
            ? `the largest batch, of ${grouped(largest)}, does not fit, so the run may launch nothing and end with exit code ${code}; a lower ${optionName('batchSize')} uses more of it`
            : `the run may stop before it is done, with exit code ${code}`;
      return `${counted(needed, `${type} credit`)} ${needed === 1 ? 'is' : 'are'} needed at most, and ${optionName('maxCredits')} allows ${grouped(allowed)}: ${outcome}`;
    },
  }),
  balance_short: define({
    when: 'The account has too few credits for all batches. `fits`: whether they are enough for one.',
    example: { types: [{ type: 'email', has: 120, needed: 250, fits: true }], exit_code: 5 },
    variants: [
      {
        types: [
          { type: 'email', has: 120, needed: 250, fits: true },
          { type: 'phone', has: 0, needed: 10, fits: false },
        ],
      },
    ],
    sentence({ types, exit_code: code }) {
      const counts = types.map(
        ({ type, has, needed }) =>
          `${counted(has, `${type} credit`)} of ${grouped(needed)} needed at most`,
      );
      const large = types.flatMap(({ type, fits }) => (fits ? [] : [`${type}s`]));
      const why =
        large.length === 0
          ? ''
          : `even the smallest batch of ${large.join(' and of ')} may need more, and `;
      return `the account has ${counts.join(' and ')}: ${why}the run may stop before it is done, with exit code ${code}; add credits, or lower ${optionName('batchSize')} to use more of what there is, as a batch is launched whole or not at all`;
    },
  }),
  balance_unknown: define({
    when: 'The service does not report the credits of the account.',
    isWarning: true,
    example: { why: 'HTTP 404' },
    sentence: ({ why }) =>
      `${balanceUnknown(why)}: they may be too few. A launch that they do not pay for stops the run with exit code 5`,
  }),
  balance_not_compared: define({
    when: '`--dry-run`: the service does not report the credits of the account.',
    example: { why: 'HTTP 404' },
    sentence: ({ why }) => balanceUnknown(why),
  }),
  store_unread: define({
    when: '`--dry-run`: the store of a shared run does not answer. The credits needed are those of the whole list.',
    isWarning: true,
    example: {
      name: 'run 2026-01-30 in postgres://db.example.com/jobs',
      why: 'connect ECONNREFUSED 127.0.0.1:5432',
    },
    sentence: ({ name, why }) =>
      `cannot read ${name}, so the credits needed are those of the whole list: ${why}`,
  }),
  launches_stopped: define({
    when: 'A launch was refused, or is beyond the budget, while other batches are verified. `type` is null where it stops all.',
    isWarning: true,
    example: {
      reason: 'the account has 814 email credits, this batch needs 1,246',
      type: orNull('email'),
      running: 3,
    },
    variants: [{ type: null, running: 1 }],
    sentence: ({ reason, type, running }) =>
      `${reason}: no more ${type === null ? '' : `${type} `}batches are launched, and ${counted(running, 'batch')} that ${running === 1 ? 'is' : 'are'} paid for ${running === 1 ? 'is' : 'are'} finished first`,
  }),
  budget_changed: define({
    when: 'This process changes the budget of all that share a run; `null` is none.',
    isWarning: true,
    example: { run: 'run 2026-01-30', most: orNull(100), before: orNull(20) },
    variants: [{ most: null }],
    sentence: ({ run, most, before }) =>
      `from now on all processes of ${run} together may use ${budgetWords(most)}, in place of ${budgetWords(before)}`,
  }),
  budget_changed_elsewhere: define({
    when: 'Another process has changed the budget of all that share the run; `null` is none.',
    isWarning: true,
    example: { most: orNull(100) },
    sentence: ({ most }) =>
      `another process was started with another ${optionName('maxCredits')}: all together may use ${budgetWords(most)}`,
  }),

  // The service
  unknown_status: define({
    when: 'The service calls a batch by a word that its specification does not have. Once a word.',
    isWarning: true,
    example: { batch: 'sluice-0123456789abcdef-0-1', status: 'queued' },
    sentence: ({ batch, status }) =>
      `batch ${batch} has the unknown status '${status}': waiting for one that Sluice knows, no longer than ${optionName('batchDeadlineMs')} allows`,
  }),
  odd_status: define({
    when: 'The status of a batch has a fact that cannot be right, and the run goes on without it. `fact`: `uuid`, `group` (type or country) or `lines` (their number) are not those of the upload; `cost` is more than a credit for each address, or contradicts itself. Once a fact.',
    isWarning: true,
    example: {
      batch: 'sluice-0123456789abcdef-0-1',
      fact: oneOf('uuid', 'group', 'lines', 'cost'),
    },
    variants: [{ fact: 'group' }, { fact: 'lines' }, { fact: 'cost' }],
    sentence: ({ batch, fact }) =>
      `batch ${batch}: ${oddFacts[fact]}; ask the service's support about it`,
  }),

  // What earlier runs have left
  history_in_use: define({
    when: 'Another process uses the history: the run waits for it.',
    example: {},
    sentence: () => 'another process uses the history: waiting for it',
  }),
  history_ahead: define({
    when: 'The history has results of the days to come, by the clock of this machine: they are not used.',
    isWarning: true,
    example: { latest: '2026-11-28', now: '2025-11-28' },
    sentence: ({ latest, now }) =>
      `the history has results of ${latest}, and by the clock of this machine it is ${now}: results of the days to come are not used, and are paid for again; check the clock`,
  }),
  history_lost: define({
    when: 'The key of the history is there, and nothing of the history itself: it begins again.',
    isWarning: true,
    example: { history: 'nightly.history' },
    sentence: ({ history }) =>
      `the history ${history} is missing or empty, though its key is there: it begins again, and what it held is paid for again unless a copy of it is put back`,
  }),
  history_left_out: define({
    when: 'The run began with a history, and is resumed or joined without one.',
    isWarning: true,
    example: { history: 'nightly.history' },
    sentence: ({ history }) =>
      `the run began with the history ${history}, and this process works without it: if it ends the run, the next run pays for its addresses again; to prevent that, stop it and add ${optionName('history')} ${history}`,
  }),
  options_left_out: define({
    when: 'The run began with options that leave addresses or rows out (`--suppress`, `--keep`, `--keep-quality`, `--unique`, `--rejects`), and is resumed without them.',
    isWarning: true,
    example: { options: ['keep', 'rejects'] as readonly string[] },
    variants: [{ options: ['suppress'] }],
    sentence: ({ options }) =>
      `the run began with ${options.map((option) => optionName(option)).join(', ')} and is resumed without: what ${options.length === 1 ? 'this option' : 'these options'} would leave out is no longer left out; to keep it out, stop this run and add ${options.length === 1 ? 'it' : 'them'} again`,
  }),
  history_cut: define({
    when: 'The last write to the history was cut off, as by a power cut: all before it counts.',
    isWarning: true,
    example: { history: 'nightly.history', bytes: 1234 },
    sentence: ({ history, bytes }) =>
      `the last ${counted(bytes, 'byte')} of the history ${history} were cut off, as by a power cut or a full disk: all before is used, and what only they held is paid for again unless a copy of it is put back`,
  }),
  launched_left: define({
    when: 'An earlier stream with this history has launched batches and left them.',
    example: { batches: 3 },
    sentence: ({ batches }) =>
      `waiting for the results of ${counted(batches, 'batch')} that an earlier stream launched: they are paid for, and used from the history`,
  }),
  launched_elsewhere: define({
    when: 'A run of another list with this history has stopped, or was left, after it had launched some of these addresses.',
    example: { runs: ['leads.csv.sluice'] as readonly string[], addresses: 30 },
    sentence: ({ runs, addresses }) =>
      `${counted(addresses, 'address')} of this list ${addresses === 1 ? 'was' : 'were'} launched by a run that is not finished (${runs.join(', ')}): waiting for the results, which are paid for and used from the history`,
  }),
  launched_elsewhere_lost: define({
    when: 'What that run has launched failed, is gone from the service, or takes longer than `--batch-deadline` (`why`): this run pays for these addresses, too.',
    isWarning: true,
    example: {
      runs: ['leads.csv.sluice'] as readonly string[],
      addresses: 30,
      why: oneOf('failed', 'gone', 'late'),
    },
    variants: [{ why: 'gone' }, { why: 'late' }],
    sentence: ({ runs, addresses, why }) =>
      `what the run in ${runs.join(', ')} has launched ${whyLost[why]}: this run pays for ${counted(addresses, 'address')} of it again, at most`,
  }),
  paid_since: define({
    when: 'Since this run stopped, another with its history has paid for some of its addresses.',
    example: { addresses: 30 },
    sentence: ({ addresses }) =>
      `another run with this history has paid for ${counted(addresses, 'address')} of this list since it stopped: this run does not send ${addresses === 1 ? 'it' : 'them'}`,
  }),
  paid_since_again: define({
    when: 'The same, and the run keeps its plan: it has a budget (`--max-credits`), which a new plan would count from zero, or `--on-change stop`.',
    isWarning: true,
    example: { addresses: 30 },
    sentence: ({ addresses }) =>
      `another run with this history has paid for ${counted(addresses, 'address')} of this list since it stopped, and this run pays for ${addresses === 1 ? 'it' : 'them'} again; ${optionName('onChange')} carry leaves ${addresses === 1 ? 'it' : 'them'} out, and counts ${optionName('maxCredits')} from zero`,
  }),
  paid_since_shared: define({
    when: 'The same in a run that processes share, whose batches are planned once.',
    isWarning: true,
    example: { addresses: 30 },
    sentence: ({ addresses }) =>
      `another run with this history has paid for ${counted(addresses, 'address')} of this list since it stopped, and this run pays for ${addresses === 1 ? 'it' : 'them'} again; in its place, abandon it and verify the list under another name: what it has launched is used from the history`,
  }),
  results_owed: define({
    when: 'Results of the run before are paid for and could not be read: they are asked for again.',
    isWarning: true,
    example: { batches: 3, started_at: '2026-01-30T22:15:00.000Z' },
    sentence: ({ batches, started_at: startedAt }) =>
      `the results of ${counted(batches, 'paid batch')} of the run of ${startText(startedAt)} could not be read: asking for them again, which is free`,
  }),

  // The output
  table_locked: define({
    when: 'Another session locks the table: the run tries again. Once a minute.',
    example: { table: 'contacts', minutes: 10 },
    sentence: ({ table, minutes }) =>
      `table ${table} is locked by another session: trying again for up to ${minutes} min, without queueing for the lock`,
  }),
  lock_before_trial: define({
    when: 'Another session locks the table: the results could not be tried in it.',
    example: { table: 'contacts' },
    sentence: ({ table }) =>
      `table ${table} is locked by another session: whether it takes the results could not be tried`,
  }),
  unguarded_column: define({
    when: 'A column of the input is not in the table.',
    example: { column: 'note', table: 'contacts' },
    sentence: ({ column, table }) =>
      `column ${JSON.stringify(column)} is not in ${table}: a change of its cell while the row is verified is not noticed`,
  }),
  names_shortened: define({
    when: 'Names of columns are too long for the database.',
    example: {
      table: 'contacts',
      columns: [{ from: 'a_very_long_name_of_a_column', to: 'a_very_long_name' }],
    },
    sentence: ({ table, columns }) =>
      `names of columns that are too long are shortened in ${table}: ${columns.map(({ from, to }) => `${JSON.stringify(from)} is ${JSON.stringify(to)}`).join(', ')}`,
  }),
  float_rounded: define({
    when: 'Rows of MySQL or MariaDB have a column of `FLOAT`, which these databases print with six digits.',
    example: { column: 'ratio', table: 'contacts' },
    sentence: ({ column, table }) =>
      `column ${JSON.stringify(column)} is a FLOAT, which the server prints with six digits, and ${table} gets no more: CAST(… AS DOUBLE) in the query keeps all`,
  }),
  digits_lost: define({
    when: 'The type of a column drops zeros and a plus before digits.',
    example: { column: 'mobile', type: 'bigint' },
    sentence: ({ column, type }) =>
      `column ${JSON.stringify(column)} has the type ${type}, which makes numbers of digits: zeros and a plus in front of them are lost there; give it the type TEXT to keep them`,
  }),
  not_dropped: define({
    when: 'A writing has failed, and what it has written is still there.',
    example: { why: 'permission denied' },
    sentence: ({ why }) => `what was written could not be dropped: ${why}`,
  }),
  before_removal_failed: define({
    when: '`beforeRemoval` has failed.',
    isWarning: true,
    example: { why: 'disk full' },
    sentence: ({ why }) => `the step before the removal of the state failed: ${why}`,
  }),
};

type NoticeCode = keyof typeof notices;
type FieldsOf<Code extends NoticeCode> =
  (typeof notices)[Code] extends NoticeDefinition<infer Fields> ? ReadOnly<Fields> : never;

export function notice<Code extends NoticeCode>(code: Code, fields: FieldsOf<Code>): Notice {
  const definition = notices[code] as NoticeDefinition<unknown>;
  const { isWarning } = definition;
  return { ...codedSentence(code, definition, fields), ...(isWarning && { isWarning }) };
}

/** A notice in either form. */
export function noticeOf(given: Notice | string): Notice {
  return typeof given === 'string' ? { code: null, fields: {}, message: given } : given;
}

function suppressListSentence({
  list,
  cells,
  without_country: without,
  unread,
  rows,
}: {
  readonly list: string;
  readonly cells: number;
  /** Those that are numbers without a calling code, where no country is given for them. */
  readonly without_country: number;
  readonly unread: number;
  readonly rows: readonly number[];
}): string {
  const holds = `never sent: the addresses and domains in ${counted(cells, 'cell')} of ${list}`;
  const ofRows =
    without === 1
      ? '1 phone number has no calling code, and is never sent where the country of a row makes it the same'
      : `${counted(without, 'phone number')} have no calling code, and are never sent where the country of a row makes them the same`;
  const numbers = `row${rows.length === 1 ? '' : 's'} ${rows.map(grouped).join(', ')}${unread > rows.length ? ', …' : ''}`;
  const rest =
    unread === 1
      ? `1 cell (${numbers}) holds no email address, domain or phone number, and suppresses nothing`
      : `${counted(unread, 'cell')} (${numbers}) hold no email address, domain or phone number, and suppress nothing`;
  return [holds, ...(without > 0 ? [ofRows] : []), ...(unread > 0 ? [rest] : [])].join('; ');
}

const mostNamed = 10;

const oddFacts = {
  uuid: 'its status has the batch_uuid of another batch',
  group: 'its status has another type or country than the upload',
  lines: 'its status counts more or fewer lines than the upload has',
  cost: 'its cost is more than a credit for each address, or contradicts itself',
} as const;

const whyLost = {
  failed: 'failed',
  gone: 'is gone from the service',
  late: 'is not verified in time',
} as const;

const notKept = {
  references: 'a formula or pivot table refers to a table or a sheet that the output does not have',
  dates_1904: 'the dates of the workbook count from 1904',
  macros: 'a workbook with macro sheets needs macros',
  form: 'Sluice cannot read all parts of the workbook',
  size: 'the workbook is too large',
} as const;

/** `2 sheets ("Notes", "Old") are` */
function countedNames(names: readonly string[], what: string): string {
  return `${counted(names.length, what)} (${namedFirst(names)}) ${names.length === 1 ? 'is' : 'are'}`;
}

function namedFirst(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed).map((name) => JSON.stringify(name));
  return `${shown.join(', ')}${names.length > mostNamed ? ', …' : ''}`;
}

function balanceUnknown(why: string): string {
  return `the service does not report the account's credits (${why})`;
}

/** The common budget of a shared run. */
function budgetWords(most: number | null): string {
  return most === null ? 'as many credits as it takes' : `${counted(most, 'credit')} of each type`;
}
