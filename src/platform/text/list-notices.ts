import { optionName, defineSentence as define, oneOf, orNull } from './sentence.js';
import { counted, grouped } from './shown-numbers.js';

export const inputNotices = {
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
  not_utf8: define({
    when: 'Cells of a verified column are not text in the encoding of the list, and are not sent.',
    isWarning: true,
    example: { column: 'email', cells: 12 },
    variants: [{ cells: 1 }],
    sentence: ({ column, cells }) =>
      `column ${JSON.stringify(column)}: ${counted(cells, 'cell')} ${cells === 1 ? 'is' : 'are'} not UTF-8 text, and not sent: name the encoding of the file with ${optionName('encoding')}, such as windows-1252 or shift_jis, which many programs on Windows write`,
  }),
  sheets_empty: define({
    when: 'Sheets that were asked for have no rows.',
    example: { input: 'list.xlsx', sheets: ['Notes'] },
    sentence: ({ input, sheets }) => `${input}: ${countedNames(sheets, 'sheet')} empty`,
  }),
  sheets_joined: define({
    when: 'Sheets of the same header are one list, and one sheet of an output that is a workbook.',
    example: { input: 'list.xlsx', sheets: ['Leads', 'Old leads'] },
    sentence: ({ input, sheets }) =>
      `${input}: the rows of ${namedFirst(sheets)} are one list in this order, in the output, too`,
  }),
  sheets_hidden: define({
    when: 'Sheets that are verified are hidden in spreadsheet programs.',
    example: { input: 'list.xlsx', sheets: ['Old'] },
    sentence: ({ input, sheets }) =>
      `${input}: ${countedNames(sheets, 'sheet')} hidden in spreadsheet programs, and verified all the same (${optionName('sheet')} names those to verify)`,
  }),
  rows_hidden: define({
    isWarning: true,
    when: 'Rows of a sheet are hidden in spreadsheet programs, as by a filter: they are verified, and visible in the output.',
    example: { input: 'list.xlsx', rows: 3 },
    variants: [{ rows: 1 }],
    sentence: ({ input, rows }) =>
      `${input}: ${counted(rows, 'row')} hidden in spreadsheet programs (a filter?), and verified all the same: delete ${rows === 1 ? 'it' : 'them'}, or copy the visible rows into another sheet, to leave ${rows === 1 ? 'it' : 'them'} out`,
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
          : `; the header of ${moved.map((name) => JSON.stringify(name)).join(', ')} is in row 1 of the output, and its rows are higher than before: check formulas in other sheets that refer to them`;
      return `${input}: ${countedNames(sheets, 'other sheet')} kept in the output${without}${shift}`;
    },
  }),
  sheets_not_kept: define({
    when: 'The output is a workbook, and cannot keep the sheets of the input that were not read. `references`: other sheets refer to a table or a sheet that it has not; `dates_1904`: dates count from 1904; `macros`: macro sheets; `form`: a part is missing (such as its styles), damaged, encrypted or of Strict Open XML; `size`: they are too large.',
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
    isWarning: true,
    when: 'Cells of a workbook are formulas whose results it does not hold, or holds as 0 until they are calculated.',
    example: { input: 'list.xlsx', formulas: 12 },
    variants: [{ formulas: 1 }],
    sentence: ({ input, formulas }) =>
      `${input}: ${formulas === 1 ? '1 formula was' : `${counted(formulas, 'formula')} were`} never calculated, so ${formulas === 1 ? 'its cell is' : 'their cells are'} empty or 0 here: open the workbook in a spreadsheet program, save it there, and run again`,
  }),
  split_rows: define({
    when: '`--split-cells` made several rows of one, or took the one address out of the text around it (`bare`) or out of its list (`lists`). `type`: of the cells; `null` for both.',
    example: { rows: 3, more: 4, bare: 2, lists: 0, type: orNull(oneOf('email', 'phone')) },
    variants: [
      { type: 'phone', bare: 0 },
      { type: null, rows: 0, more: 0, bare: 1 },
      { rows: 0, more: 0, bare: 0, lists: 40 },
    ],
    sentence({ rows, more, bare, lists, type }) {
      const what =
        type === null ? 'addresses' : type === 'email' ? 'email addresses' : 'phone numbers';
      const several = `${counted(rows, 'row')} with several ${what} in a cell: one row for each, ${counted(more, 'row')} more`;
      const [one, single] = type === 'phone' ? ['a number', 'number'] : ['an address', 'address'];
      const around = `${counted(bare, 'row')} with text around ${one}: the cell holds only that`;
      const listed = `${counted(lists, 'row')} with a list of one ${single}: the cell holds only that`;
      return [
        ...(rows === 0 ? [] : [several]),
        ...(bare === 0 ? [] : [around]),
        ...(lists === 0 ? [] : [listed]),
      ].join('; ');
    },
  }),
  suppressed_beside: define({
    when: '`--split-cells` made rows of cells with an address on a list of `--suppress`. `cells`: those with the other addresses; they count as suppressed, too.',
    example: { cells: 3 },
    variants: [{ cells: 1 }],
    sentence: ({ cells }) =>
      `${counted(cells, 'cell')} with another address of somebody who is on a list of ${optionName('suppress')}: suppressed, too`,
  }),
  suppress_list: define({
    when: 'A list of `--suppress` was read. `sheets`: those of a workbook in which no column of addresses was found.',
    example: {
      list: 'optouts.csv',
      cells: 20,
      without_country: 0,
      unread: 0,
      rows: [] as readonly number[],
      sheets: [] as readonly string[],
    },
    variants: [{ without_country: 1 }, { without_country: 3 }, { sheets: ['Read me'] }],
    sentence: suppressListSentence,
  }),
  suppress_list_unread: define({
    when: 'Cells of a list of `--suppress` are no address, domain or number, or sheets of it lack the column that is named. `rows` are the first of such cells.',
    isWarning: true,
    example: {
      list: 'optouts.csv',
      cells: 20,
      without_country: 0,
      unread: 6,
      rows: [4, 5, 8, 9, 11] as readonly number[],
      sheets: [] as readonly string[],
    },
    variants: [
      { unread: 1, rows: [4] },
      { unread: 0, rows: [], sheets: ['2025', '2026'] },
    ],
    sentence: suppressListSentence,
  }),
  nothing_suppressed: define({
    when: 'All rows are read, and no address in them is in a list of `--suppress`. Lists of one line are not spoken of.',
    isWarning: true,
    example: { lists: ['optouts.csv'] as readonly string[], cells: 20 },
    variants: [{ lists: ['optouts.csv', 'bounces.csv'] }],
    sentence: ({ lists, cells }) =>
      `${lists.join(', ')}: 0 of ${counted(cells, 'cell')} are in this list, so nobody is left out: check that ${optionName('suppress')} names the right one`,
  }),
  opted_out: define({
    when: 'Columns say of rows that they have opted out, and no `--suppress` has their addresses: they are verified like all others. `type`: of the addresses that they are about; `null` where all columns are about both. `sent`: the rows that have such an address. `of_query`: whether they come from a database.',
    isWarning: true,
    example: {
      type: orNull(oneOf('email', 'phone')),
      columns: [{ column: 'HasOptedOutOfEmail', rows: 12 }],
      rows: 12,
      sent: 12,
      of_query: false,
    },
    variants: [
      {
        type: 'phone',
        columns: [{ column: 'DoNotCall', rows: 7 }],
        rows: 7,
        sent: 5,
      },
      {
        type: null,
        columns: [
          { column: 'Unsubscribed', rows: 12 },
          { column: 'Do Not Contact', rows: 7 },
        ],
        rows: 15,
        sent: 15,
      },
      { columns: [{ column: 'HasOptedOutOfEmail', rows: 1 }], rows: 1, sent: 1 },
      { of_query: true },
    ],
    sentence({ type, columns, rows, sent, of_query: isOfQuery }) {
      const one = rows === 1;
      const [only, ...more] = columns;
      const where =
        only && more.length === 0
          ? only.column
          : columns
              .map(({ column, rows: ofColumn }) => `${column} ${grouped(ofColumn)}`)
              .join(', ');
      const [ofWhat, address, what] = {
        email: [' of emails', 'an email', `only the ${one ? 'email' : 'emails'} of `],
        phone: [
          ' of calls and texts',
          'a phone number',
          `only the ${one ? 'phone number' : 'phone numbers'} of `,
        ],
        both: ['', 'an address', ''],
      }[type ?? 'both'] as [string, string, string];
      const those = sent === rows ? '' : `, ${grouped(sent)} of them with ${address} to verify`;
      const way = isOfQuery
        ? `add a condition on ${more.length === 0 ? 'that column' : 'those columns'} to ${optionName('query')} (where …)`
        : `save ${what}${one ? 'that row' : 'those rows'} as a list of ${one ? 'its' : 'their'} own, and name it with ${optionName('suppress')}`;
      return `${counted(rows, 'row')} ${one ? 'has' : 'have'} opted out${ofWhat} (${where})${those}, and ${one ? 'is' : 'are'} treated like all others: to leave ${one ? 'it' : 'them'} out, ${way}`;
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
  repeated_names: define({
    when: 'An object of JSON lines has a name twice. `line`: the first such line.',
    isWarning: true,
    example: { input: 'list.jsonl', line: 12 },
    sentence: ({ input, line }) =>
      `${input}, line ${grouped(line)}: an object has a name twice, and only the last value counts; the others are in no output but JSON lines`,
  }),
  damaged_names: define({
    when: 'Names of columns have the sign for broken bytes: the list may not be in UTF-8.',
    isWarning: true,
    example: { columns: ['Stra\ufffde'] },
    sentence: ({ columns }) =>
      `${columns.map((name) => JSON.stringify(name)).join(', ')}: if the list is not in UTF-8, name its encoding with ${optionName('encoding')}, such as windows-1252 or shift_jis, or the names of the added columns and other texts come out broken`,
  }),
  second_header: define({
    when: 'The first row has names of columns where addresses are verified, and the header above it has others. `skip_rows`: null where rows have no lines, as in JSON lines and databases.',
    isWarning: true,
    example: { names: ['email', 'phone'], skip_rows: orNull(1) },
    variants: [{ skip_rows: null }],
    sentence: ({ names, skip_rows: lines }) =>
      `the first row reads like the header (${names.map((name) => JSON.stringify(name)).join(', ')}): ${lines === null ? 'take it out of the list' : `${optionName('skipRows', lines)} takes it for that`}`,
  }),
  few_countries: define({
    when: 'Hardly a cell of the column of `--country-column` is a country: the other rows are not sent. Without `--country` the run is refused.',
    isWarning: true,
    example: { column: 'Currency', cells: 100, countries: 0 },
    sentence: ({ column, cells, countries }) =>
      `${JSON.stringify(column)}: ${grouped(countries)} of ${counted(cells, 'cell')} are countries, and the rows of the others are not sent: is it the right column (${optionName('countryColumn')})?`,
  }),
  car_codes: define({
    when: 'Cells of the column of `--country-column` are the codes of countries on cars, the most frequent first.',
    example: {
      column: 'Land',
      read: [
        { cell: 'D', country: 'DE', rows: 60 },
        { cell: 'A', country: 'AT', rows: 20 },
      ] as readonly { readonly cell: string; readonly country: string; readonly rows: number }[],
    },
    variants: [{ read: [{ cell: 'D', country: 'DE', rows: 1 }] }],
    sentence({ column, read }) {
      const each = read.map(
        ({ cell, country, rows }, at) =>
          `${cell} as ${country} (${at === 0 ? counted(rows, 'row') : grouped(rows)})`,
      );
      return `${JSON.stringify(column)}: single letters are read as the codes of countries on cars, ${each.join(', ')}: if they mean something else, name another column (${optionName('countryColumn')})`;
    },
  }),
  no_calling_codes: define({
    when: 'The column of `--country-from` has no calling codes.',
    example: { column: 'mobile', cells: 100 },
    sentence: ({ column, cells }) =>
      `${column}: 0 of ${counted(cells, 'cell')} ${cells === 1 ? 'begins' : 'begin'} with a calling code (+44…, 0044…), so ${optionName('countryFrom')} finds no country: write the numbers with +, or name the column of their countries (${optionName('countryColumn')})`,
  }),
};

export const outputNotices = {
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
  stale_rows: define({
    when: 'Rows are left out of a table that has rows, by `--key`: those of an earlier run stay.',
    isWarning: true,
    example: { table: 'mailable', options: ['keep'] as readonly string[] },
    variants: [{ options: ['keep', 'unique'] }],
    sentence: ({ table, options }) =>
      `rows that ${options.map((option) => optionName(option)).join(', ')} ${options.length === 1 ? 'leaves' : 'leave'} out are not removed from ${table}: those of an earlier run stay there, with what it wrote; empty the table before the run, or write all rows and choose in the query that uses the table, such as where email_valid`,
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
  half_character: define({
    when: 'Cells hold half of a surrogate pair, such as the first half of an emoji at which a text was cut. UTF-8 has no form for it.',
    isWarning: true,
    example: { column: 'note' },
    sentence: ({ column }) =>
      `column ${JSON.stringify(column)} holds half of a character, perhaps of an emoji at which a text was cut: the output has \ufffd in its place; JSON lines and workbooks keep it`,
  }),
  float_rounded: define({
    isWarning: true,
    when: 'Rows of MySQL or MariaDB have a column of `FLOAT`, which these databases print with six digits.',
    example: { column: 'ratio', output: 'contacts.csv' },
    sentence: ({ column, output }) =>
      `column ${JSON.stringify(column)} is a FLOAT, which the server prints with six digits, and ${output} gets no more: CAST(… AS DOUBLE) in the query keeps all`,
  }),
  digits_lost: define({
    isWarning: true,
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

function suppressListSentence({
  list,
  cells,
  without_country: without,
  unread,
  rows,
  sheets,
}: {
  readonly list: string;
  readonly cells: number;
  /** Those that are numbers without a calling code, where the list has no country for them. */
  readonly without_country: number;
  readonly unread: number;
  readonly rows: readonly number[];
  readonly sheets: readonly string[];
}): string {
  const holds = `never sent: what is in ${counted(cells, 'cell')} of ${list}`;
  const ofRows = `${counted(without, 'phone number')} ${without === 1 ? 'has' : 'have'} no calling code and no country: no number with the same digits is sent, whatever its country`;
  const numbers = `row${rows.length === 1 ? '' : 's'} ${rows.map(grouped).join(', ')}${unread > rows.length ? ', …' : ''}`;
  const rest =
    unread === 1
      ? `1 cell (${numbers}) holds no email address, domain or phone number, and suppresses at most the same text`
      : `${counted(unread, 'cell')} (${numbers}) hold no email address, domain or phone number, and suppress at most the same text`;
  const ofSheets = `not read: ${sheets.length === 1 ? 'sheet' : 'sheets'} ${sheets.map((sheet) => JSON.stringify(sheet)).join(', ')}, where no such column was found`;
  return [
    holds,
    ...(without > 0 ? [ofRows] : []),
    ...(unread > 0 ? [rest] : []),
    ...(sheets.length > 0 ? [ofSheets] : []),
  ].join('; ');
}

const mostNamed = 10;

const notKept = {
  references: 'a formula or pivot table refers to a table or a sheet that the output does not have',
  dates_1904: 'the dates of the workbook count from 1904',
  macros: 'a workbook with macro sheets needs macros',
  form: 'a part of the workbook is missing, damaged, encrypted or of Strict Open XML: open it in a spreadsheet program, save it as a plain .xlsx, and run again',
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
