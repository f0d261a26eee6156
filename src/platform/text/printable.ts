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
