import { printableLine } from '../../platform/text/printable.js';

/** Characters that a terminal draws in two columns, or in none. */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const narrow = /\p{M}/u;

/** How many columns of a terminal a text takes. */
export function textWidth(text: string): number {
  const widths = Array.from(text, (one) => (wide.test(one) ? 2 : narrow.test(one) ? 0 : 1));
  return widths.reduce((sum: number, width) => sum + width, 0);
}

/**
 * Lines of columns, each as wide as its widest cell; the last is as wide as it is.
 *
 * @param align `numbers` has all columns but the first end in a line. @default 'left'
 */
export function textTable(
  cells: readonly (readonly string[])[],
  align: 'left' | 'numbers' = 'left',
): string {
  const rows = cells.map((row) => row.map(printableLine));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, textWidth(cell));
    }
  }
  return rows
    .map((row) => {
      const cells = row.map((cell, column) => {
        const blank = ' '.repeat((widths[column] ?? 0) - textWidth(cell));
        return align === 'numbers' && column > 0 ? blank + cell : cell + blank;
      });
      return `${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}
