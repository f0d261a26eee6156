import type { ForeignNumbers } from '../../engine/columns/column-profile.js';
import type { MisreadNumbers } from '../../engine/columns/country-fit.js';
import type { CountryProblems } from '../../engine/summary/figures.js';
import {
  optionName,
  defineSentence as define,
  oneOf,
  orNull,
  type ReadOnly,
  codedSentence,
  type SentenceDefinition,
} from '../../platform/text/sentence.js';
import { shellQuote } from '../../platform/text/printable.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import {
  foreignNumbersSentence,
  emailCountrySentence,
  keepOptions,
  missingCountrySentence,
  missingDigitsSentence,
  missingPlusSentence,
  misreadNumbersSentence,
  unknownCountrySentence,
  noTextSentence,
} from './list-sentences.js';
import { conditionOfCredits, conditionWords, retryWords } from './run-sentences.js';

/** Something to do about a run or a list. */
export interface Advice {
  /** Its code in docs/reference/events.md: the words may change. */
  readonly code: string;
  /** The values in the sentence. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** An example. */
export const misreadNumbers: MisreadNumbers = {
  cells: 35,
  of: 60,
  read_as: 'AT',
  given_by: 'country',
  fitting: [{ country: 'DE', cells: 59 }],
};
export const foreignNumbers: ForeignNumbers = {
  cells: 30,
  of: 40,
  national: 10,
  read_as: 'DE',
  countries: [{ country: 'AT', cells: 30 }],
};
const misspeltCountry = { value: 'Germny', rows: 23, first_row: 5, guess: 'Germany', code: 'DE' };
const otherCountry = { value: 'Frankreihc', rows: 1, first_row: 17, guess: null, code: null };
const retry = { exports: 0, addresses: 12, paid_twice: 0 };

function startsOver(): string {
  return `the next run starts over, and pays again for all that no ${optionName('history')} keeps`;
}

export const adviceCatalogue = {
  // For whoever runs it
  run_again: define({
    when: 'Addresses are not finished: the same command goes on. `stopped_by` is the [error code](../when-it-stops.md#error-codes) of what stopped it.',
    example: { stopped_by: orNull('budget_exhausted') },
    variants: [{ stopped_by: 'payment_required' }, { stopped_by: null }],
    sentence({ stopped_by: stoppedBy }) {
      const condition = conditionOfCredits(stoppedBy);
      const again = 'run the same command again: it goes on and completes the output';
      return condition === undefined ? again : `${conditionWords(condition)}, ${again}`;
    },
  }),
  retry_failed: define({
    when: 'Batches have failed: they can be sent again.',
    example: { ...retry, is_shared: false },
    variants: [{ paid_twice: 12 }, { is_shared: true }],
    sentence: ({ is_shared: isShared, ...failed }) =>
      `add ${optionName('retryFailed')}: it ${retryWords(failed)}; without it ${isShared ? 'this run stays finished' : startsOver()}`,
  }),
  fetch_paid: define({
    when: 'Batches have failed of which some are paid for: their results can be fetched again.',
    example: { ...retry, exports: 3 },
    variants: [{ addresses: 0 }, { exports: 0 }, { exports: 0, addresses: 0 }],
    sentence(failed) {
      const { exports, addresses } = failed;
      const earlier = exports > 0 ? [] : ['fetches paid exports of earlier runs again (free)'];
      const rest = exports + addresses > 0 ? [retryWords(failed)] : [];
      return `run the same command again: it ${[...earlier, ...rest].join(', ')}`;
    },
  }),
  start_over: define({
    when: 'Too many verdicts are unknown.',
    example: { has_history: false },
    variants: [{ has_history: true }],
    sentence: ({ has_history: hasHistory }) =>
      hasHistory
        ? 'the next run starts over, and pays only for what the history does not keep'
        : startsOver(),
  }),
  name_another_run: define({
    when: 'Too many verdicts are unknown, in a run of a store.',
    example: {},
    sentence: () =>
      `give the next run another ${optionName('run')} name (this one stays finished): it pays again for all that no ${optionName('history')} keeps`,
  }),
  fewer_rows: define({
    when: 'The list has no rows, or fewer than half of those `before`. Commands say it as the event `fewer_rows`.',
    example: { rows: 40, before: orNull(281) },
    variants: [{ rows: 0 }, { rows: 0, before: null }],
    sentence({ rows, before }) {
      const remedy = 'check what makes the list, then run again';
      if (rows > 0) {
        return `the list has ${counted(rows, 'row')} and had ${grouped(before ?? 0)} in the run before: ${remedy}`;
      }
      return before === null
        ? `the list has no rows, and the output that it replaced was longer: ${remedy}`
        : `the list has no rows and had ${grouped(before)} in an earlier run: ${remedy}`;
    },
  }),
  rows_changed: define({
    when: 'Rows of a table have changed while they were verified.',
    example: { rows: 2, has_history: true },
    variants: [{ has_history: false }],
    sentence({ rows, has_history: hasHistory }) {
      const changed = `the rows that changed meanwhile (${grouped(rows)})`;
      return hasHistory
        ? `run again to verify ${changed}`
        : `verify ${changed} with a query for these rows alone; with ${optionName('history')} from the first run on, the same command pays only for what changed`;
    },
  }),
  no_row_kept: define({
    when: '`--keep` or `--keep-quality` leaves no row. `has_unknown`: whether there are some that are not known.',
    example: { has_unknown: false, left_out_by: ['keep'] as readonly string[] },
    variants: [{ has_unknown: true }, { left_out_by: ['keep', 'keepQuality'] }],
    sentence({ has_unknown: hasUnknown, left_out_by: by }) {
      const more = hasUnknown
        ? `; with ${optionName('keep')} valid,unknown the unknown rows are kept, too`
        : '';
      return `no row is kept: none has what ${keepOptions(by)} asks for${more}`;
    },
  }),
  valid_left_out: define({
    when: '`--keep` or `--split-by` has rows not among the valid ones although one of their columns is valid.',
    example: { columns: [{ column: 'email', rows: 120 }] },
    variants: [
      {
        columns: [
          { column: 'Mobil nr', rows: 1 },
          { column: 'email', rows: 1 },
        ],
      },
    ],
    sentence({ columns }) {
      const counts = columns.map(({ column, rows }, at) => {
        const are =
          at > 0
            ? grouped(rows)
            : `${counted(rows, 'row')} ${rows === 1 ? 'is' : 'are'} not among the valid ones`;
        return `${are} although ${column} is valid`;
      });
      const most = columns[0]?.column ?? '';
      return `${counts.join(', ')}: another verified column is not, or is empty; with ${optionName('keep')} ${shellQuote(`${most}=valid`)} only ${most} counts`;
    },
  }),
  another_run_pays: define({
    when: 'No history, and there is something to put right, or the rows went into a table by key.',
    example: { addresses: 250 },
    variants: [{ addresses: 1 }],
    sentence: ({ addresses }) =>
      `another run pays for ${addresses === 1 ? 'the address' : `all ${grouped(addresses)} addresses`} again: no ${optionName('history')} kept these results`,
  }),

  // To correct in the list
  missing_digits: define({
    when: 'A spreadsheet has written numbers as `4.91702E+11`.',
    example: { column: 'mobile', cells: 12 },
    variants: [{ cells: 1 }],
    sentence: ({ column, cells }) => missingDigitsSentence(cells, column),
  }),
  no_text: define({
    when: 'Cells are not text in the encoding of the list.',
    example: { input: 'list.csv', cells: 12 },
    variants: [{ cells: 1 }, { input: 'list.jsonl' }],
    sentence: ({ input, cells }) => noTextSentence(cells, input),
  }),
  no_country: define<Pick<CountryProblems, 'missing' | 'calling_codes'>>({
    when: 'Rows have no country, and were not sent.',
    example: { missing: 19, calling_codes: undefined },
    variants: [
      { missing: 1 },
      { calling_codes: { column: 'mobile no', rows: 7 } },
      { calling_codes: { column: 'mobile', rows: 19 } },
      { missing: 1, calling_codes: { column: 'mobile', rows: 1 } },
    ],
    sentence: (countries) => missingCountrySentence(countries, true),
  }),
  country_not_understood: define<CountryProblems & { readonly emails: number }>({
    when: 'Rows have a country that is not understood, `emails` of them with an email that was not sent. `values` are masked where they may be personal data.',
    example: {
      column: 'Land',
      missing: 0,
      not_understood: 23,
      no_text: 0,
      looks_like_countries: true,
      values: [misspeltCountry],
      emails: 0,
    },
    variants: [
      { emails: 20 },
      { not_understood: 31, values: [misspeltCountry, { ...otherCountry, rows: 5 }] },
      { not_understood: 24, values: [misspeltCountry, otherCountry] },
      { not_understood: 1, values: [{ ...otherCountry, value: '••••••' }] },
      {
        not_understood: 3,
        values: [
          { ...otherCountry, value: '••••••' },
          { ...otherCountry, value: '••••••', rows: 2, first_row: 40 },
        ],
      },
      { looks_like_countries: false, values: [{ ...otherCountry, value: '••••', rows: 23 }] },
      { no_text: 23, values: [] },
      { not_understood: 25, no_text: 2 },
      { column: null },
    ],
    sentence(countries) {
      const { column, not_understood: unknown, no_text: noText } = countries;
      const fix = countries.looks_like_countries
        ? 'correct these cells'
        : `check ${optionName('countryColumn')}`;
      const cure = noText === unknown ? '' : `: ${fix}`;
      return `${unknownCountrySentence(countries, 3)}${column === null ? '' : cure}${emailCountrySentence(countries.emails)}`;
    },
  }),
  not_one_address: define({
    when: 'Cells are more than one plain address.',
    example: {
      column: 'email',
      type: 'email',
      forms: [
        {
          form: oneOf('mailto', 'tel', 'named', 'several', 'unsplit', 'beside', 'extension'),
          cells: 12,
          with_comma: 0,
        },
      ],
    },
    variants: [
      {
        forms: [
          { form: 'mailto', cells: 1, with_comma: 1 },
          { form: 'named', cells: 2, with_comma: 2 },
          { form: 'several', cells: 11, with_comma: 8 },
        ],
      },
      { column: 'tel', type: 'phone', forms: [{ form: 'unsplit', cells: 1, with_comma: 0 }] },
    ],
    sentence({ column, type, forms }) {
      const shown = forms.map(({ form, cells, with_comma: withComma }) => {
        const some =
          cells === 1 ? '' : `${withComma === cells ? 'all' : grouped(withComma)} of them `;
        const text =
          type === 'phone' ? formWords[form].replace('address', 'number') : formWords[form];
        const notes = [
          ...(withComma === 0 ? [] : [`${some}with a comma`]),
          ...(form === 'several' ? [`${optionName('splitCells')} makes a row of each`] : []),
          ...(form === 'mailto' || form === 'named' || form === 'tel'
            ? [`${optionName('splitCells')} takes it out`]
            : []),
        ];
        return `${grouped(cells)} ${text}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
      });
      return `${column}: ${shown.join(', ')}: leave only ${type === 'email' ? 'the email address' : 'one number'} in the cell`;
    },
  }),
  no_at: define({
    when: 'Cells of a column of emails have no @.',
    example: { column: 'email', cells: 12 },
    sentence: ({ column, cells }) =>
      `${column}: ${grouped(cells)} without an @: write the whole address`,
  }),
  header_again: define({
    when: 'Cells of a column hold its name: a second header, as where files with headers were joined.',
    example: { column: 'email', cells: 1 },
    variants: [{ cells: 2 }],
    sentence: ({ column, cells }) =>
      `${column}: ${counted(cells, 'cell')} ${cells === 1 ? 'holds' : 'hold'} the name of the column, as a second header does: give each file by its own name in place of a joined one, or delete ${cells === 1 ? 'that row' : 'those rows'}`,
  }),
  suggested: define({
    when: 'The output suggests other domains.',
    example: { column: 'email', cells: 12, suggested_in: 'email_suggestion' },
    variants: [{ cells: 1 }],
    sentence: ({ column, cells, suggested_in: suggestions }) =>
      `${column}: ${counted(cells, 'cell')} ${cells === 1 ? 'has' : 'have'} a suggestion in ${suggestions}: put what is right into ${column}`,
  }),
  misspelt_domains: define({
    when: 'Domains look misspelt. `of_rows` where only the first rows were counted.',
    example: { column: 'email', cells: 12, of_rows: orNull(1000) },
    variants: [{ cells: 1, of_rows: null }],
    sentence({ column, cells, of_rows: rows }) {
      const of = rows === null ? '' : ` of the first ${counted(rows, 'row')}`;
      return `${column}: ${counted(cells, 'cell')}${of} ${cells === 1 ? 'has' : 'have'} a domain that looks misspelt: ${optionName('suggest')} adds the likely one`;
    },
  }),
  missing_plus: define({
    when: 'Numbers may have lost the + of their calling code. `rows` are the first of them.',
    example: { column: 'mobile', cells: 3, rows: [2, 3, 4] },
    variants: [{ cells: 1, rows: [17] }, { cells: 1200 }],
    sentence: ({ column, ...numbers }) => `${column}: ${missingPlusSentence(numbers)}`,
  }),
  foreign_numbers: define<{ readonly column: string } & ForeignNumbers>({
    when: 'Numbers with a calling code are of other countries than the one that is given.',
    example: { column: 'mobile', ...foreignNumbers },
    variants: [{ national: 1 }, { national: 0 }],
    sentence: ({ column, ...numbers }) => `${column}: ${foreignNumbersSentence(column, numbers)}`,
  }),
  misread_numbers: define<
    MisreadNumbers & {
      readonly column: string;
      readonly foreign: ForeignNumbers | undefined;
    }
  >({
    when: 'Numbers without a calling code are read by one country, and far more are valid in others, first in those that other rows or calling codes have. `foreign`: the numbers with one, as in `foreign_numbers`. `given_by`: what gives them the one: `country`, `country_column`, `country_from`.',
    example: { column: 'mobile', ...misreadNumbers, foreign: undefined },
    variants: [
      { foreign: foreignNumbers },
      {
        cells: 60,
        fitting: [
          { country: 'NL', cells: 59 },
          { country: 'IT', cells: 58 },
          { country: 'FR', cells: 57 },
          { country: 'DE', cells: 55 },
        ],
      },
    ],
    sentence: ({ column, foreign, ...numbers }) =>
      `${column}: ${misreadNumbersSentence(numbers, { column, foreign })}`,
  }),
  numbers_do_not_fit: define({
    when: 'Many numbers are wrong or without a result, and those that were `examined` do not fit their country.',
    example: {
      column: 'mobile',
      cells: 1200,
      of: 5000,
      examined: 1000,
      unfit: 900,
      country: orNull('CH'),
      fitting: orNull({ country: 'DE', cells: 800 }),
    },
    variants: [{ cells: 900, examined: 900, country: null, fitting: null }],
    sentence({ column, cells, of, examined, unfit, country, fitting }) {
      const sample = examined < cells ? `${grouped(examined)} that were examined` : 'them';
      const would = fitting ? `, and ${grouped(fitting.cells)} would fit ${fitting.country}` : '';
      const cure =
        country === null
          ? 'correct the country of these rows'
          : `give each row the country of its number (${optionName('countryColumn')})`;
      return `${column}: ${grouped(cells)} of ${grouped(of)} numbers are wrong or got no result; ${grouped(unfit)} of ${sample} do not fit ${country ?? 'the country of their row'}${would}: ${cure}, or write the numbers with +`;
    },
  }),
  likely_malformed: define({
    when: 'The service gave no result for cells, and their form shows no other cause. `of`: all of this reason, some of which other advice explains.',
    example: { column: 'mobile', type: oneOf('phone', 'email'), cells: 12, of: 12 },
    variants: [{ type: 'email', cells: 1, of: 1 }, { of: 20 }],
    sentence({ column, type, cells, of }) {
      // The others are in a line of their form.
      const which = of > cells ? `, ${grouped(cells)} of them` : ',';
      const complete = type === 'email' ? 'email address' : "phone number of the row's country";
      return `${column}: ${grouped(of)} got no result (reason no_record)${which} probably not a complete ${complete}: correct ${cells === 1 ? 'it' : 'them'}`;
    },
  }),
  risky: define({
    when: 'Some of the valid emails are risky or throw-away addresses, or `both`.',
    example: { valid: 200, risky: 12, disposable: 3, both: 2 },
    variants: [{ disposable: 0, both: 0 }],
    sentence({ valid, risky, disposable, both }) {
      const counts = [
        ...(risky > 0 ? [`${grouped(risky)} risky`] : []),
        ...(disposable > 0 ? [`${grouped(disposable)} throw-away`] : []),
        ...(both > 0 ? [`${grouped(both)} of them both`] : []),
      ].join(', ');
      return `of ${counted(valid, 'valid email')} ${counts}: ${optionName('keepQuality')} good writes only the good ones`;
    },
  }),

  // What only the service decides
  unknown: define({
    when: 'Verdicts are unknown.',
    example: { cells: 12, has_history: true },
    variants: [{ has_history: false }],
    sentence({ cells, has_history: hasHistory }) {
      const only = hasHistory
        ? 'the same command then pays only for these and for new addresses'
        : `a run with ${optionName('history')} keeps its results, so that the next one pays only for these and for new addresses`;
      return `${grouped(cells)} unknown: ask again tomorrow; ${only}`;
    },
  }),
  unknown_locally: define({
    when: 'Verdicts are unknown, and the local service has asked no mail server.',
    example: { cells: 12 },
    sentence: ({ cells }) =>
      `${grouped(cells)} unknown: the local service asks no mail server; for real verdicts set ${optionName('client')}`,
  }),
};

export type AdviceCode = keyof typeof adviceCatalogue;
export type AdviceFields<Code extends AdviceCode> =
  (typeof adviceCatalogue)[Code] extends SentenceDefinition<infer Fields>
    ? ReadOnly<Fields>
    : never;

export function advise<Code extends AdviceCode>(code: Code, fields: AdviceFields<Code>): Advice {
  return codedSentence(code, adviceCatalogue[code] as SentenceDefinition<unknown>, fields);
}

/** Forms of cells that are not one plain address, in the order of their listing. */
export const formWords = {
  mailto: 'as a link (mailto:)',
  tel: 'with "tel:" before the number',
  named: 'in angle brackets, as in Ada <ada@example.com>',
  several: 'with more than one address',
  unsplit: 'with more than one address of which one may be incomplete or has text beside',
  beside: 'with something beside the address',
  extension: 'with an extension',
};
