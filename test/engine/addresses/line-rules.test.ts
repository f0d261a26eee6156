import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AddressLine, notSubmittedReasons } from '../../../src/engine/addresses/address.js';
import { emailLine } from '../../../src/engine/addresses/email.js';
import { phoneLine } from '../../../src/engine/addresses/phone/phone-line.js';
import { countryCodes, type CountryCode } from '../../../src/contract/countries.js';
import { invalidText, type CellText } from '../../../src/lists/rows/chunks/row-chunk.js';
import { unicodeText } from '../../platform/text/unicode-text.js';

/** All that a reader of a batch file could take for the end of a line, of a cell or of the file. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const breaking = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff,]/;

const kinds: {
  readonly name: string;
  readonly maxCharacters: number;
  readonly lineOf: (cell: CellText, country: CountryCode) => AddressLine;
}[] = [
  { name: 'emailLine', maxCharacters: 254, lineOf: (cell) => emailLine(cell) },
  { name: 'phoneLine', maxCharacters: 64, lineOf: phoneLine },
];

const country = fc.constantFrom(...countryCodes);

/** Any units at all, with what the rules are about much more often than by chance. */
const cell = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: unicodeText({ maxLength: 12 }) },
      { weight: 4, arbitrary: fc.stringMatching(/^[0-9+() .-]{0,12}$/) },
      { weight: 3, arbitrary: fc.string({ maxLength: 12 }) },
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          ...Array.from('\t\r\n\u0000\u000b\u0085\u00a0\u2028\ufeff\u200b "\',@+٣３＋ßİςJ'),
          '\u030c',
          '\u0301',
          '\ud83d\ude00',
          'e\u0301',
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom('\ud800', '\udc00') },
      { weight: 1, arbitrary: fc.integer({ min: 60, max: 300 }).map((n) => 'x'.repeat(n)) },
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

describe.each(kinds)('$name', ({ lineOf, maxCharacters }) => {
  it('makes a line that no reader of a batch file can mistake, or gives a known reason', () => {
    fc.assert(
      fc.property(cell, country, (text, country) => {
        const address = lineOf(text, country);
        if ('reason' in address) return notSubmittedReasons.includes(address.reason);
        const { line } = address;
        assert.notEqual(line, '');
        assert.doesNotMatch(line, breaking);
        assert.equal(line, line.trim());
        assert.equal(line, line.normalize('NFC'));
        assert.equal(line, Buffer.from(line).toString());
        assert.ok(Array.from(line).length <= maxCharacters);
        assert.ok(!(line.startsWith('"') && line.endsWith('"')));
        return true;
      }),
      { numRuns: 5000 },
    );
  });

  it('makes the same line and key of a line again', () => {
    fc.assert(
      fc.property(cell, country, (text, country) => {
        const address = lineOf(text, country);
        if ('reason' in address) return;
        assert.deepEqual(lineOf(address.line, country), address);
      }),
      { numRuns: 5000 },
    );
  });

  it('does not care for white space around a cell or for its normal form', () => {
    const around = fc.stringMatching(/^[ \t\r\n\u0085\u00a0\u2003\u2028\u3000\ufeff]{0,4}$/);
    fc.assert(
      fc.property(cell, country, around, around, (text, country, before, after) => {
        const address = lineOf(text, country);
        assert.deepEqual(lineOf(before + text + after, country), address);
        assert.deepEqual(lineOf(text.normalize('NFC'), country), address);
        assert.deepEqual(lineOf(text.normalize('NFD'), country), address);
      }),
      { numRuns: 2000 },
    );
  });

  it.each<[string, CellText, string]>([
    ['an absent cell', undefined, 'empty'],
    ['an empty cell', '', 'empty'],
    ['white space alone', ' \t\u00a0\u0085\ufeff\r\n', 'empty'],
    ['no valid text', invalidText, 'invalid_encoding'],
    ['a lone high surrogate', 'a\ud83d@example.com', 'invalid_encoding'],
    ['a lone low surrogate at the end', 'a@example.com\ude00', 'invalid_encoding'],
    ['surrogates in the wrong order', '\ude00\ud83d', 'invalid_encoding'],
    ['a comma', 'a,b@example.com', 'contains_comma'],
    ['a tab', 'a\tb@example.com', 'control_character'],
    ['a line feed', 'a@example.com\nb@example.com', 'control_character'],
    ['NUL', 'a\u0000b', 'control_character'],
    ['DEL', 'a\u007fb', 'control_character'],
    ['NEL', 'a\u0085b', 'control_character'],
    ['a line separator', 'a\u2028b', 'control_character'],
    ['a paragraph separator', 'a\u2029b', 'control_character'],
    ['a byte-order mark inside', 'a\ufeffb', 'control_character'],
    ['a quoted cell', '"a@example.com"', 'quoted'],
    ['a quote alone', '"', 'quoted'],
    ['a cell that is far too long', 'a'.repeat(1_000_000), 'too_long'],
  ])('refuses %s', (_, text, reason) => {
    expect(lineOf(text, 'DE')).toEqual({ reason });
  });

  it('counts code points of the normal form', () => {
    const smile = '\ud83d\ude00';
    expect(lineOf(smile.repeat(maxCharacters), 'DE')).toHaveProperty('line');
    expect(lineOf(smile.repeat(maxCharacters + 1), 'DE')).toEqual({ reason: 'too_long' });
    // Four code points before NFC and one behind it.
    const alpha = '\u1f83'.normalize('NFD');
    expect(alpha).toHaveLength(4);
    expect(lineOf(alpha.repeat(maxCharacters), 'DE')).toHaveProperty(
      'line',
      '\u1f83'.repeat(maxCharacters),
    );
    expect(lineOf(alpha.repeat(maxCharacters + 1), 'DE')).toEqual({ reason: 'too_long' });
  });

  it('names the first of several reasons', () => {
    const long = 'a'.repeat(300);
    expect(lineOf(`"${long},\n\ud800"`, 'DE')).toEqual({ reason: 'too_long' });
    expect(lineOf('",\n\ud800"', 'DE')).toEqual({ reason: 'invalid_encoding' });
    expect(lineOf('",\n"', 'DE')).toEqual({ reason: 'control_character' });
    expect(lineOf('","', 'DE')).toEqual({ reason: 'contains_comma' });
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])(
    'takes %s as text',
    (text) => {
      expect(lineOf(text, 'DE')).toHaveProperty('line', text);
    },
  );
});
