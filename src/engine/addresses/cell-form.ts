import type { VerificationType } from '../../contract/enums.js';

/** As what a cell is written that is not one plain address. */
export type CellForm = 'mailto' | 'named' | 'several' | 'beside' | 'no_at' | 'extension';

/** `undefined` for a plain address, and for anything else. */
export function cellForm(type: VerificationType, cell: string): CellForm | undefined {
  return type === 'email' ? emailForm(cell) : phoneForm(cell);
}

/** Longer cells hold more than an address. */
const mostCharacters = 320;
/** An address as most are written, wherever it stands in a cell. */
const address =
  /[\p{L}\d_][\p{L}\d.!#$%&'*+=?^_`{|}~-]{0,63}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){1,8}/gu;

function emailForm(cell: string): CellForm | undefined {
  if (!cell.includes('@')) return 'no_at';
  if (/^mailto:/i.test(cell)) return 'mailto';
  if (cell.endsWith('>') && cell.split('<').length === 2) return 'named';
  if (cell.length > mostCharacters) return undefined;
  const found = cell.match(address) ?? [];
  if (found.length > 1) return 'several';
  return found.length === 1 && found[0] !== cell ? 'beside' : undefined;
}

/** A number has so many digits; what follows a stroke may be the rest of one (`030/901820`). */
const fewestDigits = 7;

function phoneForm(cell: string): CellForm | undefined {
  const numbers = cell.split(/[;,|/:\n]/).filter((part) => digitsIn(part) >= fewestDigits);
  const worded = cell.split(/\p{L}+/u).filter((part) => digitsIn(part) >= fewestDigits);
  if (numbers.length > 1 || worded.length > 1) return 'several';
  const [number = '', ...more] = cell.split(/[\p{L}#]/u);
  const isExtended = digitsIn(number) >= fewestDigits && digitsIn(more.at(-1) ?? '') > 0;
  return isExtended ? 'extension' : undefined;
}

function digitsIn(text: string): number {
  return text.match(/\d/g)?.length ?? 0;
}
