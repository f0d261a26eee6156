// A stream and a single address through a double.
import { verifyAddress, verifyRows } from 'sluice';
import type { EmailRecord } from 'sluice/contract';
import { expect, test } from 'vitest';
import { mockService } from './mock-service.js';

/** Only Ada can be reached. */
function record(email: string): EmailRecord {
  const valid = email.startsWith('ada');
  return {
    email,
    valid,
    wrong: !valid,
    unknown: false,
    quality: valid ? 'good' : 'bad',
    result: valid ? 'deliverable' : 'undeliverable',
    is_syntax_error: false,
    is_free: false,
    is_role: false,
    is_disposable: false,
    is_catch_all: false,
  };
}

const client = mockService(record);

test('gives each row the verdict of the double', async () => {
  const people = [{ email: 'ada@example.org' }, { email: 'bob@example.org' }, { email: '' }];
  const valid: (boolean | null)[] = [];
  const options = { client, email: ['email'], country: 'US', pollIntervalMs: 1 } as const;
  for await (const row of verifyRows(people, options)) valid.push(row.email_valid);
  expect(valid).toEqual([true, false, null]);
});

test('verifies one address', async () => {
  const verdict = await verifyAddress({ client, email: 'ada@example.org', country: 'US' });
  expect(verdict).toMatchObject({ verification: 'verified', record: { valid: true } });
});
