import type { VerificationType } from '../../contract/enums.js';
import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import { trimCell } from './address.js';
import { holdsOneAddress } from './looks-like.js';

const between = /[;,|\r\n]|:::|\s\/\s/;

/**
 * The addresses in a cell of several: each has to look like one, or the cell is left as it is.
 *
 * @returns `undefined` for any other cell
 */
export function addressesIn(type: VerificationType, cell: CellText): readonly string[] | undefined {
  if (typeof cell !== 'string' || !between.test(cell)) return undefined;
  const parts = cell.split(between).map(trimCell);
  const filled = parts.filter((part) => part !== '');
  // An empty line in a cell is nothing that has a position.
  const found = filled.every((part) => holdsOneAddress(type, part)) ? filled : [];
  return found.length > 1 || (found.length === 1 && found[0] !== trimCell(cell))
    ? found
    : undefined;
}
