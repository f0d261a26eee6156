import { describe, expect, it } from 'vitest';
import { findCharge } from '../../../src/engine/batches/status-answer.js';

const email = {
  total_email_cost: 10,
  net_email_cost: 7.5,
  email_cache_account_return: 3,
  email_cache_global_return: 2,
};
const phone = {
  total_phone_cost: 4,
  net_phone_cost: 4,
  phone_cache_account_return: 0,
  phone_cache_global_return: 0,
};
const done = { status: 'verification_done' };
const emailCharge = { spent: 10, refunded: 2.5, net: 7.5 };
const phoneCharge = { spent: 4, refunded: 0, net: 4 };

describe('findCharge', () => {
  it.each([
    ['at the top', email],
    ['in a field', { cost: email }],
    ['deeper', { results: { figures: { cost: email } } }],
    ['behind other fields', { a: null, b: [1], c: 'text', d: { e: 1 }, f: email }],
    ['under a name like any other', { ['__proto__']: null, constructor: email }],
  ])('finds the cost object %s', (_, answer) => {
    expect(findCharge('email', { ...done, ...answer })).toEqual(emailCharge);
  });

  it('takes that of its own type', () => {
    const answer = { ...done, costs: [], email, phone };
    expect(findCharge('email', answer)).toEqual(emailCharge);
    expect(findCharge('phone', answer)).toEqual(phoneCharge);
    expect(findCharge('phone', { ...done, ...email })).toBeUndefined();
    expect(findCharge('email', { ...done, ...phone })).toBeUndefined();
  });

  it.each([
    {},
    { status: 'verification_ongoing', cost: email },
    { cost: { total_email_cost: 10 } },
    { cost: { ...email, total_email_cost: '10' } },
    { cost: { ...email, total_email_cost: 1.5 } },
    { cost: { ...email, net_email_cost: 10.5 } },
    { cost: { ...email, net_email_cost: -1 } },
    { a: { b: { c: { d: email } } } },
    { list: [email] },
  ])('finds none in %j', (answer) => {
    expect(findCharge('email', { ...done, ...answer })).toBeUndefined();
  });

  it('does not lose itself in a deep answer', () => {
    let deep: object = {};
    for (let level = 0; level < 10_000; level += 1) deep = { deep };
    const answer = { ...done, deep };
    expect(findCharge('email', answer)).toBeUndefined();
  });
});
