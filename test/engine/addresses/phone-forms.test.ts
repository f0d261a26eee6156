import { describe, expect, it } from 'vitest';
import { phoneLine } from '../../../src/engine/addresses/phone/phone-line.js';
import type { CountryCode } from '../../../src/contract/countries.js';

describe('phoneLine, as people write numbers', () => {
  it.each<[string, CountryCode, string, string]>([
    [
      'a calling code without plus, too long for a national number',
      'GB',
      '447700900123',
      '+447700900123',
    ],
    [
      'a calling code without plus, and no valid national number',
      'DE',
      '4930123456',
      '+4930123456',
    ],
    ['a fraction', 'AU', '412345678.0', '+61412345678'],
    ['a fraction with a comma', 'AU', '412345678,0', '+61412345678'],
    ['two decimals', 'AU', '412345678.00', '+61412345678'],
    ['the fraction of a decimal', 'DE', '1701234567.000', '+491701234567'],
    ['the fraction of a long decimal', 'US', '2025550143.0000000000', '+12025550143'],
    ['the fraction of a decimal behind a plus', 'US', '+61412345678,000', '+61412345678'],
    ['a fraction behind a plus', 'US', '+61412345678.0', '+61412345678'],
    ['00 where 0021 is dialled', 'BR', '0055 11961234567', '+5511961234567'],
    ['00 where 0011 is dialled', 'AU', '0061 412 345 678', '+61412345678'],
    ['00 where 010 is dialled', 'JP', '0081 90 1234 5678', '+819012345678'],
    ['00 where 001 and 008 are dialled', 'ID', '0062 812 345 678', '+62812345678'],
    ['00 where 001 to 009 are dialled', 'TH', '0066 81 234 5678', '+66812345678'],
    ['00 where 0 is dialled', 'WS', '00685 72 12345', '+6857212345'],
    ['00 to another country', 'AU', '0049 170 1234567', '+491701234567'],
    ['a zero in brackets', 'CZ', '+420 (0) 601 123 456', '+420601123456'],
    ['a zero in brackets that is dialled', 'DE', '+49 (0) 170 1234567', '+491701234567'],
    ['a zero in brackets that belongs to the number', 'IT', '+39 (0)6 1234 5678', '+390612345678'],
    ['a zero in brackets behind 00', 'DE', '00420 (0) 601 123 456', '+420601123456'],
    ['a zero in brackets behind a code without plus', 'DE', '49 (0) 170 1234567', '+491701234567'],
    ['an apostrophe', 'GB', "'+447700900123", '+447700900123'],
    ['an apostrophe and a national number', 'GB', " '07700 900123", '+447700900123'],
    ['a curled apostrophe', 'GB', '’07700 900123', '+447700900123'],
    ['a grave accent in front', 'GB', '`07700 900123', '+447700900123'],
    ['a formula that is a text', 'DE', '="030901820"', '+4930901820'],
    ['an apostrophe in front of such a formula', 'DE', '\'="+49 30 901820"', '+4930901820'],
    ['the long vowel of Japanese for a dash', 'JP', '090ー1234ー5678', '+819012345678'],
    ['the national form of Gabon', 'GA', '066 03 12 34', '+24166031234'],
  ])('understands %s', (_, country, text, number) => {
    expect(phoneLine(text, country)).toEqual({ line: number, key: number });
  });

  it.each<[string, CountryCode, string, string]>([
    ['a calling code, or a long national number', 'DE', '491701234567', 'd491701234567'],
    ['a fraction of digits that mean two numbers', 'DE', '491701234567.0', 'd491701234567'],
    ['00 and no valid number', 'AU', '0049 12', 'd004912'],
    ['00 and no calling code', 'JP', '00999 123456', 'd00999123456'],
    ['a zero in Gabon that is a prefix, or is none', 'GA', '06 03 12 34', 'd06031234'],
    ["a stranger's calling code without plus", 'US', '447700900123', 'd447700900123'],
    ['zeros that may be written by hand', 'US', '0800.00', 'd080000'],
    ['an apostrophe in front of text', 'US', "'1-800-FLOWERS", 't1-800-FLOWERS'],
  ])('sends as it is written: %s', (_, country, text, key) => {
    const line = text.replace(/^'/, '').replace(/(?<=\d{9})\.0$/, '');
    expect(phoneLine(text, country)).toEqual({ line, key });
  });

  it.each(['4.91702E+11', '4,91512E+11', '4.9e11', ' 1E+05 ', "'4.91702E+11", '49.17E+10'])(
    'does not send %s, whose digits are lost',
    (text) => {
      expect(phoneLine(text, 'DE')).toEqual({ reason: 'scientific_notation' });
    },
  );

  it('does not take other text for scientific notation', () => {
    for (const text of ['E+11', '4.9E', 'Suite 4E11', '4.9EUR', '4917E+110000']) {
      expect(phoneLine(text, 'DE')).toHaveProperty('line', text);
    }
  });

  it('has nothing to send where only an apostrophe is written', () => {
    expect(phoneLine("'", 'DE')).toEqual({ reason: 'empty' });
    expect(phoneLine('=""', 'DE')).toEqual({ reason: 'empty' });
  });
});
