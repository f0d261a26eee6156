import { printableLine } from '../../platform/text/printable.js';

/** Characters that a terminal draws two columns wide, or with no width. */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const narrow = /\p{M}/u;

export function textWidth(text: string): number {
  const widths = Array.from(text, (one) => (wide.test(one) ? 2 : narrow.test(one) ? 0 : 1));
  return widths.reduce((sum: number, width) => sum + width, 0);
}

/** Wraps a text at so many columns; a longer word stays whole. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let left = 0;
  for (const word of text.split(' ')) {
    const needed = textWidth(word) + 1;
    if (lines.length > 0 && needed <= left) {
      lines.push(`${lines.pop()} ${word}`);
      left -= needed;
    } else {
      lines.push(word);
      left = width - needed + 1;
    }
  }
  return lines;
}

/** Wraps a text; continued lines are indented. */
export function hanging(text: string, width: number): string {
  return wrapped(text, width - indent.length).join(`\n${indent}`);
}

const indent = '  ';

/** Aligned columns, each as wide as its widest cell; the last is not padded. */
export function textTable(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(printableLine));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, textWidth(cell));
    }
  }
  return rows
    .map((row) => {
      const padded = row.map(
        (cell, column) => cell + ' '.repeat((widths[column] ?? 0) - textWidth(cell)),
      );
      return `${padded.join('  ').trimEnd()}\n`;
    })
    .join('');
}

/**
 * A service's answer for a person: a line for each field, nested fields under their path. The specification
 * does not show most of them, so none is expected.
 */
export function fieldsText(answer: unknown): string {
  const fields = [...fieldsOf(answer, '')];
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}

/** Longer lists need `--json`. */
const mostItems = 20;

function* fieldsOf(value: unknown, path: string): Generator<readonly [string, string]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.slice(0, mostItems).entries()) {
      yield* fieldsOf(item, `${path}[${index}]`);
    }
    if (value.length > mostItems) yield [path, `… ${value.length} items, all of them with --json`];
    return;
  }
  if (typeof value === 'object' && value !== null) {
    for (const [name, field] of Object.entries(value)) {
      const shown = printableLine(name);
      yield* fieldsOf(field, path === '' ? shown : `${path}.${shown}`);
    }
    return;
  }
  if (value === undefined) return;
  // A string as it is, or a number or boolean.
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  yield [path, value === null ? '-' : printableLine(text)];
}
