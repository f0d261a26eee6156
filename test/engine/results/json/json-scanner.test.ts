import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSluiceError } from '../../../../src/platform/errors/is-sluice-error.js';
import { MemberScanner } from '../../../../src/engine/results/json/json-scanner.js';

/** Keys and values as they stand in the text; undefined when the scanner refuses it. */
function scan(text: string): string[] | undefined {
  const bytes = Buffer.from(text);
  const scanner = new MemberScanner();
  const parts: string[] = [];
  let at = 0;
  let start = 0;
  try {
    for (;;) {
      const scanned = scanner.scan(bytes, at, bytes.length);
      at = scanner.position;
      if (scanned === 'all') return scanner.isAtEnd ? parts : undefined;
      if (scanned === 'keyStart' || scanned === 'valueStart') start = at;
      else parts.push(bytes.toString('utf8', start, scanned === 'keyEnd' ? at - 1 : at));
    }
  } catch (error) {
    if (isSluiceError(error, 'broken_contract')) return undefined;
    throw error;
  }
}

function isLegal(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function textOf(units: readonly string[]): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...units), { maxLength: 10 }).map((parts) => parts.join(''));
}

describe('the scanner', () => {
  it.each([
    ['numbers', textOf(['-', '+', '0', '1', '9', '.', 'e', 'E', ' '])],
    ['words', textOf(['true', 'false', 'null', 't', 'rue', ' ', ','])],
    [
      'texts',
      textOf(['"', '\\', 'u', '0', 'aF', '12', 'n', '/', 'b', '\u0000', '\n', '\u00e9', 'x']),
    ],
    ['structure', textOf(['{', '}', '[', ']', ',', ':', '"a"', '1', '{"b":', ' ', '[]', '{}'])],
  ])('takes as the value of a member what JSON.parse takes: %s', (_, anyText) => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const object of [`{"k":${text}}`, `{"k":"${text}"}`, `{"k":[${text}]}`, text]) {
          assert.equal(scan(object) !== undefined, isLegal(object));
        }
      }),
      { numRuns: 1500 },
    );
  });

  it('says where keys and values of the outermost object begin and end', () => {
    const parts = scan(' {"a" : 1 ,"b\\"":[ {"c":2} ],"":{"d":[]}, "e":"f","g":null ,"h":-1e5}');
    expect(parts?.join(' | ')).toBe(
      'a | 1 | b\\" | [ {"c":2} ] |  | {"d":[]} | e | "f" | g | null | h | -1e5',
    );
  });
});
