import {
  ambiguousCountryOf,
  type ColumnProfile,
  type ForeignNumbers,
} from '../columns/column-profile.js';
import type { MisreadNumbers, UnfitNumbers } from '../columns/country-fit.js';
import type { VerificationType } from '../../contract/enums.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { countryCodes } from '../../contract/countries.js';
import { KeyHash } from '../../platform/hashing/key-hash.js';
import { type BatchGroup, groupNumber } from '../addresses/address.js';
import { OutcomeTable } from '../results/outcome-table.js';
import { findCountryInColumn } from '../addresses/country/parse-country.js';
import { addressOf } from './cell-reader.js';
import type { Plan } from './plan.js';
import type { ResultHistory } from './result-cache.js';
import { optionName } from '../../platform/text/sentence.js';
import { jqForEach } from '../../lists/jsonl/json-columns.js';
import { counted } from '../../platform/text/shown-numbers.js';
import { notice, type Notice } from '../../platform/text/notices.js';

/**
 * A column whose cells hardly look like their type, whose phone numbers may lack the `+` of a calling code,
 * or are of other countries than the given one, or than
 * those of their rows, or whose addresses a history has for another country.
 */
export interface DoubtfulColumn {
  readonly name: string;
  readonly type: VerificationType;
  /** Filled cells of the rows read so far. */
  readonly filled: number;
  /** Those of them that do not look like their type. */
  readonly malformed: number;
  /** Those of these that look like the other type. */
  readonly others: number;
  /**
   * Ambiguous phone numbers: of their row's country, or with the calling code that their digits begin with
   * (`447700900123`). They are valid with the code, and not mobile numbers of the row's country.
   */
  readonly ambiguous: number;
  /** At most three of these, masked after their first digits. */
  readonly examples: readonly string[];
  /** Row numbers of the first five: of the sheet or file where known, else counted below the header. */
  readonly ambiguousRows: readonly number[];
  /** Whether only a `+` makes them clear: their rows have countries of their own, or the one of that code. */
  readonly needsPlus: boolean;
  /** The country of nearly all of them by these calling codes, where another was given for all rows. */
  readonly ambiguousCountry?: string | undefined;
  /** Phone numbers of other countries than the given one; absent where they are few. */
  readonly foreign?: ForeignNumbers | undefined;
  /** Phone numbers without a calling code that do not look like their row's country's; absent where few. */
  readonly unfit?: UnfitNumbers | undefined;
  /** The same, where other countries fit them; absent where that of their row does. */
  readonly misread?: MisreadNumbers | undefined;
  /** Whether most of the column are such, and hardly one is of the country that is given for all. @default false */
  readonly isOfOtherCountry?: boolean | undefined;
  /**
   * A country for which the history has `known` of the first `addresses` of the type, at least half; absent where
   * it has any for the country of its row. All are paid for again.
   */
  readonly inHistory?:
    | { readonly country: string; readonly known: number; readonly addresses: number }
    | undefined;
}

/** Decides on doubtful columns. */
export interface DoubtOptions {
  /**
   * Called and awaited before anything is sent, when more than half of a column's cells do not look like
   * their type, many phone numbers may lack the `+` of a calling code (half of them, or a twentieth that
   * would be mobile numbers), more than a tenth of the calling codes are of other countries than `country`, or
   * a tenth of the numbers without one are none of their row's country (half, where `country` is that of all
   * rows; ten and a twentieth, where these are in the form of North America), or far more of these are valid in another, or the history has the addresses for another country.
   * Returns whether to continue.
   * @default the run continues
   */
  readonly onDoubtfulColumns?:
    | ((columns: readonly DoubtfulColumn[]) => boolean | Promise<boolean>)
    | undefined;
}

interface ListOptions {
  readonly history?: ResultHistory | undefined;
  readonly splitCells?: boolean | undefined;
}

function ofLists(column: string, member: string | undefined, isSplit: boolean): Error {
  const name = JSON.stringify(column);
  const [things, way] =
    member !== undefined
      ? ['objects', `write a row for each first, in JSON lines with: ${jqForEach(column, member)}`]
      : isSplit
        ? ['more than addresses', 'write each address into a row or a column of its own']
        : ['values', `${optionName('splitCells')} writes a row for each address of a list`];
  const isAsked = isSplit || member !== undefined;
  return new ConfigurationError(
    `the cells of column ${name} are lists of ${things}, and each must be one text: ${way}; nothing was sent`,
    {
      code: 'column_of_lists',
      column,
      ...(isAsked ? { fault: 'unsupported' } : { option: 'splitCells' }),
    },
  );
}

