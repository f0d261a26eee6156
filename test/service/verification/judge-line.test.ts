import fc from 'fast-check';
import { expect, it } from 'vitest';
import { judgeEmail } from '../../../src/service/verification/judge-email.js';
import { judgePhone } from '../../../src/service/verification/judge-phone.js';
import { judgeLine, readAddress } from '../../../src/service/verification/offline-engine.js';

const digits = Array.from('0123456789');

const phone = fc.oneof(
  fc.string({ unit: fc.constantFrom(...digits), maxLength: 12 }).map((rest) => `+1${rest}`),
  fc.string({ unit: fc.constantFrom(...digits, '+', ' ', '(', ')', '-', 'x'), maxLength: 16 }),
  fc.constantFrom('+9990011234', '2015550123', '(201) 555-0123', '+27821234567', '+41446681800'),
);

it('reads and judges a line as those do who do one of the two', () => {
  const line = fc.oneof(phone, fc.emailAddress(), fc.string({ unit: 'grapheme', maxLength: 12 }));
  fc.assert(
    fc.property(fc.constantFrom('email', 'phone'), line, (type, text) => {
      const { key, wellFormed } = readAddress(type, 'US', text);
      const verdict = type === 'email' ? judgeEmail(text) : judgePhone(text, 'US');
      expect(judgeLine(type, 'US', text)).toEqual({ key, wellFormed, verdict });
    }),
    { numRuns: 3000 },
  );
});
