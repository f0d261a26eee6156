import fc from 'fast-check';
import { getExampleNumber, isSupportedCountry } from 'libphonenumber-js/min';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { type CountryCode, countryCodes } from '../../../../src/contract/countries.js';
import { planOf } from '../../../../src/engine/addresses/phone/numbering-plan.js';
import {
  missingPlusSignOf,
  mayMissPlusSign,
} from '../../../../src/engine/addresses/phone/phone-country.js';
import {
  mayBeSideBySide,
  phoneLine,
  plainDigits,
  plainFamily,
  plainNumberBytes,
  plainText,
  readPlainDigits,
  writePlainNumber,
} from '../../../../src/engine/addresses/phone/phone-line.js';
import { sureNumber } from '../../../../src/engine/addresses/phone/phone-readings.js';

const separate = (digits: string, separator: string) => digits.split('').join(separator);

describe('phoneLine', () => {
  it.each<[CountryCode, string, string]>([
    ['DE', '(030) 123 456', '+4930123456'],
    ['DE', '030/123456', '+4930123456'],
    ['DE', '0049 30 123456', '+4930123456'],
    ['DE', '+49 (0) 30 123456', '+4930123456'],
    ['DE', '(+49) 30 123456', '+4930123456'],
    ['DE', '49 30 123456', '+4930123456'],
    ['DE', '\u202f030\u202f12\u202f34\u202f56\u00a0', '+4930123456'],
    ['DE', '030\u2013123\u2011456', '+4930123456'],
    ['DE', '+４９ ３０ １２３４５６', '+4930123456'],
    ['DE', '٠٣٠ ١٢٣٤٥٦', '+4930123456'],
    ['IR', '۰۲۱ ۱۲۳۴ ۵۶۷۸', '+982112345678'],
    ['US', '(201) 555-0123', '+12015550123'],
    ['US', '1 (201) 555-0123', '+12015550123'],
    ['US', '011 49 30 123456', '+4930123456'],
    ['US', '＋49 30 123456', '+4930123456'],
    ['US', '+49 30 123456', '+4930123456'],
    ['IT', '06 1234 5678', '+390612345678'],
    ['AR', '011 15 2345 6789', '+5491123456789'],
    ['BR', '0 15 11 96123 4567', '+5511961234567'],
    ['US', '+800 1234 5678', '+80012345678'],
  ])('reads a number of %s written %s', (country, text, number) => {
    expect(phoneLine(text, country)).toEqual({ line: number, key: number });
  });

  it('reads the international form in countries that libphonenumber does not know', () => {
    for (const country of ['GS', 'UM'] as const) {
      expect(phoneLine('+1 201 555 0123', country)).toHaveProperty('key', '+12015550123');
      expect(phoneLine('201 555 0123', country)).toEqual({
        line: '201 555 0123',
        key: 'd2015550123',
      });
    }
  });

  it('compares what does not parse by its digits, and sends it as it stands', () => {
    expect(phoneLine(' 12-34 ', 'US')).toEqual({ line: '12-34', key: 'd1234' });
    expect(phoneLine('(12) 34', 'US')).toHaveProperty('key', 'd1234');
    expect(phoneLine('１２٣۴', 'US')).toHaveProperty('key', 'd1234');
    expect(phoneLine('+12-34', 'US')).toHaveProperty('key', 'd+1234');
  });

  it.each([
    '1-800-FLOWERS',
    '030 123456 ext. 7',
    '030 123456x7',
    '030 123456 доб. 7',
    '030 123456#7',
    '030 123456;7',
    '030~123456',
    'tel:+49-30-123456',
    '030*123456',
    '++4930123456',
    '+49+30123456',
    '4930123456+',
    '+',
    '-',
    '()',
    'n/a',
  ])('compares %s by its text', (text) => {
    expect(phoneLine(text, 'DE')).toEqual({ line: text, key: `t${text}` });
  });

  it('does not let numbers meet that are spelled with letters', () => {
    const keys = ['1-800-FLOWERS', '1-800-CONTACTS', '1-800-flowers', '1-800-356-9377'].map(
      (text) => phoneLine(text, 'US'),
    );
    expect(new Set(keys.map((address) => JSON.stringify(address))).size).toBe(4);
  });

  it('keeps the three kinds of keys apart', () => {
    expect(phoneLine('d1234', 'US')).toHaveProperty('key', 'td1234');
    expect(phoneLine('t1234', 'US')).toHaveProperty('key', 'tt1234');
    expect(phoneLine('1234', 'US')).toHaveProperty('key', 'd1234');
    expect(phoneLine('+4912', 'US')).toHaveProperty('key', 'd+4912');
  });

  it('judges the line that would be sent, not the cell', () => {
    const spaced = separate('+4930123456', '       ');
    expect(spaced.length).toBeGreaterThan(64);
    expect(phoneLine(spaced, 'DE')).toHaveProperty('line', '+4930123456');
    expect(phoneLine('1'.repeat(64), 'DE')).toHaveProperty('line');
    expect(phoneLine('1'.repeat(65), 'DE')).toEqual({ reason: 'too_long' });
    expect(phoneLine('030 123456, 030 654321', 'DE')).toEqual({ reason: 'contains_comma' });
    expect(phoneLine('030\t123456', 'DE')).toEqual({ reason: 'control_character' });
  });

  it('compares digits by themselves that would lose another prefix at each reading', () => {
    expect(phoneLine('+49 0 030 123456', 'DE')).toEqual({
      line: '+49 0 030 123456',
      key: 'd+490030123456',
    });
  });

  it('gives one key to the usual spellings of a number, in every country', () => {
    for (const country of countryCodes) {
      const example = isSupportedCountry(country) ? getExampleNumber(country, examples) : undefined;
      if (!example) continue;
      const number = { line: example.number, key: example.number };
      for (const text of [
        example.number,
        example.formatNational(),
        example.formatInternational(),
        example.formatInternational().replaceAll(' ', '\u202f'),
        `  ${separate(example.number, '-')}\n`,
      ]) {
        // In Gabon the same digits are the national form of two numbers.
        const line = country === 'GA' && text === example.formatNational() ? text : undefined;
        expect(phoneLine(text, country), `${country} ${text}`).toEqual(
          line === undefined ? number : { line, key: `d${line.replaceAll(' ', '')}` },
        );
      }
    }
  });
});