/** The doubtful columns of a plan. @throws ConfigurationError `column_of_lists` where most cells of one are lists */
export function doubtfulColumns(
  plan: Plan,
  { history, splitCells = false }: ListOptions = {},
): readonly DoubtfulColumn[] {
  for (const [index, { name }] of plan.layout.columns.entries()) {
    const { filled = 0, lists = 0, member } = plan.planner.cells.profiles[index] ?? {};
    if (lists * 2 > filled) throw ofLists(name, member, splitCells);
  }
  return plan.layout.columns.flatMap(({ name, type }, index) => {
    const profile = plan.planner.cells.profiles[index];
    if (!profile) return [];
    const { filled, malformed, others, ambiguous, examples, rows: ambiguousRows } = profile;
    const foreign = profile.callingCodes?.foreign();
    const misread = misreadNumbers(profile);
    const isExplained = malformed * 2 > filled || isPlusMissing(profile);
    const unfit = isExplained || misread ? undefined : profile.countryFit?.unfit();
    const only = profile.callingCodes?.country;
    const inHistory = history && countryInHistory(plan, history, type);
    const found = ambiguousCountryOf(profile);
    const ambiguousCountry = only === undefined || found === only ? undefined : found;
    if (!isExplained && !foreign && !unfit && !misread && !inHistory) return [];
    return [
      {
        name,
        type,
        filled,
        malformed,
        others,
        ambiguous,
        examples,
        ambiguousRows,
        needsPlus: type === 'phone' && (only === undefined || found === only),
        ...(ambiguousCountry !== undefined && { ambiguousCountry }),
        ...(foreign && { foreign }),
        ...(unfit && { unfit }),
        ...(misread && { misread }),
        ...(misread && profile.countryFit?.isOfOtherCountry && { isOfOtherCountry: true }),
        ...(inHistory && { inHistory }),
      },
    ];
  });
}

/**
 * Whether a column has more numbers without a `+` than by chance. National numbers that read as fixed ones of
 * another country are common in some places (Kiel's 0431 and Austria's +43); as mobile ones they are rare.
 */
export function isPlusMissing({
  filled,
  ambiguous,
  ambiguousMobiles: mobiles,
}: ColumnProfile): boolean {
  return ambiguous * 2 > filled || (mobiles > 1 && mobiles * 20 >= filled);
}

/** @returns `undefined` where their country fits, or digits may begin with a calling code */
export function misreadNumbers(profile: ColumnProfile): MisreadNumbers | undefined {
  return isPlusMissing(profile) ? undefined : profile.countryFit?.misread();
}

/** Of so many cells at least one in twenty should be a country. */
const judgedCells = 10;
const leastShare = 0.05;
/** `F` is a country beside `D` and `A`, and none beside `M`: so many of the single letters are. */
const leastLetters = 0.8;

/**
 * Notices about verified columns with cells that are no text, and about columns that should give countries and give
 * none, or hardly any.
 *
 * @throws ConfigurationError `country_missing` where hardly a row could be sent, and no `country` is given
 */
export function columnNotices({ layout, planner, country }: Plan): readonly Notice[] {
  const { cells, codes, letters } = planner.cells.countries;
  const { besideSuppressed } = planner.cells;
  const single = [...letters].map(([cell, rows]) => ({
    cell,
    country: findCountryInColumn(cell) ?? null,
    rows,
  }));
  const read = single.flatMap(({ country, ...each }) => (country ? [{ ...each, country }] : []));
  const ofLetters = sumOf(read);
  const found = cells.found - (ofLetters < sumOf(single) * leastLetters ? ofLetters : 0);
  const column = layout.countryName ?? '';
  // Emails may have a country of their own.
  const isUsed =
    planner.emailsOfCountries !== undefined || layout.columns.some(({ type }) => type === 'phone');
  const isDoubtful = isUsed && cells.filled >= judgedCells && found < cells.filled * leastShare;
  if (isDoubtful && country === undefined) {
    throw new ConfigurationError(
      `column ${JSON.stringify(column)}: ${found} of ${counted(cells.filled, 'cell')} are countries, and a row without one cannot be sent: name the column of the countries with ${optionName('countryColumn')}, or one country for all rows with ${optionName('country')}; nothing was sent`,
      { code: 'country_missing', option: 'countryColumn' },
    );
  }
  const noText = layout.columns.flatMap(({ name }, index) => {
    const cells = planner.cells.profiles[index]?.noText ?? 0;
    return cells > 0 ? [notice('not_utf8', { column: name, cells })] : [];
  });
  return [
    ...noText,
    ...(besideSuppressed > 0 ? [notice('suppressed_beside', { cells: besideSuppressed })] : []),
    ...(isDoubtful
      ? [notice('few_countries', { column, cells: cells.filled, countries: found })]
      : []),
    ...(read.length > 0
      ? [
          notice('car_codes', {
            column,
            read: read.toSorted((one, other) => other.rows - one.rows),
          }),
        ]
      : []),
    ...(codes.found > 0 || codes.filled === 0
      ? []
      : [
          notice('no_calling_codes', { column: layout.countryFromName ?? '', cells: codes.filled }),
        ]),
  ];
}

