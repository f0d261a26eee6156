import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeTestAddress } from '../../../src/service/verification/test-addresses.js';
import { judgeTestNumber } from '../../../src/service/verification/judge-phone.js';

describe('addresses under sluice.test', () => {
  it.each([
    ['good', { valid: true, quality: 'good', result: 'ok' }],
    ['anna', { valid: true, quality: 'good', result: 'ok' }],
    ['bad', { wrong: true, quality: 'bad', result: 'invalid' }],
    ['risky', { valid: true, quality: 'risky', result: 'ok' }],
    ['unknown', { unknown: true, quality: 'unknown', result: 'unknown' }],
    ['error', { unknown: true, quality: 'unknown', result: 'error' }],
    ['syntax', { wrong: true, quality: 'bad', result: 'invalid', is_syntax_error: true }],
    ['free', { valid: true, quality: 'good', is_free: true }],
    ['role', { valid: true, quality: 'good', is_role: true }],
    ['disposable', { valid: true, quality: 'risky', is_disposable: true }],
    ['catch-all', { unknown: true, quality: 'risky', is_catch_all: true }],
    ['bad.role.free', { wrong: true, quality: 'bad', is_role: true, is_free: true }],
    ['unknown.catch-all', { unknown: true, quality: 'risky', is_catch_all: true }],
    ['bad.disposable', { wrong: true, quality: 'bad', is_disposable: true }],
    ['BAD', { wrong: true }],
    ['bad+anything.good', { wrong: true }],
    ['bad0042', { wrong: true }],
    ['bad7.role0042', { wrong: true, is_role: true }],
  ])('say %s', (local, verdict) => {
    expect(judgeTestAddress(local)).toMatchObject(verdict);
  });

  it('are the same object when they say the same, in one bucket each', () => {
    const word = fc.constantFrom(
      'good',
      'bad',
      'unknown',
      'error',
      'syntax',
      'free',
      'role',
      'disposable',
      'catch-all',
      'x',
      '',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), fc.nat(), (words, number) => {
        const verdict = judgeTestAddress(words.join('.'));
        const { valid, wrong, unknown } = verdict;
        expect([valid, wrong, unknown].filter(Boolean)).toHaveLength(1);
        expect(judgeTestAddress(words.map((text) => text + number).join('.'))).toBe(verdict);
      }),
    );
  });
});

describe('numbers under +99900', () => {
  it.each([
    ['+999001123456', { valid: true, type: 'mobile', status: 'active' }],
    ['+999002123456', { wrong: true }],
    ['+999003123456', { unknown: true }],
    ['+999004123456', { valid: true, is_ported: true }],
    ['+999005123456', { valid: true, status: 'inactive' }],
    ['+999006123456', { valid: true, type: 'fixed_line' }],
    ['+999007123456', { valid: true, type: 'voip' }],
    ['+999008123456', { valid: true, type: 'toll_free' }],
  ])('%s says so', (number, verdict) => {
    expect(judgeTestNumber(number)).toMatchObject(verdict);
  });

  it.each(['+999123456789', '+999009123456', '+999001123', '999001123456', '+9990011234567890'])(
    '%s is none',
    (number) => {
      expect(judgeTestNumber(number)).toBeUndefined();
    },
  );
});
