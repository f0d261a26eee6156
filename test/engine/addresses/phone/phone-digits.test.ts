import { describe, expect, it } from 'vitest';
import { phoneDigits } from '../../../../src/engine/addresses/phone/phone-digits.js';

describe('phoneDigits', () => {
  it.each([
    ['0123456789', '0123456789'],
    ['+49 30', '+4930'],
    ['(+49) 30', '+4930'],
    ['＋４９', '+49'],
    ['(030) 12.34/56-78', '03012345678'],
    ['[030]\u00a012\u200712\u202f3', '03012123'],
    ['1\u00ad2\u200b3\u2060', '123'],
    ['\u202a+49 30\u202c', '+4930'],
    ['\u202d+1 (2)\u202c', '+12'],
    ['\u2068\u200e12\u2069\ufeff', '12'],
    ['1\u20102\u20113\u20124\u20135\u20146\u20157\u22128－9﹣0', '1234567890'],
    ['（０１２）３／４．５', '012345'],
    ['٠١٢٣٤٥٦٧٨٩', '0123456789'],
    ['۰۱۲۳۴۵۶۷۸۹', '0123456789'],
  ])('finds in %s the digits %s', (text, digits) => {
    expect(phoneDigits(text)).toEqual({ digits });
  });

  it.each([
    ['+49 (0) 30', '+49030', 3],
    ['49(0)30', '49030', 2],
    ['0049 [ 0 ] 30', '0049030', 4],
    ['＋４９（０）３０', '+49030', 3],
  ])('finds in %s the zero in brackets', (text, digits, zeroAt) => {
    expect(phoneDigits(text)).toEqual({ digits, zeroAt });
  });

  it('takes a zero in brackets in front of all digits for one of them', () => {
    expect(phoneDigits('(0) 30 12')).toEqual({ digits: '03012' });
  });

  it.each([
    '',
    ' ',
    '+',
    '(-)',
    'a',
    '12a',
    '1+2',
    '++1',
    '+1+',
    '1,2',
    '1#2',
    '1~2',
    '1*2',
    '१२',
    '1\t2',
    '²',
    '\u202e12',
  ])('finds nothing but text in "%s"', (text) => {
    expect(phoneDigits(text)).toBeUndefined();
  });
});
