import { strict as assert } from 'node:assert';
import { MemoryStorage } from '../../../src/engine/plan/batch-cutter.js';
import { ObjectChunk, type Row } from '../../../src/lists/rows/chunks/object-chunk.js';
import { layOutColumns } from '../../../src/engine/columns/column-layout.js';
import { Plan } from '../../../src/engine/plan/plan.js';
import { RowEnricher } from '../../../src/engine/streams/enriched-row.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordOf } from './harness/record-service.js';

function createPlan(): Plan {
  return new Plan({
    layout: layOutColumns(['email', 'phone'], { email: ['email'], phone: ['phone'] }),
    country: 'US',
    batchSize: 1,
    storage: new MemoryStorage(),
  });
}

function enrichAll(plan: Plan, rows: readonly Row[], outcomes: readonly number[]): Row[] {
  const enricher = new RowEnricher(plan);
  const joined = {
    chunk: new ObjectChunk(rows, []),
    from: 0,
    to: rows.length,
    outcomes: Uint32Array.from(outcomes),
    width: 2,
  };
  return rows.map((row, index) => enricher.enrich(row, joined, index));
}

/** The plain way to the same. */
function expectedRow(plan: Plan, row: Row, outcomes: readonly number[]): Row {
  const added = plan.layout.added.map((columns, column) => {
    const cells = plan.cellsOf(outcomes[column] ?? 0, column);
    return Object.fromEntries(columns.map(({ name }, index) => [name, cells[index]]));
  });
  return { ...row, ...added[0], ...added[1] };
}

describe('an enriched row', () => {
  test('has the input’s fields and the added ones, in their order, whatever shapes rows have', () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string({ maxLength: 3 }), fc.anything(), { maxKeys: 4 }), {
          maxLength: 30,
        }),
        (rows) => {
          const plan = createPlan();
          const email = plan.outcomes.idOfRecord('email', recordOf('email', 'a'));
          const failed = plan.outcomes.idOf('failed', 'internal_error');
          const outcomes = rows.flatMap((_, index) => [index % 2 ? email : failed, failed]);
          const out = enrichAll(plan, rows, outcomes);
          for (const [index, row] of out.entries()) {
            const expected = expectedRow(plan, rows[index] ?? {}, outcomes.slice(index * 2));
            expect(row).toEqual(expected);
            expect(Object.keys(row)).toEqual(Object.keys(expected));
            expect(row).not.toBe(rows[index]);
          }
        },
      ),
    );
  });

  test('takes no field for a setter', () => {
    const plan = createPlan();
    const failed = plan.outcomes.idOf('failed', 'internal_error');
    const row = JSON.parse('{"__proto__": {"valid": true}, "email": "a"}') as Row;
    const [out] = enrichAll(plan, [row], [failed, failed]);
    expect(Object.hasOwn(out ?? {}, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(out)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(out)).not.toHaveProperty('valid');
  });

  test('leaves the row that came in as it is', () => {
    const plan = createPlan();
    const failed = plan.outcomes.idOf('failed', 'internal_error');
    const row = Object.freeze({ email: 'a', phone: 'b' });
    const [out] = enrichAll(plan, [row], [failed, failed]);
    expect(row).toEqual({ email: 'a', phone: 'b' });
    expect(out).toMatchObject({ email: 'a', phone: 'b', email_verification: 'failed' });
  });

  test('has its own cells when more outcomes than are remembered take turns', () => {
    const plan = createPlan();
    const failed = plan.outcomes.idOf('failed', 'internal_error');
    const ids = Array.from({ length: 3000 }, (_, index) =>
      plan.outcomes.idOfRecord('phone', {
        ...recordOf('phone', 'x'),
        operator: `Operator ${index}`,
      }),
    );
    const rows = Array.from({ length: 6000 }, () => ({ email: '', phone: '' }));
    const out = enrichAll(
      plan,
      rows,
      rows.flatMap((_, index) => [failed, ids[(index * 1024) % 3000] ?? 0]),
    );
    for (const [index, row] of out.entries()) {
      assert.equal(row['phone_operator'], `Operator ${(index * 1024) % 3000}`);
    }
  });

  test('is right in each of more shapes than are remembered', () => {
    const plan = createPlan();
    const failed = plan.outcomes.idOf('failed', 'internal_error');
    const rows = Array.from({ length: 500 }, (_, index) => ({ [`c${index % 200}`]: index }));
    const out = enrichAll(
      plan,
      rows,
      rows.flatMap(() => [failed, failed]),
    );
    for (const [index, row] of out.entries()) {
      expect(Object.keys(row)[0]).toBe(`c${index % 200}`);
      expect(row[`c${index % 200}`]).toBe(index);
      expect(Object.keys(row)).toHaveLength(25);
    }
  });
});
