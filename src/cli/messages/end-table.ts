import type { Summary } from '../../index.js';
import { printableLine } from '../../platform/text/printable.js';
import {
  countedApart,
  describeReason,
  formWords,
  notSubmittedWords,
} from '../../report/sentences/reason-words.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import { textTable, textWidth } from '../terminal/text-table.js';

/** A column of the end table: a verified column, or the totals of a type. */
export interface EndColumn {
  readonly name: string;
  readonly figures: ReadonlyMap<Figure, number | null>;
}

const whyNotSubmitted = Object.keys(notSubmittedWords) as (keyof typeof notSubmittedWords)[];
/** What could not be sent has a share, and what nobody meant to send has none. */
const sharedReasons: readonly Figure[] = whyNotSubmitted.filter(
  (code) => !countedApart.some((apart) => apart === code),
);

/** The rows of the table. Rows under `verified` add up to it, and reasons to their parent. */
const figures = [
  { figure: 'rows', form: 'whole' },
  { figure: 'verified', form: 'whole' },
  { figure: 'valid', form: 'part' },
  { figure: 'by form', form: 'of reason' },
  { figure: 'wrong', form: 'part' },
  { figure: 'unknown', form: 'part' },
  { figure: 'no verdict', form: 'part' },
  { figure: 'no result', form: 'whole' },
  { figure: 'no_record', form: 'reason' },
  ...Object.values(formWords).map((figure) => ({ figure, form: 'of reason' }) as const),
  { figure: 'not submitted', form: 'whole' },
  ...whyNotSubmitted.map((figure) => ({ figure, form: 'reason' }) as const),
  { figure: 'failed', form: 'whole' },
  { figure: 'unique addresses', form: 'whole' },
  { figure: 'in several countries', form: 'reason' },
  { figure: 'from earlier runs', form: 'whole' },
  { figure: 'credits', form: 'whole' },
  { figure: 'credits (free)', form: 'whole' },
  { figure: 'credits by the balance', form: 'whole' },
  { figure: 'after refunds of', form: 'part' },
] as const;
type Figure = (typeof figures)[number]['figure'];

/**
 * The result of a run by verified column. Addresses and credits are counted by type: where several columns
 * share a type, they have a column of their own.
 */
export function endColumns(summary: Summary): readonly EndColumn[] {
  const { columns, rows } = summary;
  return columns.flatMap(({ name, type, ...cells }, index) => {
    const isAlone = columns.filter((other) => other.type === type).length === 1;
    const isLast = columns.findLastIndex((other) => other.type === type) === index;
    const columnFigures = new Map<Figure, number | null>([
      ['rows', rows],
      ...cellFigures(cells, [cells]),
    ]);
    const shared = summary[type];
    if (!isLast || !shared) return [{ name, figures: columnFigures }];
    const ofType = typeFigures(summary, type);
    if (isAlone) return [{ name, figures: new Map([...columnFigures, ...ofType]) }];
    const alike = columns.filter((other) => other.type === type);
    const all = new Map<Figure, number | null>([...cellFigures(shared, alike), ...ofType]);
    return [
      { name, figures: columnFigures },
      { name: `all ${type}s`, figures: all },
    ];
  });
}

type Cells = Pick<Summary['columns'][number], 'buckets' | 'verdicts' | 'reasons' | 'valid_by_form'>;
type Forms = Pick<Summary['columns'][number], 'forms'>;

function cellFigures(
  { buckets, verdicts, reasons, valid_by_form: validByForm = 0 }: Cells,
  columns: readonly Forms[],
): readonly [Figure, number][] {
  const ofForm = (form: string): number =>
    columns.reduce((sum, { forms }) => sum + (forms?.['no_record']?.[form] ?? 0), 0);
  const of = (code: string): number => reasons[code] ?? 0;
  return [
    ['verified', buckets.verified],
    ['valid', verdicts.valid],
    ...seldom('by form', validByForm),
    ['wrong', verdicts.wrong],
    ['unknown', verdicts.unknown],
    ...seldom('no verdict', verdicts.none),
    ['no result', buckets.no_result],
    ...seldom('no_record', of('no_record')),
    ...Object.entries(formWords).flatMap(([form, words]) => seldom(words, ofForm(form))),
    ['not submitted', buckets.not_submitted],
    ...whyNotSubmitted.flatMap((code) => seldom(code, of(code))),
    ['failed', buckets.failed],
  ];
}

function typeFigures(
  summary: Summary,
  type: Summary['columns'][number]['type'],
): readonly [Figure, number | null][] {
  const { addresses = 0, in_several_countries: several = 0 } = summary[type] ?? {};
  const { from_history: known = 0 } = summary[type] ?? {};
  const credits = summary.credits[type];
  // Other jobs, and credits bought meanwhile, count in the balance.
  const isByBalance = credits?.source === 'balance_difference';
  const paid = isByBalance ? 'credits by the balance' : 'credits';
  return [
    ['unique addresses', addresses],
    ...seldom('in several countries', several),
    ...seldom('from earlier runs', known),
    [summary.service === 'local' ? 'credits (free)' : paid, credits?.net ?? null],
    ...seldom('after refunds of', credits?.refunded ?? 0),
  ];
}

