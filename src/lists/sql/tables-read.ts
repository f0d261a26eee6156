/** A table, view or function of a database. */
export interface Relation {
  readonly schema: string;
  readonly name: string;
  /** Its id as a column's origin. */
  readonly id: string;
  /** The text of a view or function, `undefined` for a table, empty where the user may not see it. */
  readonly definition: string | undefined;
}

/**
 * The ids of the tables that a query names, by itself or through views and functions; `undefined` where one hides
 * its text. What only looks like a name of a table counts too.
 *
 * @param relationsNamed the tables, views and functions with one of these names in lower case, in any schema
 */
export async function tablesRead(
  query: string,
  relationsNamed: (names: readonly string[]) => Promise<readonly Relation[]>,
): Promise<readonly string[] | undefined> {
  const tables = new Set<string>();
  const views = new Set<string>();
  const texts = [query];
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    const named = namesIn(text);
    const names = new Set(named.map(([, name]) => name));
    for (const { schema, name, id, definition } of await relationsNamed([...names])) {
      const isNamed = named.some(
        ([of, each]) =>
          each === name.toLowerCase() && (of === undefined || of === schema.toLowerCase()),
      );
      if (!isNamed || views.has(id)) continue;
      if (definition === '') return undefined;
      if (definition === undefined) tables.add(id);
      else {
        views.add(id);
        texts.push(definition);
      }
    }
  }
  return [...tables].toSorted();
}

const identifier = '"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\\p{L}_][\\p{L}\\p{N}_$]*';
const qualified = new RegExp(`(?:(${identifier})\\s*\\.\\s*)?(${identifier})`, 'gu');

const derived = [
  new RegExp(`\\)\\s*(?:as\\s+)?(${identifier})`, 'giu'),
  new RegExp(`(${identifier})\\s*(?:\\([^()]*\\)\\s*)?as\\s*\\(`, 'giu'),
];

/** The names that a query may give to its own subqueries, in lower case. */
export function derivedNames(query: string): ReadonlySet<string> {
  return new Set(
    derived.flatMap((form) => [...query.matchAll(form)].map(([, name = '']) => bare(name))),
  );
}

/** Everything in a query that may be a name, in lower case, after what it is qualified with. */
function namesIn(text: string): readonly (readonly [of: string | undefined, name: string])[] {
  return [...text.matchAll(qualified)].map(([, of, name = '']) => [
    of === undefined ? undefined : bare(of),
    bare(name),
  ]);
}

function bare(name: string): string {
  const [mark = ''] = name;
  const isQuoted = mark === '"' || mark === '`';
  return (isQuoted ? name.slice(1, -1).replaceAll(mark + mark, mark) : name).toLowerCase();
}
