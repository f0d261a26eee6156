import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { ContractError } from '../../src/errors/family.js';
import { fetchExport } from '../../src/streams/fetch-export.js';
import { caught } from '../client/test-client.js';
import { recordOf } from './record-service.js';

const whole = Buffer.from(JSON.stringify({ 'a@example.com': recordOf('email', 'a@example.com') }));

test('an export is fetched once and read as often as asked, byte by byte the same', async () => {
  let opened = 0;
  const again = await fetchExport(async () => {
    opened += 1;
    return Readable.from([whole.subarray(0, 5), whole.subarray(5)]);
  }, 'email');
  for (let reading = 0; reading < 3; reading += 1) {
    expect(await buffer(Readable.from(await again()))).toEqual(whole);
  }
  expect(opened).toBe(1);
});

test('an export that is cut anywhere is refused', async () => {
  for (let end = 0; end < whole.length; end += 1) {
    const error = await caught(
      fetchExport(async () => Readable.from([whole.subarray(0, end)]), 'email'),
    );
    expect(error).toBeInstanceOf(ContractError);
  }
});
