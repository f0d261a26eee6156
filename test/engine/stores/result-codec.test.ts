import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import { decodeResults, encodeResults } from '../../../src/engine/stores/result-store.js';
import { unicodeText } from '../../platform/text/unicode-text.js';

const anyRecord = fc.record({
  valid: fc.boolean(),
  wrong: fc.boolean(),
  unknown: fc.boolean(),
  operator: unicodeText(),
});

it('tells any results to a table that numbers its outcomes in another way', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(0xffff_fffe), fc.nat(20))),
      fc.array(anyRecord, { minLength: 1, maxLength: 20 }),
      fc.nat(5),
      (found, records, before) => {
        const table = new OutcomeTable();
        const ids = records.map((record) => table.idOfRecord('phone', record));
        const results = {
          lines: Uint32Array.from(found, ([line]) => line),
          outcomes: Uint32Array.from(found, ([, at]) => ids[at % ids.length] ?? 0),
        };
        const other = new OutcomeTable();
        for (let at = 0; at < before; at += 1) other.idOf('failed', `reason ${at}`);
        const read = decodeResults(encodeResults(results, table), other);
        expect(read).toMatchObject({ lines: results.lines });
        expect(Array.from(read?.outcomes ?? [], (id) => other.get(id))).toEqual(
          Array.from(results.outcomes, (id) => table.get(id)),
        );
      },
    ),
  );
});

it('takes eight bytes an address, whatever is known of it', () => {
  const table = new OutcomeTable();
  const addresses = 10_000;
  const results = {
    lines: Uint32Array.from({ length: addresses }, (_, at) => at),
    outcomes: new Uint32Array(addresses).fill(table.idOf('no_result', 'no_record')),
  };
  expect(encodeResults(results, table).length).toBeLessThan(8 * addresses + 100);
});
