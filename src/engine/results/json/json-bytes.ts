import { ContractError } from '../../../platform/errors/service-errors.js';

/**
 * The error of an incomplete or malformed export (spec 2.9), which is fetched again, as exports are free. The
 * message has a position and no content, which may be an address.
 *
 * @param at bytes of the body before the fault
 */
export function brokenExport(what: string, at: number): ContractError {
  return new ContractError(`The export cannot be used: ${what} (at byte ${at}).`, {
    operation: 'exportBatch',
    retryable: true,
  });
}

/** Bytes of JSON's grammar (RFC 8259). */
export const json = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openObject: 0x7b,
  closeObject: 0x7d,
  openArray: 0x5b,
  closeArray: 0x5d,
} as const;

export function isJsonSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function skipSpace(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && isJsonSpace(bytes[at] ?? 0)) at += 1;
  return at;
}

export function isHexDigit(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x46) ||
    (byte >= 0x61 && byte <= 0x66)
  );
}

/** Position of the next quote, backslash or control character in a text. */
export function nextSpecialByte(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte === json.quote || byte === json.backslash) break;
    at += 1;
  }
  return at;
}

/**
 * Position of the closing quote of the text at `from`, if the text is plain: printable ASCII without escapes.
 *
 * @returns -1 when it is not plain or does not end before `to`
 */
export function plainTextEnd(bytes: DataView, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const byte = bytes.getUint8(at);
    if (byte === json.quote) return at;
    if (byte < 0x20 || byte > 0x7e || byte === json.backslash) return -1;
  }
  return -1;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Whether a text, or `length` bytes of it from `start`, is at a position. Compares eight bytes at a time:
 * this loop is a good part of reading an export.
 */
export function beginsWith(
  bytes: DataView,
  from: number,
  to: number,
  text: DataView,
  start = 0,
  length = text.byteLength,
): boolean {
  if (length > to - from) return false;
  let at = 0;
  for (; at + 8 <= length; at += 8) {
    const differs =
      (text.getInt32(start + at, true) ^ bytes.getInt32(from + at, true)) |
      (text.getInt32(start + at + 4, true) ^ bytes.getInt32(from + at + 4, true));
    if (differs !== 0) return false;
  }
  for (; at < length; at += 1) {
    if (text.getUint8(start + at) !== bytes.getUint8(from + at)) return false;
  }
  return true;
}

/** State of reading a JSON number: the part that its latest byte belongs to (RFC 8259, section 6). */
export type NumberPart =
  | 'start'
  | 'minus'
  | 'zero'
  | 'integer'
  | 'point'
  | 'fraction'
  | 'exponent'
  | 'exponentSign'
  | 'exponentDigits';

/** @returns undefined when the byte cannot continue the number */
export function nextNumberPart(part: NumberPart, byte: number): NumberPart | undefined {
  const isDigit = byte >= 0x30 && byte <= 0x39;
  switch (part) {
    case 'start':
      if (byte === 0x2d) return 'minus';
      return leadingDigit(byte, isDigit);
    case 'minus':
      return leadingDigit(byte, isDigit);
    case 'integer':
      return isDigit ? 'integer' : behindInteger(byte);
    case 'zero':
      return behindInteger(byte);
    case 'point':
      return isDigit ? 'fraction' : undefined;
    case 'fraction':
      if (isDigit) return 'fraction';
      return isExponent(byte) ? 'exponent' : undefined;
    case 'exponent':
      if (byte === 0x2b || byte === 0x2d) return 'exponentSign';
      return isDigit ? 'exponentDigits' : undefined;
    case 'exponentSign':
    case 'exponentDigits':
      return isDigit ? 'exponentDigits' : undefined;
  }
}

export function numberMayEnd(part: NumberPart): boolean {
  return part === 'zero' || part === 'integer' || part === 'fraction' || part === 'exponentDigits';
}

function leadingDigit(byte: number, isDigit: boolean): NumberPart | undefined {
  if (byte === 0x30) return 'zero';
  return isDigit ? 'integer' : undefined;
}

function behindInteger(byte: number): NumberPart | undefined {
  if (byte === 0x2e) return 'point';
  return isExponent(byte) ? 'exponent' : undefined;
}

function isExponent(byte: number): boolean {
  return byte === 0x65 || byte === 0x45;
}

const firstCarryBytes = 512;

/** The bytes of one key or value: read in place when one chunk holds them, else carried over; too long ones dropped. */
export class TokenBytes {
  /** The whole token after {@link finish}: `bytes` from `start` to before `end`. */
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;

  #maxBytes = 0;
  /** Start of the token in this chunk; -1 without a token. */
  #from = -1;
  #carry: Buffer = Buffer.allocUnsafe(firstCarryBytes);
  #carried = 0;
  #isTooLong = false;

  /** @param maxBytes a longer token is dropped */
  begin(at: number, maxBytes: number): void {
    this.#from = at;
    this.#maxBytes = maxBytes;
    this.#carried = 0;
    this.#isTooLong = false;
  }

  /** Copies the token's part of a chunk that ends inside it. @returns whether the token is still within its bound */
  carryOver(chunk: Buffer, to: number): boolean {
    if (this.#from === -1) return true;
    this.#append(chunk, to);
    this.#from = 0;
    return !this.#isTooLong;
  }

  /** Ends the token before `end`. @returns whether it is within its bound and can be read */
  finish(chunk: Buffer, end: number): boolean {
    const from = this.#from;
    this.#from = -1;
    if (this.#carried === 0 && !this.#isTooLong) {
      this.bytes = chunk;
      this.start = from;
      this.end = end;
      return end - from <= this.#maxBytes;
    }
    this.#from = from;
    this.#append(chunk, end);
    this.#from = -1;
    this.bytes = this.#carry;
    this.start = 0;
    this.end = this.#carried;
    return !this.#isTooLong;
  }

  #append(chunk: Buffer, to: number): void {
    const length = this.#carried + to - this.#from;
    if (this.#isTooLong || length > this.#maxBytes) {
      this.#isTooLong = true;
      return;
    }
    if (length > this.#carry.length) {
      // Doubling keeps the cost linear when a token arrives byte by byte.
      const larger = Buffer.allocUnsafe(Math.max(length, this.#carry.length * 2));
      this.#carry.copy(larger, 0, 0, this.#carried);
      this.#carry = larger;
    }
    chunk.copy(this.#carry, this.#carried, this.#from, to);
    this.#carried = length;
  }
}
