import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Row } from '../../../../src/lists/rows/chunks/object-chunk.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { withClient } from '../harness/with-client.js';

const count = 300_000;

/** Three batch groups: emails of two countries, and numbers of one; every seventh email stood there before. */
function makeRow(index: number): Row {
  const isBritish = index % 3 === 0;
  return {
    id: index,
    name: `Müller, "${index}"`,
    email: `${index % 5 === 0 ? 'bad' : 'good'}+${index % 7 === 6 ? index - 5 : index}@sluice.test`,
    mobile: isBritish ? null : `+1212${7_120_000 + index}`,
    country: isBritish ? 'GB' : 'US',
  };
}

function* makeRows(): Generator<Row> {
  for (let index = 0; index < count; index += 1) yield makeRow(index);
}

/** What one row must have become; nothing here is Sluice's own doing. */
function isAsExpected(row: Row, index: number): boolean {
  const given = makeRow(index);
  const isBad = String(given['email']).startsWith('bad');
  const kept = Object.keys(given).every((name) => row[name] === given[name]);
  const email =
    row['email_verification'] === 'verified' &&
    row['email_valid'] === !isBad &&
    row['email_wrong'] === isBad &&
    row['email_quality'] === (isBad ? 'bad' : 'good');
  const mobile =
    given['mobile'] === null
      ? row['mobile_reason'] === 'empty' && row['mobile_valid'] === null
      : row['mobile_verification'] === 'verified' &&
        row['mobile_valid'] === true &&
        row['mobile_wrong'] === false;
  return kept && email && mobile && Object.keys(row).length === 5 + 24;
}

test(
  '300,000 rows of three groups come out in order, every field kept, every address charged once',
  { timeout: 300_000 },
  async () => {
    const { client, service } = await withClient();
    const stream = Readable.from(makeRows()).pipe(
      verify({
        client,
        email: ['email'],
        phone: ['mobile'],
        countryColumn: 'country',
        pollIntervalMs: 5,
        batchSize: 40_000,
      }),
    );
    let next = 0;
    for await (const row of stream as AsyncIterable<Row>) {
      // Not by expect: 300,000 of them take longer than the work.
      if (!isAsExpected(row, next)) expect(row, `row ${next}`).toBe('as expected');
      next += 1;
    }
    expect(next).toBe(count);

    const expected = new Set<string>();
    for (const row of makeRows()) {
      expected.add(`${String(row['country'])} ${String(row['email'])}`);
      if (row['mobile'] !== null) expected.add(`US ${String(row['mobile'])}`);
    }
    const charged = new Map<string, number>();
    for await (const { type, address } of service.ledger()) {
      const key = `${type} ${address}`;
      charged.set(key, (charged.get(key) ?? 0) + 1);
    }
    let charges = 0;
    for (const times of charged.values()) charges += times;
    expect(charges).toBe(expected.size);
    // An address of both countries is paid for in both batch groups, and in neither twice.
    expect(Math.max(...new Set(charged.values()))).toBeLessThanOrEqual(2);
  },
);
