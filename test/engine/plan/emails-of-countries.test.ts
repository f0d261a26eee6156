import { expect, it } from 'vitest';
import { EmailsOfCountries } from '../../../src/engine/plan/emails-of-countries.js';

it('counts each email of several countries once, however it is written', () => {
  const emails = new EmailsOfCountries();
  const bytes = Buffer.from('x;ANN@sluice.test');
  emails.add(1, 'ann@sluice.test');
  emails.add(1, 'bo@sluice.test');
  expect(emails.count).toBe(0);
  emails.add(2, { bytes, start: 2, end: bytes.length });
  emails.add(3, 'Ann@sluice.test');
  expect(emails.count).toBe(1);
});

it('counts a sample of very many, and keeps no more', () => {
  const emails = new EmailsOfCountries();
  for (let at = 0; at < 300_000; at += 1) emails.add(1, `person${at}@sluice.test`);
  for (let at = 0; at < 300_000; at += 10) emails.add(2, `person${at}@sluice.test`);
  expect(emails.count).toBeGreaterThan(28_000);
  expect(emails.count).toBeLessThan(32_000);
});
