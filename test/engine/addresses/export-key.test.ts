import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emailLine } from '../../../src/engine/addresses/email.js';
import { exportKeyCandidates } from '../../../src/engine/plan/result-join.js';
import { phoneLine } from '../../../src/engine/addresses/phone/phone-line.js';
import { countryCodes } from '../../../src/contract/countries.js';

describe('exportKeyCandidates', () => {
  it('gives an email its own key, in any case', () => {
    expect(exportKeyCandidates('email', ' Jörg@Example.com', 'DE')).toEqual(['jörg@example.com']);
    expect(exportKeyCandidates('email', '4930123456', 'DE')).toEqual(['4930123456']);
  });

  it('gives a phone its E.164 form', () => {
    expect(exportKeyCandidates('phone', '+49 30 123456', 'US')).toEqual(['+4930123456']);
    expect(exportKeyCandidates('phone', '(030) 123456', 'DE')).toEqual(['+4930123456']);
    expect(exportKeyCandidates('phone', '4930123456', 'DE')).toEqual(['+4930123456']);
  });

  it('gives both numbers that digits alone may be', () => {
    expect(exportKeyCandidates('phone', '4930123456', 'US')).toEqual([
      '+14930123456',
      '+4930123456',
    ]);
    expect(exportKeyCandidates('phone', '49 30 123456', 'UM')).toEqual([
      'd4930123456',
      '+4930123456',
    ]);
  });

  it('gives digits that were sent as they are written, for each number that they may mean', () => {
    const digits = 'd491701234567';
    for (const key of ['491701234567', '+491701234567', '0170 1234567', '+49491701234567']) {
      expect(exportKeyCandidates('phone', key, 'DE')).toContain(digits);
    }
    expect(exportKeyCandidates('phone', '491701234567', 'DE')).toEqual([
      digits,
      '+49491701234567',
      '+491701234567',
    ]);
    expect(exportKeyCandidates('phone', '+491701234567', 'US')).toEqual(['+491701234567']);
  });

  it('keeps to the text where there is no number', () => {
    expect(exportKeyCandidates('phone', '1-800-FLOWERS', 'US')).toEqual(['t1-800-FLOWERS']);
    expect(exportKeyCandidates('phone', '1234', 'US')).toEqual(['d1234']);
    expect(exportKeyCandidates('phone', '__proto__', 'DE')).toEqual(['t__proto__']);
  });

  it('gives nothing for what cannot be a line', () => {
    for (const key of ['', ' ', 'a,b', 'a\nb', '"a"', '\ud800', 'a'.repeat(1000)]) {
      expect(exportKeyCandidates('email', key, 'US')).toEqual([]);
      expect(exportKeyCandidates('phone', key, 'US')).toEqual([]);
    }
  });

  it('always holds the key of a line that comes back as it was sent', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[+]?[0-9 ()-]{4,16}$/));
    fc.assert(
      fc.property(text, fc.constantFrom(...countryCodes), (cell, country) => {
        const email = emailLine(cell);
        const phone = phoneLine(cell, country);
        fc.pre('line' in email && 'line' in phone);
        expect(exportKeyCandidates('email', email.line, country)).toEqual([email.key]);
        expect(exportKeyCandidates('phone', phone.line, country)).toContain(phone.key);
        const unsigned = phone.key.startsWith('+') ? phone.key.slice(1) : phone.line;
        expect(exportKeyCandidates('phone', unsigned, country)).toContain(phone.key);
      }),
      { numRuns: 3000 },
    );
  });
});