function sumOf(counts: readonly { readonly rows: number }[]): number {
  return counts.reduce((sum, { rows }) => sum + rows, 0);
}

export function emailNotices(
  { planner: { emailsOfCountries } }: Plan,
  batches: readonly { readonly group: BatchGroup; readonly addresses: number }[],
): readonly Notice[] {
  const emails = emailsOfCountries?.count ?? 0;
  if (emails === 0) return [];
  const sizes = new Map<string, number>();
  for (const { group, addresses } of batches) {
    if (group.type !== 'email') continue;
    sizes.set(group.country, (sizes.get(group.country) ?? 0) + addresses);
  }
  const [most = ''] = [...sizes].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  return [notice('emails_of_countries', { emails, country: most })];
}

/** Many numbers are valid in several countries. */
const mostNamed = 3;

const optionOf = {
  country_column: 'countryColumn',
  country_from: 'countryFrom',
  country: 'country',
} as const;

/** The country for which a history has a list's addresses, where it has none for theirs. */
function countryInHistory(
  { planner: { unknown, counts } }: Plan,
  history: ResultHistory,
  type: VerificationType,
): DoubtfulColumn['inHistory'] {
  const lines = unknown[type];
  if (lines.length === 0 || counts[type].recalled > 0) return undefined;
  const recall = history.recall(new OutcomeTable(), false);
  const hash = new KeyHash(history.seed);
  for (const country of countryCodes) {
    const known = lines.filter((line) => {
      const address = addressOf(type, line, country);
      if (!('key' in address)) return false;
      hash.hash(groupNumber({ type, country }), address.key);
      return recall.outcomeOf(hash) !== -1;
    }).length;
    if (known * 2 >= lines.length) return { country, known, addresses: lines.length };
  }
  return undefined;
}

export async function askAboutColumns(
  plan: Plan,
  { onDoubtfulColumns, ...options }: DoubtOptions & ListOptions,
): Promise<void> {
  const columns = doubtfulColumns(plan, options);
  if (columns.length === 0 || !onDoubtfulColumns || (await onDoubtfulColumns(columns))) return;
  const names = columns.map(({ name }) => JSON.stringify(name)).join(', ');
  const misread = columns.flatMap(({ misread: numbers }) => numbers ?? []);
  const [first] = misread;
  if (first && misread.length === columns.length) {
    const option = optionOf[first.given_by];
    const countries = first.fitting.slice(0, mostNamed).map(({ country }) => country);
    const isSure = countries.length === 1 && option === 'country';
    throw new ConfigurationError(
      `stopped because of the country of ${names}: the numbers are valid in ${countries.join(', ')}, and hardly in ${first.read_as}; nothing was sent: correct the country (${optionName(option, isSure ? countries[0] : undefined)}), or have ${optionName('onDoubtfulColumns')} agree to it`,
      { code: 'declined', option },
    );
  }
  const [{ inHistory }] = columns as [DoubtfulColumn];
  if (inHistory) {
    throw new ConfigurationError(
      `stopped because of the country of ${names}: the history has its results for ${inHistory.country}; nothing was sent: correct the country, or have ${optionName('onDoubtfulColumns')} agree to it`,
      { code: 'declined', option: 'country' },
    );
  }
  throw new ConfigurationError(
    `stopped because of ${columns.length === 1 ? 'the column' : 'the columns'} ${names}; nothing was sent: name other columns, or have ${optionName('onDoubtfulColumns')} agree to these`,
    { code: 'declined', option: 'onDoubtfulColumns' },
  );
}