/** The number that the digits of a cell are by their beginning and their count. */
function numberOf(cell: string, country: CountryCode): string | undefined {
  const count = readPlainDigits(Buffer.from(cell), 0, cell.length);
  const family = plainFamily(count, planOf(country));
  if (!family) return undefined;
  const into = Buffer.alloc(plainNumberBytes + 1);
  return into.toString('latin1', 1, 1 + writePlainNumber(count, family, into, 1));
}

describe('plainFamily', () => {
  it.each<[string, CountryCode, string | undefined]>([
    ['+1 (202) 555-0123', 'DE', '+12025550123'],
    ['(202) 555-0123', 'US', '+12025550123'],
    ['202-555-0123', 'CA', '+12025550123'],
    ['601 123 456', 'CZ', '+420601123456'],
    // What has a prefix, or may have one, or a calling code, or another length.
    ['1 202 555 0123', 'US', undefined],
    ['011 49 30 901820', 'US', undefined],
    ['+1 1202 555 012', 'US', undefined],
    ['555-0123', 'US', undefined],
    ['420 601 123', 'CZ', undefined],
    ['030 901820', 'DE', '+4930901820'],
    ['(07400) 123456', 'GB', '+447400123456'],
    ['0049 30 901820', 'DE', undefined],
    ['011 2345 6789', 'IN', undefined],
    ['06 1234 5678', 'IT', undefined],
    ['0 0301234567', 'DE', undefined],
    ['+0 2025550123', 'US', undefined],
    ['+12', 'US', undefined],
  ])('takes %s, in %s, for %s', (cell, country, number) => {
    expect(numberOf(cell, country)).toBe(number);
  });

  it('says nothing else than the general way', () => {
    const digits = fc.string({
      unit: fc.constantFrom(...Array.from('0123456789')),
      minLength: 2,
      maxLength: 18,
    });
    const cells = fc.tuple(fc.constantFrom('', '0', '+', '+1', '+44', '00'), digits);
    fc.assert(
      fc.property(cells, fc.constantFrom(...countryCodes), ([start, rest], country) => {
        const cell = start + rest;
        const number = numberOf(cell, country);
        expect(number ?? sureNumber({ digits: cell }, country)).toBe(
          sureNumber({ digits: cell }, country),
        );
        const count = readPlainDigits(Buffer.from(cell), 0, cell.length);
        expect(plainText(count)).toBe(cell);
        if (mayMissPlusSign(plainDigits, count)) return;
        expect(missingPlusSignOf(cell, country)).toBeUndefined();
      }),
      { numRuns: 3000 },
    );
  });
});

