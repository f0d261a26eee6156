/** The form of a text: letters and digits are dots. */
export function maskedText(text: string): string {
  return text.replaceAll(/[\p{L}\p{N}\p{M}\p{So}]/gu, '•');
}

/** Longer cells are cut. */
const longest = 48;

/** The first three digits of a phone: those of its calling code, or of its area. */
const shownDigits = /^[^\p{L}\p{N}]*(?:\d[^\p{L}\p{N}]*){0,3}/u;

/**
 * The form of a cell, for a page that goes from hand to hand: letters and digits are dots, but for the
 * domain of an email and the first digits of a phone. What is wrong with a cell shows all the same: a
 * comma, a blank, a dot too many.
 */
export function maskedCell(cell: string, isEmail: boolean): string {
  const text = cell.trim();
  const masked = isEmail ? maskedEmail(text) : maskedPhone(text);
  const letters = Array.from(masked);
  return letters.length > longest ? `${letters.slice(0, longest - 1).join('')}…` : masked;
}

function maskedEmail(text: string): string {
  const at = text.lastIndexOf('@');
  if (at === -1) return maskedText(text);
  // What follows a domain may be anything: another address, a name.
  const [domain = ''] = /^[\p{L}\p{N}.-]*/u.exec(text.slice(at + 1)) ?? [];
  const end = at + 1 + domain.length;
  return `${maskedText(text.slice(0, at))}@${domain}${maskedText(text.slice(end))}`;
}

function maskedPhone(text: string): string {
  const [shown = ''] = shownDigits.exec(text) ?? [];
  return shown + maskedText(text.slice(shown.length));
}
