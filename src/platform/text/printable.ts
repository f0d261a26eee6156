/**
 * What could steer a terminal or make a line look like another: control and format characters (text
 * direction and invisible ones among them), line and paragraph separators, halves of surrogate pairs.
 */
const hostile = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const hostileInLines = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const hostileInJson = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Lines as they may be printed: what a person should not be sent is escaped. JSON keeps its values. */
export function printable(lines: string): string {
  return lines.replaceAll(hostileInLines, escaped);
}

/** The same of what has to stay on one line. */
export function printableLine(line: string): string {
  return line.replaceAll(hostile, escaped);
}

/** The same of JSON that somebody else has set out in lines: its values stay what they are. */
export function printableJson(json: string): string {
  return json.replaceAll(hostileInJson, escaped);
}

/** As JSON and most languages write a character by its number. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

const mostCharacters = 60;

/** A text from the input as a terminal can show it, and so that nothing in it is overlooked. */
export function shownCell(text: string): string {
  const characters = Array.from(text);
  const isLong = characters.length > mostCharacters;
  const shown = isLong ? `${characters.slice(0, mostCharacters).join('')}…` : text;
  return JSON.stringify(shown).replaceAll(/[\p{C}\p{Zl}\p{Zp}]|[^\P{Zs} ]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
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

/** A name in letters that every file system takes. */
export function inFileName(name: string): string {
  return name.match(/[\p{L}\p{N}_]+/gu)?.join('-') ?? 'sheet';
}
