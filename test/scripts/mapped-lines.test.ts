import { SourceMap } from 'node:module';
import { expect, it } from 'vitest';
import { withoutLines } from '../../scripts/build/mapped-lines.mjs';

it('keeps where the other lines come from when lines are left out', () => {
  // Lines 0 to 3 come from source lines 0, 40, 7 (one of two columns) and 999.
  const mappings = 'AAAA;AAwCA;AAjCA,IAAI;AAg+BA';
  const before = mapped(mappings);
  const after = mapped(withoutLines(mappings, new Set([1])));

  expect([0, 1, 2, 3].map((line) => before(line, 0))).toEqual([0, 40, 7, 999]);
  expect([0, 1, 2].map((line) => after(line, 0))).toEqual([0, 7, 999]);
  expect(after(1, 4)).toBe(7);
  expect(withoutLines(mappings, new Set())).toBe(mappings);
});

function mapped(mappings: string) {
  const file = 'a.d.ts';
  const map = new SourceMap({
    version: 3,
    file,
    sourceRoot: '',
    sources: ['a.ts'],
    sourcesContent: [],
    names: [],
    mappings,
  });
  return (line: number, column: number) => {
    const entry = map.findEntry(line, column);
    return 'originalLine' in entry ? entry.originalLine : undefined;
  };
}
