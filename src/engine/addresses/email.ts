import { domainToASCII } from 'node:url';
import { type CellText, invalidText } from '../../lists/rows/chunks/row-chunk.js';
import { type AddressLine, isTrimmed, refuseLine, trimCell } from './address.js';

const maxEmailCharacters = 254;
/** NFC combines at most four code points, of two units each, into one. */
const maxUnitsBeforeNfc = maxEmailCharacters * 8;

/** RFC 1035 2.3.4. */
const maxLabelBytes = 63;

/**
 * The line and the lookup key of an email cell. A malformed address is a line too, for the service
 * judges it, but for those that no mail could reach; the line keeps its case, the key does not, and has the
 * ASCII form of an international domain.
 */
export function emailLine(cell: CellText): AddressLine {
  if (cell === undefined) return { reason: 'empty' };
  if (cell === invalidText) return { reason: 'invalid_encoding' };
  if (isPlain(cell)) {
    return isUnreachable(cell)
      ? { reason: 'domain_invalid' }
      : { line: cell, key: cell.toLowerCase() };
  }

  const trimmed = trimCell(cell);
  if (trimmed.length > maxUnitsBeforeNfc) return { reason: 'too_long' };
  const line = trimmed.normalize('NFC');
  const reason = refuseLine(line, maxEmailCharacters);
  if (reason !== undefined) return { reason };
  if (hasInvisible(line)) return { reason: 'invisible_character' };
  // Lower case can separate a letter and its mark that NFC joins (J with caron).
  const key = withAsciiDomain(line.toLowerCase().normalize('NFC'));
  return isUnreachable(key) ? { reason: 'domain_invalid' } : { line, key };
}

function withAsciiDomain(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (domain === address || /^[\x20-\x7e]*$/.test(domain)) return address;
  // An invalid domain has no ASCII form.
  return address.slice(0, -domain.length) + (domainToASCII(domain) || domain);
}

/** Also spaces that look unusual, and the right-to-left override (U+202E). */
function hasInvisible(line: string): boolean {
  for (let at = 0; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code > 0x20 && (code === 0x202e || isTrimmed(code))) return true;
  }
  return false;
}

/** Whether no mail server can have the domain of an address. */
function isUnreachable(address: string): boolean {
  const at = address.indexOf('@');
  const isAddress = at > 0 && at < address.length - 1 && !address.includes('@', at + 1);
  if (!isAddress) return false;
  const labels = address.slice(at + 1).split('.');
  return (
    labels.length < 2 ||
    address.charAt(at + 1) === '[' ||
    // No top-level domain is a number: it is an IP address.
    /^\d+$/.test(labels.at(-1) ?? '') ||
    labels.some((label) => label.length > maxLabelBytes)
  );
}

/** Whether a cell is visible ASCII without comma or leading quote, as nearly all are. */
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
const atSign = 0x40;
const dot = 0x2e;
const bracket = 0x5b;
/** Longer ones are left to the general path, which refuses them. */
const maxEmailBytes = 254;

/** The lower case of each byte that a plain email may contain; 0 for all others. */
const lowerCase = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20 || byte >= 0x7f || byte === quote || byte === comma) return 0;
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
});

/**
 * Writes the lookup key of an email cell to `into`, directly from its bytes. Nearly all cells are plain:
 * visible ASCII without comma or quote, identical to their line.
 *
 * @param into has room for 254 bytes
 * @returns whether the cell is plain; any other is left to `emailLine`, which gives the same for plain ones
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
  return hasDomain(into, length);
}

/** Whether the domain has a dot, no bracket, no overlong label, and no number at its end; the counterpart of `isUnreachable`. */
function hasDomain(bytes: Uint8Array, length: number): boolean {
  let hasDot = false;
  let labelEnd = length;
  let isNumber = true;
  for (let at = length - 1; at >= 0; at -= 1) {
    const byte = bytes[at];
    if (byte !== atSign && byte !== dot) {
      isNumber &&= isDigit(byte);
      continue;
    }
    if (labelEnd - at - 1 > maxLabelBytes) return false;
    // A domain that ends with a dot is left to the general path.
    if (!hasDot && isNumber && byte === dot) return false;
    if (byte === atSign) return hasDot && bytes[at + 1] !== bracket;
    hasDot = true;
    labelEnd = at;
  }
  return true;
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

export const plainKeyBytes = maxEmailBytes;
