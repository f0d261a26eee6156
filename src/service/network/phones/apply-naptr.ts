/** A number has 16 characters at most: two quantifiers cannot be made to work for long on it. */
const mostQuantifiers = 2;
const longestExpression = 512;

/**
 * Applies the substitution expression of a NAPTR record (RFC 3402 3.2) to a number, as RFC 6116 3.2 has
 * it: `!^.*$!tel:+441632960083;npdi!`.
 *
 * @returns the URI; `undefined` when the expression does not fit, or is none that should be run
 */
export function applyNaptr(expression: string, e164: string): string | undefined {
  if (expression.length > longestExpression) return undefined;
  const [, delimiter = '', rest = ''] = /^([^\d\\i])(.*)$/su.exec(expression) ?? [];
  const [pattern, replacement, flags, ...more] = splitUnescaped(rest, delimiter);
  if (pattern === undefined || replacement === undefined || more.length > 0) return undefined;
  if (flags !== '' && flags !== 'i') return undefined;
  if ((pattern.match(/[*+?{]/g)?.length ?? 0) > mostQuantifiers + countEscaped(pattern)) {
    return undefined;
  }
  let match: RegExpExecArray | null;
  try {
    match = new RegExp(pattern, flags).exec(e164);
  } catch {
    return undefined;
  }
  return match?.[0] === undefined ? undefined : substitute(replacement, match);
}

function substitute(replacement: string, match: RegExpExecArray): string {
  return replacement.replaceAll(/\\([1-9\\])/g, (_whole, which: string) =>
    which === '\\' ? '\\' : (match[Number(which)] ?? ''),
  );
}

function countEscaped(pattern: string): number {
  return pattern.match(/\\[*+?{]/g)?.length ?? 0;
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
