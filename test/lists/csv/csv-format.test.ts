import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDelimiter, quoteCell } from '../../../src/lists/csv/csv-format.js';
import { ConfigurationError } from '../../../src/platform/errors/errors.js';

const cell = fc.string({
  unit: fc.constantFrom('a', '"', ',', ';', '|', ' ', '\t', '\r', '\n', '\0', 'é', '\ufeff'),
  maxLength: 6,
});

describe('quoteCell', () => {
  it('writes cells that csv-parse reads as they were', () => {
    fc.assert(
      fc.property(
        fc.array(cell, { minLength: 2, maxLength: 5 }),
        fc.constantFrom(',', ';', '\t', '|', ' '),
        (cells, delimiter) => {
          const row = cells.map((cell) => quoteCell(cell, delimiter)).join(delimiter);
          const options = { delimiter, bom: true, record_delimiter: ['\r\n', '\n'] };
          expect(parse(`${row}\n`, options)).toEqual([cells]);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('quotes only what has to be, and spaces that others might trim', () => {
    const asTheyAre = ['', 'a', 'a b', "it's", 'a;b', '=1'];
    const inQuotes = ['a,b', 'a\nb', 'a\r', ' a', 'a\t', '\ufeffa'];
    expect(asTheyAre.map((text) => quoteCell(text, ','))).toEqual(asTheyAre);
    expect(inQuotes.map((text) => quoteCell(text, ','))).toEqual(
      inQuotes.map((text) => `"${text}"`),
    );
    expect(quoteCell('a"b', ',')).toBe('"a""b"');
  });
});

describe('parseDelimiter', () => {
  it('takes one ASCII character', () => {
    expect([',', ';', '\t', '|', ' '].map(parseDelimiter)).toEqual([0x2c, 0x3b, 0x09, 0x7c, 0x20]);
  });

  it.each(['', ',,', '"', '\n', '\r', '\0', '§', '\u{1f600}'])('refuses %j', (delimiter) => {
    expect(() => parseDelimiter(delimiter)).toThrow(ConfigurationError);
  });
});
