import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeText } from '../../../../src/lists/sql/cell-text.js';
import { TableChunk, type TableForm } from '../../../../src/lists/sql/tables/table-reading.js';

const columns = 3;
const form: TableForm = {
  dialect: 'postgres',
  store: 'anywhere',
  columns: Array.from({ length: columns }, (_, at) => ({
    name: `c${at}`,
    kind: 'text',
    type: 'text',
  })),
};

const cell = fc.oneof(
  fc.constant(null),
  fc.string(),
  fc.constantFrom('', 'a@b.test', String.raw`a\b@b.test`, 'a\tb@b.test', '\\N', 'ä@b.test'),
);

function chunkOf(rows: readonly (readonly (string | null)[])[]): TableChunk {
  const lines = rows.map((row) =>
    Buffer.from(`${row.map((text) => (text === null ? '\\N' : writeText(text))).join('\t')}\n`),
  );
  const starts = lines.reduce((ends, line) => [...ends, (ends.at(-1) ?? 0) + line.length], [0]);
  return new TableChunk(
    { bytes: Buffer.concat(lines), starts: Uint32Array.from(starts), firstLine: 1 },
    form,
  );
}

test('cells are the same in any order, and their bytes are their text where there are any', () => {
  const row = fc.tuple(cell, cell, cell);
  const asked = fc.tuple(fc.nat(), fc.nat({ max: columns - 1 }));
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), fc.array(asked), (rows, order) => {
      const chunk = chunkOf(rows);
      const inOrder = rows.flatMap((_, at) => form.columns.map((__, column) => [at, column]));
      for (const [number = 0, column = 0] of [...inOrder, ...order]) {
        const at = number % rows.length;
        const text = rows[at]?.[column] ?? undefined;
        expect(chunk.text(at, column)).toBe(text);
        const [start, end] = [chunk.cellStart(at, column), chunk.cellEnd(at, column)];
        if (end >= start) expect(chunk.bytes.toString('utf8', start, end)).toBe(text);
      }
      expect(() => chunk.text(0, columns)).toThrow(RangeError);
    }),
  );
});
