import type { OddShare } from '../../engine/summary/figures.js';
import { optionName } from '../../platform/text/option-name.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';

/** What to do about cells whose bytes are no text in the encoding that the list was read in. */
export function noTextSentence(cells: number, input: string): string {
  const are = `${counted(cells, 'cell')} ${cells === 1 ? 'is' : 'are'}`;
  if (/\.(jsonl|ndjson)\b/i.test(input)) {
    return `${are} no text: put one address into each, no object or list, and write the file in UTF-8`;
  }
  return `${are} no UTF-8 text: name the encoding of the file with ${optionName('encoding')}, such as windows-1252, which many programs on Windows write`;
}

const shareWords = {
  valid: 'valid results',
  wrong: 'wrong results',
  unknown: 'unknown results',
  new: 'addresses that had to be paid for',
} as const;

export function oddSentence({ type, share, now, usual, allowed }: OddShare): string {
  const from = percent(Math.max(0, usual - allowed));
  const to = percent(Math.min(1, usual + allowed));
  return `${type}: ${percent(now)} ${shareWords[share]}, usually ${percent(usual)} (${from} to ${to})`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** Where the rows of a run went. */
interface WrittenRows {
  readonly rows: number;
  readonly outputs: readonly { readonly name: string; readonly rows: number }[];
  readonly rows_repeated?: number | undefined;
  readonly skipped_updates?: { readonly changed: number; readonly gone: number } | undefined;
}

/** `wrote 219 rows to clean.csv, 121 to rejects.csv` */
export function rowsSentence({
  rows,
  outputs,
  rows_repeated: repeated = 0,
  skipped_updates: alone,
}: WrittenRows): string {
  const parts = outputs.map(
    ({ name, rows: count }, index) => `${rowsTo(count, index === 0)} to ${name}`,
  );
  const written = outputs.reduce((sum, output) => sum + output.rows, 0);
  const left = rows - written - (alone ? alone.changed + alone.gone : 0);
  const others = left > 0 ? [`left out ${grouped(left)}`] : [];
  const again =
    repeated > 0
      ? `; ${counted(repeated, 'row')} ${repeated === 1 ? 'repeats' : 'repeat'} an address of a row above`
      : '';
  return `wrote ${[...parts, ...others].join(', ')}${again}`;
}

function rowsTo(count: number, isFirst: boolean): string {
  if (!isFirst) return grouped(count);
  return `${grouped(count)} ${count === 1 ? 'row' : 'rows'}`;
}
