import { isJsonObject, type JsonRow } from './parse-json-row.js';

/** A column of a JSONL file: the names that lead to its values, the outermost first. */
export interface JsonColumn {
  /** The path with dots between. */
  readonly name: string;
  readonly path: readonly string[];
}

/**
 * The columns of rows that are JSON objects, in the order of their coming: a member that is an object
 * gives a column for each of its own members, and so on; lists are values.
 */
export class JsonColumns {
  readonly #columns = new Map<string, JsonColumn>();

  get all(): readonly JsonColumn[] {
    return [...this.#columns.values()];
  }

  /** Their names, in the same order. */
  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }

  get size(): number {
    return this.#columns.size;
  }

  /** Takes in the columns that a row has. */
  add(row: JsonRow): void {
    walk(row, [], (path) => {
      const key = keyOf(path);
      if (!this.#columns.has(key))
        this.#columns.set(key, { name: path.join('.'), path: [...path] });
      return true;
    });
  }

  /** The first column that a row has and is not known. */
  unlisted(row: JsonRow): string | undefined {
    let unknown: string | undefined;
    walk(row, [], (path) => {
      if (!this.#columns.has(keyOf(path))) unknown = path.join('.');
      return unknown === undefined;
    });
    return unknown;
  }
}

/** What a row has at the end of a path; nothing when it is an object, whose members are columns. */
export function valueAt(row: JsonRow, path: readonly string[]): unknown {
  let value: unknown = row;
  for (const name of path) {
    // What a prototype holds is no cell.
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return isJsonObject(value) && Object.keys(value).length > 0 ? undefined : value;
}

/** Two paths may read alike with dots between, as names may hold dots. */
function keyOf(path: readonly string[]): string {
  return path.length === 1 ? String(path[0]) : path.join('\u0000');
}

/** Calls `visit` for each value that is no object with members, until it says no. */
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
