import { shellQuote } from '../../platform/text/printable.js';
import { endOfString, isDigit, isJsonObject, type JsonRow } from './parse-json-row.js';

/** A column of a JSONL file: the path of names to its values, the outermost first. */
export interface JsonColumn {
  readonly name: string;
  readonly path: readonly string[];
}

/**
 * The columns of rows that are JSON objects, in order of appearance: the members of an inner object are
 * columns of their own; lists are values.
 */
export class JsonColumns {
  readonly #columns = new Map<string, JsonColumn>();

  get all(): readonly JsonColumn[] {
    return [...this.#columns.values()];
  }

  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }

  get size(): number {
    return this.#columns.size;
  }

  /** @param text of the row, for the order of its names */
  add(row: JsonRow, text: () => string): void {
    let hasNumber = false;
    const added: (readonly string[])[] = [];
    walk(row, [], (path) => {
      if (this.#columns.has(keyOf(path))) return true;
      hasNumber ||= path.some((name) => isDigit(name.charAt(0)));
      added.push([...path]);
      return true;
    });
    for (const path of hasNumber ? pathsInOrder(text()) : added) {
      const key = keyOf(path);
      if (!this.#columns.has(key)) this.#columns.set(key, { name: path.join('.'), path });
    }
  }

  unlisted(row: JsonRow): string | undefined {
    let unknown: string | undefined;
    walk(row, [], (path) => {
      if (!this.#columns.has(keyOf(path))) unknown = path.join('.');
      return unknown === undefined;
    });
    return unknown;
  }
}

/** A row's value at the end of a path; nothing for an object, whose members are columns. */
export function valueAt(row: JsonRow, path: readonly string[]): unknown {
  let value: unknown = row;
  for (const name of path) {
    // A prototype's values are not cells.
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return isJsonObject(value) && Object.keys(value).length > 0 ? undefined : value;
}

/** Joined with dots, two paths may look alike, as names may contain dots. */
function keyOf(path: readonly string[]): string {
  return path.length === 1 ? String(path[0]) : path.join('\u0000');
}

/** Calls `visit` for each value that is not an object with members, until it returns false. */
function walk(row: JsonRow, path: string[], visit: (path: readonly string[]) => boolean): boolean {
  for (const name of Object.keys(row)) {
    const value = row[name];
    path.push(name);
    const goesOn =
      isJsonObject(value) && Object.keys(value).length > 0 ? walk(value, path, visit) : visit(path);
    path.pop();
    if (!goesOn) return false;
  }
  return true;
}

/** The paths of a row's values as written: an object has names that are numbers before all others. */
function pathsInOrder(json: string): readonly (readonly string[])[] {
  let marked = '';
  let done = 0;
  for (let at = 0; at < json.length; at += 1) {
    if (json.charAt(at) !== '"') continue;
    const end = endOfString(json, at);
    let next = end + 1;
    while (json.charAt(next).trim() === '' && next < json.length) next += 1;
    if (json.charAt(next) === ':') {
      marked += `${json.slice(done, at + 1)}.`;
      done = at + 1;
    }
    at = end;
  }
  const paths: (readonly string[])[] = [];
  walk(JSON.parse(marked + json.slice(done)) as JsonRow, [], (path) => {
    paths.push(path.map((name) => name.slice(1)));
    return true;
  });
  return paths;
}

/** A command that repeats a row for each object in a list, with one of its members; a row without any stays. */
export function jqForEach(column: string, member: string): string {
  const [added, list, text] = [[`${column}_${member}`], column.split('.'), [member]].map(jqPath);
  return `jq -c ${shellQuote(`${added} = ((${list}[]? | ${text}?) // null)`)}`;
}

function jqPath(names: readonly string[]): string {
  const path = names.map((name) =>
    /^[a-z_]\w*$/i.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
  );
  return path[0]?.startsWith('[') === true ? `.${path.join('')}` : path.join('');
}