/** A rarely needed row is shown where it is not 0. */
function seldom(figure: Figure, count: number): readonly [Figure, number][] {
  return count > 0 ? [[figure, count]] : [];
}

const indents = { whole: '', part: '  ', reason: '  ', 'of reason': '    ' } as const;

/** The table at that width; columns that do not fit stand below the others. */
export function endTable(columns: readonly EndColumn[], width: number): string {
  const shown = figures.filter(({ figure }) => columns.some((each) => each.figures.has(figure)));
  const cells = columns.map((column) => {
    const counts = shown.map(({ figure }) => countOf(column, figure));
    const width = Math.max(...counts.map(textWidth));
    const filled = shown.map(({ figure }, at) => {
      const count = counts[at] ?? '';
      return count === '' ? '' : count.padStart(width) + shareOf(column, figure);
    });
    return [shortened(column.name), ...filled];
  });
  const widths = cells.map((column) => Math.max(...column.map(textWidth)) + gap);
  const labelsWith = (name: (figure: Figure) => string): readonly string[] => [
    '',
    ...shown.map(({ figure, form }) => `${indents[form]}${name(figure)}`),
  ];
  const widthOf = (names: readonly string[]): number => Math.max(...names.map(textWidth));
  const described = labelsWith(describeReason);
  const isRoom = widths.reduce((sum, each) => sum + each, widthOf(described)) < width;
  // Reasons show their description beside the code where there is room.
  const labels = isRoom ? described : labelsWith((figure) => figure);
  const tables: string[][][] = [];
  let left = 0;
  for (const [index, column] of cells.entries()) {
    const needed = widths[index] ?? 0;
    if (needed > left) {
      tables.push([[...labels]]);
      left = width - 1 - widthOf(labels);
    }
    tables.at(-1)?.push(column);
    left -= needed;
  }
  return tables
    .map((table) => turned(table).filter((row) => row.slice(1).some((cell) => cell !== '')))
    .map((rows) => textTable(rows))
    .join('\n');
}

/** Shares refer to the sum of these: of the cells that are neither empty nor suppressed. */
const endings: readonly Figure[] = ['verified', 'no result', 'failed', ...sharedReasons];
const verdicts: readonly Figure[] = ['valid', 'wrong', 'unknown', 'no verdict'];
const shareWidth = ' 100 %'.length;

/** A dash for 0. */
function countOf({ figures: counts }: EndColumn, figure: Figure): string {
  const count = counts.get(figure);
  if (count === undefined) return '';
  return count === null ? 'not known' : count === 0 ? '-' : grouped(count);
}

function shareOf({ figures: counts }: EndColumn, figure: Figure): string {
  const count = counts.get(figure) ?? 0;
  if (count === 0 || ![...endings, ...verdicts].includes(figure)) return '';
  const all = endings.reduce((sum, each) => sum + (counts.get(each) ?? 0), 0);
  return ` ${shareText(count, all).padStart(shareWidth - 1)}`;
}

/** 0 % and 100 % only where exact. */
export function shareText(count: number, all: number): string {
  const share = Math.round((100 * count) / all);
  if (share === 0) return count === 0 ? '0 %' : '<1 %';
  return `${count < all ? Math.min(99, share) : 100} %`;
}

export interface ColumnFigures {
  readonly column: string;
  readonly figures: Readonly<Record<string, number | null>>;
}

export function columnFigures({ name, figures: counts }: EndColumn): ColumnFigures {
  return { column: name, figures: Object.fromEntries(counts) };
}

/** Reasons follow their outcome in brackets. */
export function endLine({ column, figures: counts }: ColumnFigures): string {
  const parts: { readonly text: string; readonly reasons: string[] }[] = [];
  for (const { figure, form } of figures) {
    const count = counts[figure];
    if (count === undefined) continue;
    const text = `${figure} ${count === null ? 'not known' : grouped(count)}`;
    if (form === 'reason') parts.at(-1)?.reasons.push(text);
    else if (form === 'of reason') parts.at(-1)?.reasons.push(`of them ${text}`);
    else parts.push({ text, reasons: [] });
  }
  const shown = parts.map(({ text, reasons }) =>
    reasons.length === 0 ? text : `${text} (${reasons.join(', ')})`,
  );
  return `${column}: ${shown.join(', ')}`;
}

const gap = 2;

const longestName = 24;

function shortened(name: string): string {
  const letters = Array.from(printableLine(name));
  return letters.length > longestName
    ? `${letters.slice(0, longestName - 1).join('')}…`
    : letters.join('');
}

function turned(columns: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? ''));
}
