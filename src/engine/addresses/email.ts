import { type CellText, invalidText } from '../../lists/rows/chunks/row-chunk.js';
import { type AddressLine, refuseLine, trimCell } from './address.js';

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

const quote = 0x22;
const comma = 0x2c;
/** Longer ones are for the general way to refuse. */
const maxEmailBytes = 254;

/** For each byte that may stand in a plain email its lower case, 0 for all others. */
const lowerCase = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20 || byte >= 0x7f || byte === quote || byte === comma) return 0;
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
});

/**
 * Writes the lookup key of an email cell to the beginning of `into`, straight from its bytes. Nearly all
 * cells are plain: visible ASCII without comma or quote, which are their own line.
 *
 * @param into has room for 254 bytes
 * @returns whether the cell is plain; any other is for `emailLine`, which comes to the same for these
 */
export function writePlainKey(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Uint8Array,
): boolean {
  const length = end - start;
  if (length <= 0 || length > maxEmailBytes) return false;
  for (let at = 0; at < length; at += 1) {
    const lower = lowerCase[bytes[start + at] as number] as number;
    if (lower === 0) return false;
    into[at] = lower;
  }
  return true;
}

/** So many bytes a key of a plain email has at most. */
export const plainKeyBytes = maxEmailBytes;
