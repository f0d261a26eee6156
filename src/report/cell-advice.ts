import type { ColumnSummary } from '../engine/summary/figures.js';
import type { ColumnEstimate, Estimate, Summary } from '../engine/summary/summary.js';
import type { AdviceOptions } from './report-options.js';
import {
  type Advice,
  type AdviceCode,
  type AdviceFields,
  advise,
  formWords,
} from './sentences/advice-catalogue.js';
import { emailsWithoutCountry, hasEncoding } from './sentences/list-sentences.js';

/** With fewer cells nothing is concluded. */
const leastCells = 10;

interface CellAdvice {
  readonly cells: number;
  readonly advice: Advice;
  /** Whether neither the list nor the command can help: listed last. @default false */
  readonly isOfService?: boolean;
}

/** A column before or after it is sent. */
type HintedColumn = Omit<ColumnEstimate, 'empty'>;

export function adviceOnCells(summary: Summary, options: AdviceOptions): readonly CellAdvice[] {
  const refused = (reason: string): number =>
    summary.columns.reduce((sum, { reasons }) => sum + (reasons[reason] ?? 0), 0);
  return [
    ...summary.columns.flatMap(({ name: column, reasons: { scientific_notation: cells = 0 } }) =>
      cellAdvice(cells, 'missing_digits', { column, cells }),
    ),
    ...noTextAdvice(refused, summary),
    ...countryAdvice(summary),
    ...summary.columns.flatMap(formsAdvice),
    ...summary.columns.flatMap(suggestedAdvice),
    ...summary.columns.flatMap(missingPlusAdvice),
    ...summary.columns.flatMap(otherCountriesAdvice),
    ...summary.columns.flatMap((column) => numbersAdvice(column, summary)),
    ...summary.columns.flatMap((column) => noRecordAdvice(column, summary)),
    ...unknownAdvice(summary, options),
    ...misspeltAdvice(summary),
    ...riskyAdvice(summary, options),
  ];
}

/** The same before a list is sent, without doubts that were reported before. */
export function adviceOnEstimate(estimate: Estimate): readonly Advice[] {
  const { input, email, phone, columns } = estimate;
  const refused = (reason: string): number =>
    [email, phone].reduce((sum, type) => sum + (type?.not_submitted[reason] ?? 0), 0);
  const phones = columns.filter(({ type }) => type === 'phone').map(({ name }) => name);
  const cut = { column: phones.join(', '), cells: refused('scientific_notation') };
  const inTheList = [
    ...cellAdvice(cut.cells, 'missing_digits', cut),
    ...(hasEncoding(input) ? [] : noTextAdvice(refused, estimate)),
    ...columns.flatMap(formsAdvice),
    ...columns.flatMap(suggestedAdvice),
    ...misspeltAdvice(estimate),
  ];
  return byCells(inTheList);
}

/** By the number of cells, with what only the service decides last. */
export function byCells(advice: readonly CellAdvice[]): readonly Advice[] {
  const last = ({ isOfService = false }: CellAdvice): number => Number(isOfService);
  return together(advice)
    .toSorted((one, other) => last(one) - last(other) || other.cells - one.cells)
    .map(({ advice: each }) => each);
}

/** From so many columns on, the same advice is given once for all. */
const manyColumns = 3;
const ofManyColumns: ReadonlySet<string> = new Set<AdviceCode>([
  'missing_digits',
  'not_one_address',
  'no_at',
  'header_again',
  'suggested',
  'misspelt_domains',
  'likely_malformed',
]);

function together(all: readonly CellAdvice[]): readonly CellAdvice[] {
  const groups = new Map<string, CellAdvice[]>();
  for (const [at, each] of all.entries()) {
    const { code, fields } = each.advice;
    const key = ofManyColumns.has(code) ? `${code} ${String(fields['type'])}` : String(at);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) =>
    group.length < manyColumns ? group : [group.reduce(joined)],
  );
}

