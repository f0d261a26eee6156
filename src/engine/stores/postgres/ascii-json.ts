/** JSON without a character that a database in another encoding than UTF-8 could not keep. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007F-\uFFFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
