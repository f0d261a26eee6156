/** How far a JSON number has been read: the part that its last byte belongs to (RFC 8259, section 6). */
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

/** @returns undefined when the byte cannot go on the number */
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
