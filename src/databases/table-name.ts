import { ConfigurationError } from '../errors/family.js';

/**
 * Takes a table's name apart: `contacts`, `crm.contacts`, or `"my.table"` where a dot belongs to it.
 *
 * @returns the parts from the left, at most `most`
 * @throws ConfigurationError
 */
export function parseTableName(text: string, most: number): readonly string[] {
  const parts: string[] = [];
  let rest = text;
  for (;;) {
    const found = /^(?:"((?:[^"]|"")+)"|([^".\0]+))(?:\.|$)/.exec(rest);
    if (!found) break;
    parts.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    rest = rest.slice(found[0].length);
    if (rest === '') break;
  }
  const isWhole = rest === '' && !text.endsWith('.');
  if (isWhole && parts.length > 0 && parts.length <= most) return parts;
  throw new ConfigurationError(
    `${JSON.stringify(text)} is no name of a table: it has the form ${most > 1 ? 'table or schema.table' : 'table'}; a name with a dot in it stands in double quotes`,
  );
}