type JoinedFields = Partial<AdviceFields<'not_one_address'> & AdviceFields<'likely_malformed'>> &
  Partial<Pick<AdviceFields<'suggested'>, 'suggested_in'>>;

/** The same of both columns: names are listed, counts added. */
function joined(one: CellAdvice, other: CellAdvice): CellAdvice {
  const [first, second] = [one, other].map(({ advice }) => advice.fields as JoinedFields);
  if (!first || !second) return one;
  const sum = (field: 'cells' | 'of'): object =>
    first[field] === undefined ? {} : { [field]: first[field] + (second[field] ?? 0) };
  const list = (field: 'column' | 'suggested_in'): object =>
    first[field] === undefined ? {} : { [field]: `${first[field]}, ${second[field] ?? ''}` };
  const all = [...(first.forms ?? []), ...(second.forms ?? [])];
  const forms = [...new Set(all.map(({ form }) => form))].map((form) => {
    const alike = all.filter((each) => each.form === form);
    const added = (count: 'cells' | 'with_comma'): number =>
      alike.reduce((total, each) => total + each[count], 0);
    return { form, cells: added('cells'), with_comma: added('with_comma') };
  });
  const fields = {
    ...first,
    ...list('column'),
    ...list('suggested_in'),
    ...sum('cells'),
    ...sum('of'),
    ...(first.forms && { forms }),
  };
  return {
    cells: one.cells + other.cells,
    advice: advise(one.advice.code as AdviceCode, fields as never),
  };
}

function cellAdvice<Code extends AdviceCode>(
  cells: number,
  code: Code,
  fields: AdviceFields<Code>,
): readonly CellAdvice[] {
  return cells > 0 ? [{ cells, advice: advise(code, fields) }] : [];
}

function ofService(advice: readonly CellAdvice[]): readonly CellAdvice[] {
  return advice.map((each) => ({ ...each, isOfService: true }));
}

function noTextAdvice(
  refused: (reason: string) => number,
  { input }: Summary | Estimate,
): readonly CellAdvice[] {
  const cells = refused('invalid_encoding');
  return cellAdvice(cells, 'no_text', { input, cells });
}

function countryAdvice({ countries, email }: Summary): readonly CellAdvice[] {
  if (!countries) return [];
  const { missing, not_understood: unknown, calling_codes } = countries;
  return [
    ...cellAdvice(missing, 'no_country', { missing, calling_codes }),
    ...cellAdvice(unknown, 'country_not_understood', {
      ...countries,
      emails: emailsWithoutCountry(email?.reasons),
    }),
  ];
}

/** Cells that are not one plain address: they are sent as they are. */
function formsAdvice({ name: column, type, forms }: HintedColumn): readonly CellAdvice[] {
  const listed = (Object.keys(formWords) as (keyof typeof formWords)[]).flatMap((form) => {
    const cells = Object.values(forms ?? {}).reduce((sum, each) => sum + (each[form] ?? 0), 0);
    const withComma = forms?.['contains_comma']?.[form] ?? 0;
    return cells > 0 ? [{ form, cells, with_comma: withComma }] : [];
  });
  const cells = listed.reduce((sum, each) => sum + each.cells, 0);
  const { no_at: incomplete = 0 } = forms?.['no_record'] ?? {};
  const header = Object.values(forms ?? {}).reduce((sum, each) => sum + (each['header'] ?? 0), 0);
  return [
    ...cellAdvice(cells, 'not_one_address', { column, type, forms: listed }),
    ...cellAdvice(incomplete, 'no_at', { column, cells: incomplete }),
    ...cellAdvice(header, 'header_again', { column, cells: header }),
  ];
}

/** No address is changed: a person decides what was meant. */
function suggestedAdvice({ name: column, misspelt }: HintedColumn): readonly CellAdvice[] {
  if (!misspelt || misspelt.suggested_in === null) return [];
  const { cells, suggested_in } = misspelt;
  return cellAdvice(cells, 'suggested', { column, cells, suggested_in });
}

