import type { NotSubmittedReason } from './not-submitted.js';

const comma = 0x2c;
const quote = '"';

/**
 * Why a text that is trimmed and in NFC cannot be a line of a batch, or `undefined` when it can.
 *
 * Of several reasons the first of this list is given: `empty`, `too_long`, `invalid_encoding` (a lone
 * surrogate), `control_character`, `contains_comma`, `quoted`.
 *
 * @param maxCharacters counted in code points
 */
export function refuseLine(line: string, maxCharacters: number): NotSubmittedReason | undefined {
  if (line === '') return 'empty';
  // A code point has two units at most: whatever the cell's size, little of it is looked at.
  if (line.length > 2 * maxCharacters) return 'too_long';
  let characters = line.length;
  let hasLoneSurrogate = false;
  let hasControl = false;
  let hasComma = false;
  for (let i = 0; i < line.length; i += 1) {
    const code = line.charCodeAt(i);
    if (code === comma) hasComma = true;
    else if (isControl(code)) hasControl = true;
    else if (code >= 0xd800 && code <= 0xdfff) {
      const isPair = code <= 0xdbff && isLowSurrogate(line.charCodeAt(i + 1));
      if (isPair) {
        characters -= 1;
        i += 1;
      } else hasLoneSurrogate = true;
    }
  }
  if (characters > maxCharacters) return 'too_long';
  if (hasLoneSurrogate) return 'invalid_encoding';
  if (hasControl) return 'control_character';
  if (hasComma) return 'contains_comma';
  return line.startsWith(quote) && line.endsWith(quote) ? 'quoted' : undefined;
}

/** C0, DEL and C1 (NEL among them), and what else may end a line or begin a file. */
function isControl(code: number): boolean {
  return (
    code <= 0x1f ||
    (code >= 0x7f && code <= 0x9f) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0xfeff
  );
}

/** False for the `NaN` behind a text's end. */
function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
