import { invalidText, type CellText } from '../../lists/rows/chunks/row-chunk.js';
import type { AddressLine } from './address-line.js';
import { refuseLine } from './refuse-line.js';
import { trimCell } from './trim-cell.js';

const maxEmailCharacters = 254;
/** NFC makes one code point, of one or two units, out of at most four of two units each. */
const maxUnitsBeforeNfc = maxEmailCharacters * 8;

/**
 * The line and the lookup key of an email cell. A malformed address is a line too, for the service
 * judges it; the line keeps its case, the key does not.
 */
export function emailLine(cell: CellText): AddressLine {
  if (cell === undefined) return { reason: 'empty' };
  if (cell === invalidText) return { reason: 'invalid_encoding' };
  if (isPlain(cell)) return { line: cell, key: cell.toLowerCase() };

  const trimmed = trimCell(cell);
  if (trimmed.length > maxUnitsBeforeNfc) return { reason: 'too_long' };
  const line = trimmed.normalize('NFC');
  const reason = refuseLine(line, maxEmailCharacters);
  // Lower case can leave a letter and its mark apart that NFC joins (J with caron).
  return reason === undefined ? { line, key: line.toLowerCase().normalize('NFC') } : { reason };
}

/** Whether a cell is visible ASCII without comma or leading quote: the way of nearly all cells. */
function isPlain(cell: string): boolean {
  const { length } = cell;
  if (length === 0 || length > maxEmailCharacters || cell.charCodeAt(0) === 0x22) return false;
  for (let i = 0; i < length; i += 1) {
    const code = cell.charCodeAt(i);
    if (code <= 0x20 || code >= 0x7f || code === 0x2c) return false;
  }
  return true;
}
