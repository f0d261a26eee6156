import { ConfigurationError } from '../../platform/errors/errors.js';

/** Where a table is, or would be. */
export interface TableName {
  /** What it is in, from the outside: a schema, or a database and a schema. */
  readonly within: readonly string[];
  readonly table: string;
}

/** A name as SQL takes it to the letter, whatever it holds. */
export function quoteName(name: string, mark: '"' | '`' = '"'): string {
  return `${mark}${name.replaceAll(mark, `${mark}${mark}`)}${mark}`;
}

/** A table's name with all that it is in, as SQL takes it. */
export function qualifiedName(
  { within, table }: TableName,
  quote: (name: string) => string = quoteName,
): string {
  return [...within, table].map((name) => quote(name)).join('.');
}

/**
 * Takes a table's name apart: `contacts`, `crm.contacts`, or `"my.table"` where a dot belongs to it.
 *
 * @returns the parts from the left, at most `most`
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
    `${JSON.stringify(text)} is not the name of a table: it has the form ${most > 1 ? 'table or schema.table' : 'table'}; put a name with a dot in it in double quotes`,
  );
}
