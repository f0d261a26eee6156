import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Batch } from '../../../src/engine/batches/batch.js';
import { ContractError } from '../../../src/platform/errors/service-errors.js';
import { fetchExport } from '../../../src/engine/streams/memory-export.js';
import { caught } from '../../client/test-client.js';
import { recordOf } from './harness/record-service.js';

const whole = Buffer.from(JSON.stringify({ 'a@example.com': recordOf('email', 'a@example.com') }));
const lines = Buffer.from('A@example.com\nb@example.com\n');
const batch: Batch = {
  id: 0,
  group: { type: 'email', country: 'US' },
  addresses: 2,
  sizeBytes: lines.length,
  checksum: 0,
  open: () => [lines],
};

test('an export is fetched once and read as often as asked, byte by byte the same', async () => {
  let opened = 0;
  const open = async (): Promise<AsyncIterable<Uint8Array>> => {
    opened += 1;
    return Readable.from([whole.subarray(0, 5), whole.subarray(5)]);
  };
  const { results: again, tally } = await fetchExport(open, batch);
  expect(tally).toEqual({ named: 1, strangers: 0, conflicting: 0 });
  for (let reading = 0; reading < 3; reading += 1) {
    expect(await buffer(Readable.from(await again()))).toEqual(whole);
  }
  expect(opened).toBe(1);
});

test('a collect() that resolves with no function is refused', async () => {
  const open = async (): Promise<AsyncIterable<Uint8Array>> => Readable.from([whole]);
  const error = await caught(fetchExport(open, batch, async () => undefined as never));
  expect(error).toMatchObject({ code: 'invalid_option', option: 'collect' });
});

test('an export that is cut anywhere is refused', async () => {
  for (let end = 0; end < whole.length; end += 1) {
    const error = await caught(
      fetchExport(async () => Readable.from([whole.subarray(0, end)]), batch),
    );
    expect(error).toBeInstanceOf(ContractError);
  }
});

test('records of an address that contradict each other are counted', async () => {
  const keys = ['a@example.com', 'b@example.com'];
  const records = ['true', 'false'].flatMap((valid) =>
    keys.map((key) => {
      const isValid = key.startsWith('b') || valid === 'true';
      return `"${key}":${JSON.stringify({ ...recordOf('email', key), valid: isValid })}`;
    }),
  );
  const body = Buffer.from(`{${records.join()}}`);
  const { tally } = await fetchExport(async () => Readable.from([body]), batch);
  expect(tally).toEqual({ named: 2, strangers: 0, conflicting: 1 });
});

test('records of addresses that the batch does not have are counted', async () => {
  const others = ['c@example.com', 'd@example.com', 'B@EXAMPLE.COM'];
  const records = others.map((email) => [email, recordOf('email', email)] as const);
  const body = Buffer.from(JSON.stringify(Object.fromEntries(records)));
  const { tally } = await fetchExport(async () => Readable.from([body]), batch);
  expect(tally).toEqual({ named: 1, strangers: 2, conflicting: 0 });
});
