import { JsonText } from './json-text.js';
import { invalidText, type CellText } from '../chunks/row-chunk.js';

/**
 * A value as the line rules see it: numbers and their like are taken as they print; what has no plain
 * text is no valid cell.
 */
export function textOfValue(value: unknown): CellText {
  switch (typeof value) {
    case 'string':
      return value;
    case 'undefined':
      return undefined;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      if (value === null) return undefined;
      if (value instanceof JsonText) return value.text;
      return value instanceof String ? value.valueOf() : invalidText;
  }
}
