import { parseNumberPattern } from './number-pattern.js';

const longestExpression = 512;

/**
 * Applies the substitution expression of a NAPTR record (RFC 3402 3.2) to a number, as RFC 6116 3.2 has
 * it: `!^.*$!tel:+441632960083;npdi!`. Expressions come from whoever has the zone, and none is ever run:
 * the forms in use are read, all others are refused.
 *
 * @returns the URI; `undefined` when the expression does not fit, or is of another form
 */
export function applyNaptr(expression: string, e164: string): string | undefined {
  const delimiter = expression.charAt(0);
  // RFC 3402 3.2: what could be part of a reference or a flag delimits nothing.
  if (expression.length > longestExpression || '0123456789\\i'.includes(delimiter))
    return undefined;
  const [pattern, replacement, flags, ...more] = splitUnescaped(expression.slice(1), delimiter);
  if (pattern === undefined || replacement === undefined || more.length > 0) return undefined;
  // Of case, numbers have none.
  if (flags !== '' && flags !== 'i') return undefined;
  const groups = parseNumberPattern(pattern)?.(e164);
  return groups === undefined ? undefined : substitute(replacement, groups);
}

/** @returns `undefined` for a reference to a group that is not there */
function substitute(replacement: string, groups: readonly string[]): string | undefined {
  let text = '';
  for (let at = 0; at < replacement.length; at += 1) {
    const next = replacement.charAt(at + 1);
    if (replacement[at] !== '\\' || !(next === '\\' || (next >= '1' && next <= '9'))) {
      text += replacement.charAt(at);
      continue;
    }
    const filled = next === '\\' ? next : groups[Number(next) - 1];
    if (filled === undefined) return undefined;
    text += filled;
    at += 1;
  }
  return text;
}

function splitUnescaped(text: string, delimiter: string): string[] {
  const parts = [''];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\' && text[at + 1] === delimiter) {
      parts[parts.length - 1] += delimiter;
      at += 1;
    } else if (character === delimiter) {
      parts.push('');
    } else {
      parts[parts.length - 1] += character;
    }
  }
  return parts;
}
