const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
]);

/**
 * Text as it stands in the XML of a workbook. What XML has no form for, and what would be taken for
 * such a form, is written as `_x0000_`.
 */
export function escapeXml(text: string): string {
  return text
    .replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
    .replaceAll(unwritable, (character) =>
      [...Array(character.length).keys()]
        .map((at) => `_x${character.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}_`)
        .join(''),
    )
    .replaceAll(/[&<>"]/g, (character) => entities.get(character) ?? character);
}

/** Control characters, lone surrogates, what is no character, and line ends that XML would change. */
const unwritable =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
