import type { ColumnSummary } from '../engine/summary/figures.js';
import type { ColumnEstimate, Estimate, Summary } from '../engine/summary/summary.js';
import { optionName } from '../platform/text/option-name.js';
import { counted, grouped } from '../platform/text/shown-numbers.js';
import {
  missingCountrySentence,
  unknownCountrySentence,
  foreignNumbersSentence,
  missingDigitsSentence,
  missingPlusSentence,
} from './sentences/address-sentences.js';
import { noTextSentence } from './sentences/list-sentences.js';

/** What decides the advice beside the figures. */
export interface AdviceOptions {
  /** Whether the local service asked mail servers. @default false */
  readonly asksNetwork?: boolean | undefined;
  /** Whether the run is in a store: its name stays finished. @default false */
  readonly isShared?: boolean | undefined;
  /** Whether rows are written by the quality of their emails. @default false */
  readonly keepsQuality?: boolean | undefined;
  /** The code of what stopped a run whose output is written all the same. @default none */
  readonly stoppedBy?: string | undefined;
  /** Whether the output has replaced one that was longer. @default false */
  readonly isEmptied?: boolean | undefined;
}

/** Of fewer cells nothing is concluded. */
const leastCells = 10;

/** What to do about so many cells. */
export interface CellAdvice {
  readonly cells: number;
  readonly text: string;
  /** Whether nothing in the list or the command helps: it comes last. @default false */
  readonly isOfService?: boolean;
}

/** What can be done about cells of a list that was verified. */
export function adviceOnCells(summary: Summary, options: AdviceOptions): readonly CellAdvice[] {
  const refused = (reason: string): number =>
    summary.columns.reduce((sum, { reasons }) => sum + (reasons[reason] ?? 0), 0);
  return [
    ...summary.columns.flatMap(({ name, reasons }) =>
      missingDigitsAdvice(reasons['scientific_notation'] ?? 0, name),
    ),
    ...noTextAdvice(refused('invalid_encoding'), summary.input),
    ...countryAdvice(summary),
    ...summary.columns.flatMap(formsAdvice),
    ...summary.columns.flatMap(suggestedAdvice),
    ...summary.columns.flatMap(missingPlusAdvice),
    ...summary.columns.flatMap(foreignAdvice),
    ...summary.columns.flatMap((column) => numbersAdvice(column, summary)),
    ...unknownAdvice(summary, options),
    ...misspeltAdvice(summary),
    ...riskyAdvice(summary, options),
  ];
}

/**
 * The same of a list that is not sent yet. What its calling codes say, and its countries, is said before.
 */
export function adviceOnEstimate({
  input,
  rows,
  email,
  phone,
  columns,
}: Estimate): readonly string[] {
  const refused = (reason: string): number =>
    [email, phone].reduce((sum, type) => sum + (type?.not_submitted[reason] ?? 0), 0);
  const phones = columns.filter(({ type }) => type === 'phone').map(({ name }) => name);
  const inTheList = [
    ...missingDigitsAdvice(refused('scientific_notation'), phones.join(', ')),
    ...noTextAdvice(refused('invalid_encoding'), input),
    ...columns.flatMap(formsAdvice),
    ...columns.flatMap(suggestedAdvice),
    ...misspeltAdvice({ rows, columns }),
  ];
  return byCells(inTheList);
}

/** The most cells first, and last what only the service decides. */
export function byCells(advice: readonly CellAdvice[]): readonly string[] {
  const last = ({ isOfService = false }: CellAdvice): number => Number(isOfService);
  return advice
    .toSorted((one, other) => last(one) - last(other) || other.cells - one.cells)
    .map(({ text }) => text);
}

function missingDigitsAdvice(missing: number, name: string): readonly CellAdvice[] {
  return missing > 0 ? [{ cells: missing, text: missingDigitsSentence(missing, name) }] : [];
}

function noTextAdvice(cells: number, input: string): readonly CellAdvice[] {
  return cells > 0 ? [{ cells, text: `${noTextSentence(cells, input)}; then run again` }] : [];
}

function countryAdvice({ countries }: Summary): readonly CellAdvice[] {
  if (!countries) return [];
  const { missing, not_understood: unknown, no_text: noText, column } = countries;
  const fix = countries.looks_like_countries
    ? 'correct these cells'
    : `check ${optionName('countryColumn')}`;
  const again = noText === unknown ? '; then run again' : `: ${fix}, then run again`;
  const remedy = column === null ? '' : again;
  return [
    { cells: missing, text: missingCountrySentence(countries, true) },
    { cells: unknown, text: `${unknownCountrySentence(countries, 3)}${remedy}` },
  ].filter(({ cells }) => cells > 0);
}

/** Cells that are more than one plain address: what a cell holds is sent as it is. */
function formsAdvice({ name, type, forms }: ColumnEstimate): readonly CellAdvice[] {
  const counts = Object.entries(formTexts).map(([form, text]) => {
    const count = Object.values(forms ?? {}).reduce((sum, each) => sum + (each[form] ?? 0), 0);
    const withComma = forms?.['contains_comma']?.[form] ?? 0;
    const some = withComma === count ? 'all of them' : `${grouped(withComma)} of them`;
    const own = type === 'phone' ? text.replace('address', 'number') : text;
    return { form, count, text: withComma === 0 ? own : `${own} (${some} with a comma)` };
  });
  const cells = counts.reduce((sum, { count }) => sum + count, 0);
  const incomplete = forms?.['no_record']?.['no_at'] ?? 0;
  const whole = {
    cells: incomplete,
    text: `${name}: ${grouped(incomplete)} without an @: write the whole address, then run again`,
  };
  if (cells === 0) return incomplete > 0 ? [whole] : [];
  const listed = counts.filter(({ count }) => count > 0);
  const shown = listed.map(({ count, text }) => `${grouped(count)} ${text}`).join(', ');
  const split = listed.some(({ form }) => form === 'several')
    ? ` (${optionName('splitCells')} makes a row of each)`
    : '';
  const text = `${name}: ${shown}: leave only ${type === 'email' ? 'the email address' : 'one number'} in the cell${split}, then run again`;
  return [{ cells, text }, ...(incomplete > 0 ? [whole] : [])];
}

