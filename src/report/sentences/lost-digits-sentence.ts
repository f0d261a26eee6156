import { counted } from '../../platform/text/shown-numbers.js';

/** What to do about cells that a spreadsheet has written as `4.91702E+11`. */
export function lostDigitsSentence(cells: number, name: string): string {
  const are = `${counted(cells, 'cell')} ${cells === 1 ? 'is' : 'are'}`;
  return `${name}: ${are} in scientific notation, and the last digits are lost: format the column as text or as a number without decimals, export the list again, and run again`;
}
