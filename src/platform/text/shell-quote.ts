import { printableLine } from './printable.js';

/** What no shell takes for anything else. */
const plain = /^[\w@%+=:,./-]+$/;

/**
 * One argument as a shell takes it, in characters that a terminal can be sent and a person can copy: what
 * is not printable is written by its bytes, which `printf` makes again.
 */
export function shellQuote(text: string): string {
  if (plain.test(text)) return text;
  const isPrintable = printableLine(text) === text;
  if (isPrintable) return inQuotes(text);
  const written = Array.from(text, (character) =>
    printableLine(character) === character ? character.replace('\\', '\\\\') : octal(character),
  ).join('');
  // A shell cuts line ends off what a command prints; not every shell knows this other form.
  if (text.endsWith('\n')) return `$'${written.replaceAll("'", String.raw`\'`)}'`;
  return `"$(printf -- ${inQuotes(written.replaceAll('%', '%%'))})"`;
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function octal(character: string): string {
  return Array.from(
    new TextEncoder().encode(character),
    (byte) => `\\${byte.toString(8).padStart(3, '0')}`,
  ).join('');
}
