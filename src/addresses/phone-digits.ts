const plus = 0x2b;
const zero = 0x30;
const nine = 0x39;

/**
 * The digits of a phone cell in ASCII, with a `+` in front where one stands before them; `undefined`
 * when the cell has none, or holds anything but digits and separators: letters, extensions, symbols.
 */
export function phoneDigits(text: string): string | undefined {
  let digits = '';
  let from = 0;
  // Runs of ASCII digits are taken whole.
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= zero && code <= nine) continue;
    digits += text.slice(from, i);
    from = i + 1;
    if (code === plus || code === 0xff0b) {
      if (digits !== '') return undefined;
      digits = '+';
    } else {
      const value = digitValue(code);
      if (value !== undefined) digits += String(value);
      else if (!isSeparator(code)) return undefined;
    }
  }
  digits += text.slice(from);
  return digits === '' || digits === '+' ? undefined : digits;
}

/** Full-width, Arabic-Indic and Extended Arabic-Indic digits: those that libphonenumber knows. */
function digitValue(code: number): number | undefined {
  for (const first of [0xff10, 0x0660, 0x06f0]) {
    if (code >= first && code <= first + 9) return code - first;
  }
  return undefined;
}

/** What may stand between the digits of a number and says nothing. */
function isSeparator(code: number): boolean {
  return isDash(code) || isSpace(code) || '/.()[]／．（）［］'.includes(String.fromCharCode(code));
}

function isDash(code: number): boolean {
  return (
    code === 0x2d ||
    (code >= 0x2010 && code <= 0x2015) ||
    code === 0x2212 ||
    code === 0xfe58 ||
    code === 0xfe63 ||
    code === 0xff0d
  );
}

/** Spaces of all widths, and what is not seen: soft hyphen, zero-width space, word joiner. */
function isSpace(code: number): boolean {
  return (
    code === 0x20 ||
    code === 0xa0 ||
    code === 0xad ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200b) ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x2060 ||
    code === 0x3000
  );
}