/** Nobody's address is changed: a person decides what was meant. */
function suggestedAdvice({ name, misspelt }: ColumnEstimate): readonly CellAdvice[] {
  if (!misspelt || misspelt.suggested_in === null) return [];
  const { cells, suggested_in: column } = misspelt;
  const have = `${counted(cells, 'cell')} ${cells === 1 ? 'has' : 'have'}`;
  const text = `${name}: ${have} a suggestion in ${column}: put what is right into ${name}, then run again`;
  return [{ cells, text }];
}

function misspeltAdvice({
  rows,
  columns,
}: Pick<Estimate, 'rows' | 'columns'>): readonly CellAdvice[] {
  return columns.flatMap(({ name, misspelt }) => {
    if (!misspelt || misspelt.suggested_in !== null) return [];
    const { cells, of_rows: seen } = misspelt;
    const have = `${counted(cells, 'cell')}${seen < rows ? ` of the first ${counted(seen, 'row')}` : ''} ${cells === 1 ? 'has' : 'have'}`;
    const text = `${name}: ${have} a domain that looks misspelt: ${optionName('suggest')} adds the one that was probably meant`;
    return [{ cells, text }];
  });
}

const formTexts = {
  mailto: 'with mailto:',
  named: 'with a name, as in Ada <ada@example.com>',
  several: 'with more than one address',
  unsplit: 'with more than one address of which one may be incomplete or has text beside',
  beside: 'with something beside the address',
  extension: 'with an extension',
};

/** What they were taken for may be another number: valid, and paid. */
function missingPlusAdvice({
  name,
  ambiguous: cells = 0,
  ambiguous_rows: rows = [],
}: ColumnEstimate): readonly CellAdvice[] {
  if (cells === 0) return [];
  return [{ cells, text: `${name}: ${missingPlusSentence({ cells, rows })}, then run again` }];
}

/** Those without a calling code may be of these countries, too: judged as others, and paid. */
function foreignAdvice({ name, foreign }: ColumnEstimate): readonly CellAdvice[] {
  if (!foreign) return [];
  const text = `${name}: ${foreignNumbersSentence(name, foreign, ', then run again')}`;
  return [{ cells: foreign.cells, text }];
}

/** Numbers of another country than the row's are malformed for the service, or wrong. */
function numbersAdvice(
  { name, buckets, verdicts, unfit }: ColumnSummary,
  { batches }: Summary,
): readonly CellAdvice[] {
  const all = buckets.verified + buckets.no_result;
  const cells = buckets.no_result + verdicts.wrong;
  // Where most are valid, as a number that is no longer in use is, their country is not the cause.
  if (!unfit || unfit.cells * 2 < unfit.of || cells * 5 < all) return [];
  if (Math.min(cells, unfit.cells) < leastCells) return [];
  const [only = '', ...more] = new Set(
    batches.flatMap(({ type, country }) => (type === 'phone' ? [country] : [])),
  );
  const country = more.length > 0 || only === '' ? 'the country of their row' : only;
  const sample = unfit.of < cells ? `${grouped(unfit.of)} that were examined` : 'them';
  const fitting = unfit.fitting
    ? `, and ${grouped(unfit.fitting.cells)} would fit ${unfit.fitting.country}`
    : '';
  const text = `${name}: ${grouped(cells)} of ${grouped(all)} numbers are wrong or got no result; ${grouped(unfit.cells)} of ${sample} do not fit ${country}${fitting}: give each row the country of its number (${optionName('countryColumn')}), or write the numbers with +`;
  return [{ cells, text }];
}

function unknownAdvice(
  { service, email, phone, compared }: Summary,
  { asksNetwork = false }: AdviceOptions,
): readonly CellAdvice[] {
  const emails = email?.verdicts.unknown ?? 0;
  if (service === 'local' && !asksNetwork) {
    const text = `${grouped(emails)} unknown: the local service asks no mail server; for real verdicts set ${optionName('client')}`;
    return emails > 0 ? [{ cells: emails, text, isOfService: true }] : [];
  }
  const unknown = emails + (phone?.verdicts.unknown ?? 0);
  if (unknown === 0) return [];
  const only = compared
    ? 'the same command pays only for these'
    : `a run with ${optionName('history')} keeps its results, so that the next one pays only for these`;
  const text = `${grouped(unknown)} unknown: ask again tomorrow; ${only}`;
  return [{ cells: unknown, text, isOfService: true }];
}

/** Valid is not safe to mail: anyone who sends to a list decides. */
function riskyAdvice(
  { email }: Summary,
  { keepsQuality = false }: AdviceOptions,
): readonly CellAdvice[] {
  const { risky = 0, disposable = 0 } = email?.of_valid ?? {};
  if (!email || keepsQuality || risky + disposable === 0) return [];
  const counts = [
    ...(risky > 0 ? [`${grouped(risky)} risky`] : []),
    ...(disposable > 0 ? [`${grouped(disposable)} throw-away`] : []),
  ].join(', ');
  const text = `of ${counted(email.verdicts.valid, 'valid email')} ${counts}: ${optionName('keepQuality')} good writes only the good ones`;
  return [{ cells: risky + disposable, text }];
}
