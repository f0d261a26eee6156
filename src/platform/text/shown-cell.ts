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
