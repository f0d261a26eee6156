/** Bytes that JSON's grammar names (RFC 8259). */
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

/** Where in a text the next byte is that does not stand for itself: quote, backslash, control. */
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
 * Where the text that begins at `from` meets its closing quote, if until there it is plain: printable
 * ASCII without escapes, which reads as it stands.
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
 * Whether a text, or `length` bytes of it from `start`, stands there. Eight bytes at a time: this loop is a
 * good part of what reading an export costs.
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
