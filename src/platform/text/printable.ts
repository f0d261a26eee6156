/**
 * Characters that could control a terminal or disguise a line: control and format characters (text direction
 * and invisible ones included), line and paragraph separators, lone surrogates.
 */
const hostile = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const hostileInLines = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const hostileInJson = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Lines fit for printing: hostile characters are escaped. JSON keeps its values. */
export function printable(lines: string): string {
  return lines.replaceAll(hostileInLines, escaped);
}

/** The same for a single line. */
export function printableLine(line: string): string {
  return line.replaceAll(hostile, escaped);
}

/** The same for formatted JSON: its values are preserved. */
export function printableJson(json: string): string {
  return json.replaceAll(hostileInJson, escaped);
}

/** The escape of JSON and most languages. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

const mostCharacters = 60;

/** A text from the input for a terminal, with everything visible. */
export function shownCell(text: string): string {
  const characters = Array.from(text);
  const isLong = characters.length > mostCharacters;
  const shown = isLong ? `${characters.slice(0, mostCharacters).join('')}…` : text;
  return JSON.stringify(shown).replaceAll(/[\p{C}\p{Zl}\p{Zp}]|[^\P{Zs} ]/gu, escaped);
}

/** Characters without a meaning in any shell. */
const plain = /^[\w@%+=:,./-]+$/;

/** A shell argument in printable characters that a person can copy: others are written as bytes for `printf`. */
export function shellQuote(text: string): string {
  if (plain.test(text)) return text;
  const isPrintable = printableLine(text) === text;
  if (isPrintable) return inQuotes(text);
  const written = Array.from(text, (character) =>
    printableLine(character) === character ? character.replace('\\', '\\\\') : octal(character),
  ).join('');
  // A shell cuts trailing line ends of a command's output; not every shell knows this other form.
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

/** A text with letters and digits replaced by dots. */
export function maskedText(text: string): string {
  return text.replaceAll(/[\p{L}\p{N}\p{M}\p{So}]/gu, '•');
}

const longest = 48;

/** The first three digits of a phone: its calling or area code. */
const shownDigits = /^[^\p{L}\p{N}]*(?:\d[^\p{L}\p{N}]*){0,3}/u;

/**
 * A masked cell for a page that may be passed on: letters and digits become dots, except for an email's
 * domain and a phone's first digits. Its error still shows: a comma, a blank, an extra dot.
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
  // Anything may follow a domain: another address, a name.
  const [domain = ''] = /^[\p{L}\p{N}.-]*/u.exec(text.slice(at + 1)) ?? [];
  const end = at + 1 + domain.length;
  return `${maskedText(text.slice(0, at))}@${domain}${maskedText(text.slice(end))}`;
}

function maskedPhone(text: string): string {
  const [shown = ''] = shownDigits.exec(text) ?? [];
  return shown + maskedText(text.slice(shown.length));
}

/** A name in characters that every file system accepts. */
export function inFileName(name: string): string {
  return name.match(/[\p{L}\p{N}_]+/gu)?.join('-') ?? 'sheet';
}
