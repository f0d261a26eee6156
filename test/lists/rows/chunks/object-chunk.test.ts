import { describe, expect, test } from 'vitest';
import { ObjectChunk } from '../../../../src/lists/rows/chunks/object-chunk.js';
import { invalidText } from '../../../../src/lists/rows/chunks/row-chunk.js';

function cell(value: unknown): unknown {
  return new ObjectChunk([{ value }], ['value']).text(0, 0);
}

describe('the text of a cell', () => {
  test.each([
    ['a text', 'a', 'a'],
    ['no text', '', ''],
    ['a number', 12125550123, '12125550123'],
    ['a large whole number', 12125550123n, '12125550123'],
    ['a truth', true, 'true'],
    ['null', null, undefined],
    ['undefined', undefined, undefined],
    ['a text in an object', new String('a'), 'a'],
    ['an object', {}, invalidText],
    ['a list', ['a@example.com'], invalidText],
    ['a date', new Date(0), invalidText],
    ['a function', () => 'a', invalidText],
    ['a symbol', Symbol('a'), invalidText],
  ])('%s', (_what, value, text) => {
    expect(cell(value)).toBe(text);
  });

  test('is absent where the row, or the column, is not there', () => {
    const chunk = new ObjectChunk([{ a: 'x' }], ['a', 'b']);
    expect([chunk.text(0, 0), chunk.text(0, 1), chunk.text(0, 2), chunk.text(1, 0)]).toEqual([
      'x',
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('is the row’s own, never its prototype’s', () => {
    const names = ['constructor', '__proto__', 'toString'];
    const empty = new ObjectChunk([{}], names);
    expect(names.map((_, column) => empty.text(0, column))).toEqual(names.map(() => undefined));
    const row = JSON.parse('{"constructor": "a", "__proto__": "b", "toString": "c"}') as object;
    const full = new ObjectChunk([row as Record<string, unknown>], names);
    expect(names.map((_, column) => full.text(0, column))).toEqual(['a', 'b', 'c']);
    const bare = Object.assign(Object.create(null), { toString: 'd' }) as Record<string, unknown>;
    expect(new ObjectChunk([bare], names).text(0, 2)).toBe('d');
  });
});

test('the bytes that rows are reported to take grow with their cells and with the text in them', () => {
  const bytes = (rows: Record<string, unknown>[]): number => new ObjectChunk(rows, []).byteSize;
  const eight = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [`column${index}`, 'thirteen char']),
  );
  // Measured: about 280 bytes of heap.
  expect(bytes([eight])).toBeGreaterThan(200);
  expect(bytes([eight])).toBeLessThan(400);
  expect(bytes([eight, eight])).toBe(2 * bytes([eight]));
  expect(bytes([{ a: 'x'.repeat(1e6) }])).toBeGreaterThan(1e6);
  expect(bytes([{ a: Buffer.alloc(1e6) }])).toBeGreaterThan(1e6);
  expect(bytes([])).toBe(0);
});
