import { grouped } from '../../platform/text/shown-numbers.js';

/** The first of so many rows, by their numbers: `row 17`, `rows 3, 9, 17, …` */
export function rowList(first: readonly number[], count: number): string {
  const more = count > first.length ? ', …' : '';
  return `${count === 1 ? 'row' : 'rows'} ${first.map(grouped).join(', ')}${more}`;
}
