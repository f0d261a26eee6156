import { printableLine } from '../../platform/text/printable.js';

/**
 * What a service answered, for a person: a line for each field, fields of fields under their path. The
 * specification does not show most of them, so none is expected.
 */
export function fieldsText(answer: unknown): string {
  const fields = [...fieldsOf(answer, '')];
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}

/** More of a list is for `--json`. */
const mostItems = 20;

/** An answer's depth is bounded where it is read. */
function* fieldsOf(value: unknown, path: string): Generator<readonly [string, string]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.slice(0, mostItems).entries()) {
      yield* fieldsOf(item, `${path}[${index}]`);
    }
    if (value.length > mostItems) yield [path, `… ${value.length} items, all of them with --json`];
    return;
  }
  if (typeof value === 'object' && value !== null) {
    for (const [name, field] of Object.entries(value)) {
      const shown = printableLine(name);
      yield* fieldsOf(field, path === '' ? shown : `${path}.${shown}`);
    }
    return;
  }
  if (value === undefined) return;
  // What is left of JSON: a text as it stands, a number, a boolean.
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  yield [path, value === null ? '-' : printableLine(text)];
}