/** Whether a cell that is one number by its beginning and its count may be more; says what else was asked. */
function isDoubted(cell: string, country: CountryCode) {
  const bytes = Buffer.from(cell);
  const count = readPlainDigits(bytes, 0, bytes.length);
  const family = plainFamily(count, planOf(country));
  const asked: string[] = [];
  const mayBe = mayBeSideBySide(bytes, 0, bytes.length, count, family, () => {
    const number = numberOf(cell, country) ?? '';
    asked.push(number);
    return number;
  });
  return { isPlain: family !== undefined, mayBe, asked };
}

it.each(['2024-01-15', '1999-12-31', '2024-01-15 10:30:00', '2024-01-15T10:30:00.000Z'])(
  'does not send the date %s as a number',
  (cell) => {
    expect(phoneLine(cell, 'DK')).toEqual({ reason: 'date' });
    expect(readPlainDigits(Buffer.from(cell), 0, cell.length)).toBe(0);
  },
);

it.each(['2024-13-15', '2024-01-32', '20 24 01 15', '2024-0115', '12024-01-15'])(
  'takes %s for no date',
  (cell) => {
    expect(phoneLine(cell, 'DK')).not.toEqual({ reason: 'date' });
  },
);

describe('mayBeSideBySide', () => {
  it.each<[string, CountryCode]>([
    ['+598 2174 5- 02166', 'AT'],
    ['+59 82123 021487', 'EE'],
    ['+5982 151 2 21654', 'GG'],
    ['+598 2166 021760', 'BE'],
  ])('doubts that %s, in %s, is one number', (cell, country) => {
    expect(phoneLine(cell, country)).toEqual({ reason: 'several_numbers' });
    expect(isDoubted(cell, country)).toMatchObject({ isPlain: true, mayBe: true });
  });

  it.each(['+44 7400 000 000', '+49 151 100 00000', '+1 212 412 0001'])(
    'needs no text of %s, whose first part is no number by its length',
    (cell) => {
      expect(isDoubted(cell, 'US')).toEqual({ isPlain: true, mayBe: false, asked: [] });
    },
  );

  it('doubts each cell that the general way takes for several numbers', () => {
    const short = fc.string({
      unit: fc.constantFrom(...Array.from('0123456789')),
      minLength: 2,
      maxLength: 7,
    });
    const start = fc.constantFrom('+598 2', '+5982', '+49 ', '+43 ', '+683 ', '+352 ', '+', '0');
    const between = fc.constantFrom(' ', ' 0', ' 02', '- ', ' - ');
    fc.assert(
      fc.property(
        fc.tuple(start, short, between, short),
        fc.constantFrom(...countryCodes),
        (parts, country) => {
          const cell = parts.join('');
          const { isPlain, mayBe } = isDoubted(cell, country);
          if (!isPlain || mayBe) return;
          expect(phoneLine(cell, country)).not.toEqual({ reason: 'several_numbers' });
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe('a cell of several numbers', () => {
  it.each([
    ['030 12345 / 030 6789', 'DE'],
    ['06421 123 / 06421 456', 'DE'],
    ['01 23456 / 01 34567', 'AT'],
    ['0641 1234 / 5678', 'DE'],
    ['22 12 34 56 / 22 12 34 57', 'NO'],
    ['030 12345 - 030 6789', 'DE'],
    ['030 12345 030 6789', 'DE'],
    ['030/12345/030/6789', 'DE'],
    ['0301234567/68', 'DE'],
    ['+49 641 12345678 / 79', 'DE'],
    ['0641 1234 0641 5678', 'DE'],
    ['+49 641 1234 +49 641 5678', 'DE'],
    ['+4930123456+4930654321', 'US'],
    ['030 1234 +49 30 5678', 'DE'],
    ['0641 1234 0171 5678', 'DE'],
    ['030 1234 040 5678', 'DE'],
    ['641 1234 641 5678', 'DE'],
    ['+49 641 1234 0641 5678', 'US'],
    ['+49 (0)641 1234 (0)641 5678', 'DE'],
    ['0049 641 1234 0049 641 5678', 'DE'],
    ['+39 02 1234 02 5678', 'IT'],
    ['01 23 45 67 89 06 12 34 56 78', 'FR'],
    ['22123456 22123457 22123458', 'NO'],
    ['(201) 555-0123 (201) 555-0124', 'US'],
  ] as const)('is not sent: %s', (cell, country) => {
    expect(phoneLine(cell, country)).toEqual({ reason: 'several_numbers' });
  });

  it.each([
    ['030/901820', 'DE', '+4930901820'],
    ['0641 / 12345', 'DE', '+4964112345'],
    ['+49 (0) 641 / 12345', 'DE', '+4964112345'],
    ['0049641/12345', 'DE', '+4964112345'],
    ['01/23/45/67/89', 'FR', '+33123456789'],
    ['02/123.45.67', 'BE', '+3221234567'],
    ['555-123/4567', 'US', '+15551234567'],
    ['030 1234567 - 0', 'DE', '+493012345670'],
    ['+49 30 1234 5678 901', 'DE', '+493012345678901'],
    ['030 123456 0123', 'DE', '+49301234560123'],
    ['+43 1 58858 123 456', 'AT', '+43158858123456'],
    ['0049 (0) 1512 345 6789', 'DE', '+4915123456789'],
  ] as const)('is not %s', (cell, country, line) => {
    expect(phoneLine(cell, country)).toMatchObject({ line });
  });
});

describe('011 where it is not dialled', () => {
  it.each([
    ['011 49 30 123456', 'DE', '+4930123456'],
    ['011 49 1512 3456789', 'DE', '+4915123456789'],
    ['011 81 3-1234-5678', 'JP', '+81312345678'],
    ['011 43 664 123456', 'AT', '+43664123456'],
    // Turin, Sapporo
    ['011 562 1234', 'IT', '+390115621234'],
    ['011 813 1234', 'JP', '+81118131234'],
  ] as const)('is %s in %s', (cell, country, line) => {
    expect(phoneLine(cell, country)).toMatchObject({ line });
  });
});

describe('a number with an exponent', () => {
  it.each([
    ['2.025550124E9', 'US', '+12025550124'],
    ['1.2025550123e10', 'US', '+12025550123'],
    // A calling code that is one stays one.
    ['+4.1793518190E10', 'DE', '+41793518190'],
    ['4,91701234567E+11', 'DE', '491701234567'],
  ] as const)('is the number where it has all digits: %s', (cell, country, line) => {
    expect(phoneLine(cell, country)).toMatchObject({ line });
  });

  it.each(['4.91702E+11', '2.02555012E9', '2.0255501245E9'])(
    'is none where it has not: %s',
    (cell) => {
      expect(phoneLine(cell, 'US')).toEqual({ reason: 'scientific_notation' });
    },
  );
});
