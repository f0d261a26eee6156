import { json } from './json-bytes.js';

/** A stretch of bytes, from `start` to before `end`. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the first member of a JSON object, its own and not one of an object inside it, that has this
 * name, spelled without escapes, and a text as its value.
 *
 * @param object legal JSON
 * @returns what stands between the quotes of the text
 */
export function findTextMember(object: Uint8Array, name: Uint8Array): ByteRange | undefined {
  let depth = 0;
  let isKey = false;
  let isNamed = false;
  for (let at = 0; at < object.length; at += 1) {
    switch (object[at]) {
      case json.quote: {
        const start = at + 1;
        at = closingQuote(object, start);
        if (depth !== 1) break;
        if (isKey) isNamed = Buffer.compare(object.subarray(start, at), name) === 0;
        else if (isNamed) return { start, end: at };
        break;
      }
      case json.openObject:
      case json.openArray:
        depth += 1;
        isKey = true;
        break;
      case json.closeObject:
      case json.closeArray:
        depth -= 1;
        break;
      case json.comma:
        isKey = true;
        break;
      case json.colon:
        isKey = false;
        break;
      default:
    }
  }
  return undefined;
}

function closingQuote(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== json.quote) at += bytes[at] === json.backslash ? 2 : 1;
  return at;
}
