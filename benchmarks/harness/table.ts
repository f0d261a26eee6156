import type { Figure, Target } from './question.js';

const marks = ['<!-- figures -->\n', '<!-- end of figures -->'] as const;

/** A page with the table of these figures in the place of the one between its marks. */
export function putTable(page: string, figures: readonly Figure[]): string {
  const [before, rest] = page.split(marks[0]);
  const behind = rest?.split(marks[1])[1];
  if (before === undefined || behind === undefined) throw new Error('the page has no marks');
  return `${before}${marks[0]}\n${table(figures)}\n${marks[1]}${behind}`;
}

/** The table of figures in Markdown, its columns as wide as the formatter wants them. */
export function table(figures: readonly Figure[]): string {
  const head = ['what', 'against', 'measured', 'target', 'aim', 'verdict'];
  const rows = figures.map((figure) => [
    figure.what,
    figure.against,
    `${amount(figure.value)} ${figure.unit}`,
    figure.target ? `${figure.target.bound} ${amount(figure.target.value)}` : 'none',
    figure.target?.aim === undefined ? '' : amount(figure.target.aim),
    verdictOf(figure),
  ]);
  const widths = head.map((_, at) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const rule = widths.map((width) => '-'.repeat(width));
  return `${[head, rule, ...rows].map((cells) => line(cells)).join('\n')}\n`;
}

/** How a figure stands to what it is held to. */
function verdictOf({ value, target }: Figure): string {
  if (target === undefined) return '';
  if (!reaches(value, target.bound, target.value)) return 'missed';
  const isAimed = target.aim !== undefined && reaches(value, target.bound, target.aim);
  return isAimed ? 'aim met' : 'met';
}

function reaches(value: number, bound: Target['bound'], target: number): boolean {
  return bound === 'at least' ? value >= target : value <= target;
}

/** Three digits are as many as a measurement is worth. */
function amount(value: number): string {
  if (value >= 1_000_000) return `${amount(value / 1_000_000)} million`;
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