function misspeltAdvice({ rows, columns }: Summary | Estimate): readonly CellAdvice[] {
  return columns.flatMap(({ name: column, misspelt }) => {
    if (!misspelt || misspelt.suggested_in !== null) return [];
    const { cells, of_rows: seen } = misspelt;
    const of_rows = seen < rows ? seen : null;
    return cellAdvice(cells, 'misspelt_domains', { column, cells, of_rows });
  });
}

/** The number taken for them may be another: valid, and paid. */
function missingPlusAdvice({
  name: column,
  unfit,
  ambiguous: cells = unfit?.without_plus?.cells ?? 0,
  ambiguous_rows: rows = unfit?.without_plus?.rows ?? [],
}: ColumnSummary): readonly CellAdvice[] {
  return cellAdvice(cells, 'missing_plus', { column, cells, rows });
}

/** Those without a calling code may be of these countries, too: judged as others, and paid. */
function otherCountriesAdvice({
  name: column,
  foreign,
  misread,
}: HintedColumn): readonly CellAdvice[] {
  if (misread) return cellAdvice(misread.cells, 'misread_numbers', { column, ...misread, foreign });
  return foreign ? cellAdvice(foreign.cells, 'foreign_numbers', { column, ...foreign }) : [];
}

/** Numbers of another country than the row's are malformed for the service, or wrong. */
function numbersAdvice(
  { name: column, buckets, verdicts, unfit }: ColumnSummary,
  { batches }: Summary,
): readonly CellAdvice[] {
  const all = buckets.verified + buckets.no_result;
  const cells = buckets.no_result + verdicts.wrong;
  // If most are valid there, like numbers no longer in use, their country is not the cause.
  if (!unfit || unfit.cells * 2 < unfit.of || cells * 5 < all) return [];
  // Of these the advice on the + says it.
  if ((unfit.without_plus?.cells ?? 0) * 2 >= unfit.cells) return [];
  if (Math.min(cells, unfit.cells) < leastCells) return [];
  const [only = '', ...more] = new Set(
    batches.flatMap(({ type, country }) => (type === 'phone' ? [country] : [])),
  );
  return cellAdvice(cells, 'numbers_do_not_fit', {
    column,
    cells,
    of: all,
    examined: unfit.of,
    unfit: unfit.cells,
    country: unfit.has_country_column || more.length > 0 || only === '' ? null : only,
    fitting: unfit.fitting,
  });
}

/** Addresses that the service removed as malformed, and that no other advice explains. */
function noRecordAdvice(column: ColumnSummary, summary: Summary): readonly CellAdvice[] {
  const { name, type, reasons, forms } = column;
  if (missingPlusAdvice(column).length > 0 || numbersAdvice(column, summary).length > 0) return [];
  const explained = Object.values(forms?.['no_record'] ?? {}).reduce((sum, each) => sum + each, 0);
  const { no_record: of = 0 } = reasons;
  const cells = of - explained;
  return cellAdvice(cells, 'likely_malformed', { column: name, type, cells, of });
}

function unknownAdvice(
  { service, email, phone, compared }: Summary,
  { asksNetwork = false, hasHistory = compared !== undefined }: AdviceOptions,
): readonly CellAdvice[] {
  const emails = email?.verdicts.unknown ?? 0;
  if (service === 'local' && !asksNetwork) {
    return ofService(cellAdvice(emails, 'unknown_locally', { cells: emails }));
  }
  const cells = emails + (phone?.verdicts.unknown ?? 0);
  return ofService(cellAdvice(cells, 'unknown', { cells, has_history: hasHistory }));
}

/** Valid is not the same as safe to mail: the sender decides. */
function riskyAdvice(
  { email }: Summary,
  { keepsQuality = false }: AdviceOptions,
): readonly CellAdvice[] {
  const { risky = 0, disposable = 0, both = 0 } = email?.of_valid ?? {};
  if (!email || keepsQuality) return [];
  const { valid } = email.verdicts;
  return cellAdvice(risky + disposable - both, 'risky', { valid, risky, disposable, both });
}
