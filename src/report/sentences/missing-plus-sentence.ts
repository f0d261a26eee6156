import { rowList } from './row-list.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import { optionName } from '../../platform/text/option-name.js';

/** Digits that are read by the country of their row, and may be a number of another, with their rows. */
export function lostPlusSentence({
  cells,
  of,
  rows,
  examples = [],
}: {
  readonly cells: number;
  /** @default not said */
  readonly of?: number;
  /** The first of them; none in the figures of an older version. */
  readonly rows: readonly number[];
  /** Masked. */
  readonly examples?: readonly string[];
}): string {
  const numbers =
    of === undefined ? counted(cells, 'number') : `${grouped(cells)} of ${counted(of, 'number')}`;
  const where = [
    ...(rows.length > 0 ? [rowList(rows, cells)] : []),
    ...(examples.length > 0 ? [examples.join(', ')] : []),
  ].join(': ');
  const places = where === '' ? '' : ` (${where})`;
  return `${numbers} may have lost the + of ${cells === 1 ? 'its' : 'their'} calling code${places}, and ${cells === 1 ? 'is' : 'are'} not read as international: write the +, or add a column of countries (${optionName('countryColumn')})`;
}
