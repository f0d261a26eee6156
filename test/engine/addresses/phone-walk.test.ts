import fc from 'fast-check';
import { parsePhoneNumberFromString, type PhoneNumber } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { phoneLine } from '../../../src/engine/addresses/phone/phone-line.js';
import type { CountryCode } from '../../../src/contract/countries.js';

/** Numbers of each type of each country, beside its example. */
const numbersOfType = 2;
const at = { internationalPrefix: 1, national: 2, nationalPrefix: 5, types: 11 } as const;

const fullWidth = (text: string) =>
  text.replaceAll(/[+\d]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
const scientific = (digits: string) => Number(digits).toExponential(5).replace('e', 'E');
/** What is dialled in front of a calling code, where that is one text. */
const dialled = (number: PhoneNumber) => {
  const prefix = String(fieldsOf(number)[at.internationalPrefix]);
  return /^\d+$/.test(prefix) ? prefix : '00';
};
const trunk = (number: PhoneNumber) => String(fieldsOf(number)[at.nationalPrefix] || '');
const international = (number: PhoneNumber, separator: string) =>
  number.formatInternational().replaceAll(' ', separator);

/** The ways in which people and their programs write a number. */
const forms: Readonly<Record<string, (number: PhoneNumber) => string>> = {
  'E.164': (number) => number.number,
  spaces: (number) => number.formatInternational(),
  dashes: (number) => international(number, '-'),
  dots: (number) => international(number, '.'),
  brackets: (number) => number.formatInternational().replace(/ (\d+)/, ' ($1)'),
  'code in brackets': (number) => number.formatInternational().replace(/^\S+/, '($&)'),
  'zero in brackets': (number) => number.formatInternational().replace(' ', ' (0) '),
  'no-break spaces': (number) => international(number, '\u00a0'),
  'full-width digits': (number) => fullWidth(number.formatInternational()),
  'white space around': (number) => `  ${number.formatInternational()} \t`,
  apostrophe: (number) => `'${number.number}`,
  national: (number) => number.formatNational(),
  'national, digits': (number) => number.formatNational().replaceAll(/\D/g, ''),
  'national, bare': (number) => number.nationalNumber,
  'national, full-width': (number) => fullWidth(number.formatNational()),
  'national, trunk prefix': (number) => trunk(number) + number.nationalNumber,
  'national, fraction': (number) => `${number.nationalNumber}.0`,
  '00': (number) => `00${number.number.slice(1)}`,
  'dialled prefix': (number) => dialled(number) + number.number.slice(1),
  'code without plus': (number) => number.number.slice(1),
  'code without plus, fraction': (number) => `${number.number.slice(1)}.0`,
  'tel: URI': (number) => number.getURI(),
  extension: (number) => `${number.formatInternational()} ext. 12`,
  'scientific notation': (number) => scientific(number.number.slice(1)),
};

/** Forms that can mean one number only; in Italy, a zero in brackets may be a part of the number. */
const sure = Object.keys(forms)
  .slice(0, Object.keys(forms).indexOf('national'))
  .filter((form) => form !== 'zero in brackets');

function fieldsOf({ country }: PhoneNumber): readonly unknown[] {
  return metadata.countries[country ?? 'US'] ?? [];
}

function numbersOf(country: string): readonly PhoneNumber[] {
  const fields = metadata.countries[country as keyof typeof metadata.countries] ?? [];
  const [callingCode] = fields as readonly string[];
  const ranges = (fields[at.types] || []) as readonly (readonly unknown[] | 0)[];
  const types = [fields[at.national], ...ranges.map((range) => range && range[0])].filter(
    (pattern): pattern is string => typeof pattern === 'string' && pattern !== '',
  );
  const sampled = types.flatMap((type) =>
    fc.sample(fc.stringMatching(new RegExp(`^(?:${type})$`)), { numRuns: numbersOfType, seed: 7 }),
  );
  const nationals = new Set([examples[country as keyof typeof examples] ?? '', ...sampled]);
  return [...nationals].flatMap((national) => {
    const number = parsePhoneNumberFromString(`+${String(callingCode)}${national}`);
    return number?.isValid() ? [number] : [];
  });
}

/** What is sent as it is written: the cell, without what a spreadsheet has put around it. */
const asWritten = (text: string) =>
  text
    .trim()
    .replace(/^'/, '')
    .replace(/^(\d+)\.0$/, '$1');

describe('phoneLine, over all countries and ways to write a number', () => {
  it('sends the number, or what is written, and never another number', () => {
    const counts = new Map(
      Object.keys(forms).map((form) => [form, { right: 0, asWritten: 0, refused: 0 }]),
    );
    // More than those of the service: all that have a numbering plan.
    const countries = Object.keys(metadata.countries) as CountryCode[];
    const wrong: string[] = [];
    for (const country of countries) {
      const numbers = numbersOf(country);
      expect(numbers.length, country).toBeGreaterThan(0);
      for (const number of numbers) {
        for (const [form, write] of Object.entries(forms)) {
          const text = write(number);
          const address = phoneLine(text, country);
          const count = counts.get(form) ?? { right: 0, asWritten: 0, refused: 0 };
          if ('reason' in address) count.refused += 1;
          else if (address.line === number.number) count.right += 1;
          else if (address.line === asWritten(text)) count.asWritten += 1;
          else wrong.push(`${country} ${form}: ${text} -> ${address.line}, not ${number.number}`);
        }
      }
    }
    process.stdout.write(describeCounts(countries.length, counts));
    expect(wrong).toEqual([]);
    expect(countries.length).toBeGreaterThanOrEqual(245);
    for (const form of sure)
      expect(counts.get(form), form).toMatchObject({ asWritten: 0, refused: 0 });
    // A number of few digits has all of them.
    expect(counts.get('scientific notation')).toMatchObject({ asWritten: 0 });
    for (const form of [
      'zero in brackets',
      'national',
      'dialled prefix',
      '00',
      'code without plus',
    ]) {
      const { right, asWritten: left } = counts.get(form) ?? { right: 0, asWritten: 1 };
      expect(left / right, form).toBeLessThan(0.05);
    }
  });
});

function describeCounts(
  countries: number,
  counts: ReadonlyMap<string, { right: number; asWritten: number; refused: number }>,
): string {
  const lines = Array.from(
    counts,
    ([form, { right, asWritten: left, refused }]) =>
      `${form.padEnd(28)} ${right} right, ${left} as written, ${refused} refused`,
  );
  return `${[`${countries} countries`, ...lines].join('\n')}\n`;
}
