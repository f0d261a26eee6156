import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emailLine } from '../../../src/engine/addresses/email.js';
import {
  addressesIn,
  cellForm,
  isSurelyWellFormed,
  looksLike,
} from '../../../src/engine/addresses/cell-form.js';
import { phoneLine } from '../../../src/engine/addresses/phone/phone-line.js';
import { parseMailbox } from '../../../src/service/verification/email-syntax.js';
import { readPhone } from '../../../src/service/verification/judge-phone.js';
import { unicodeText } from '../../platform/text/unicode-text.js';

describe('looksLike', () => {
  it.each([
    ['0641 1234 / 5678', true],
    ['030 12345 / 030 6789', true],
    ['4,91702E+11', true],
    ['ext. 1234567', true],
    ['Ada Lovelace', false],
  ])('says of the phone %s: %s', (cell, isAlike) => {
    expect(looksLike('phone', phoneLine(cell, 'DE'), 'DE')).toBe(isAlike);
  });
});

describe('isSurelyWellFormed', () => {
  it.each([
    ['anna.berg+news@example.co.uk', true],
    ['A_1-b@x-y.de', true],
    ['nobody', false],
    ['@x.de', false],
    ['a@x', false],
    ['a..b@x.de', false],
    ['a@-x.de', false],
    ['a@x.d', false],
    ['a@x.de.', false],
    ['a@b@x.de', false],
    ['jos\u00e9@x.de', false],
    [`${'a'.repeat(65)}@x.de`, false],
  ])('says of the email %s: %s', (line, isWellFormed) => {
    expect(isSurelyWellFormed('email', line, 'US')).toBe(isWellFormed);
  });

  it.each([
    ['+442071838750', true],
    ['+12125550123', true],
    ['2125550123', false],
    ['+1', false],
    ['1-800-FLOWERS', false],
  ])('says of the phone %s: %s', (line, isWellFormed) => {
    expect(isSurelyWellFormed('phone', line, 'US')).toBe(isWellFormed);
  });

  it('says yes to nothing that the local service removes', () => {
    const part = fc.stringMatching(/^[a-z0-9._+@-]{0,12}$/);
    const email = fc.oneof(
      fc.tuple(part, part).map(([local, domain]) => `${local}@${domain}.com`),
      fc.emailAddress(),
      unicodeText(),
    );
    fc.assert(
      fc.property(email, (cell) => {
        const address = emailLine(cell);
        if (!('line' in address) || !isSurelyWellFormed('email', address.line, 'US')) return;
        expect(parseMailbox(address.line)).toBeDefined();
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.stringMatching(/^\+?[0-9 ().-]{3,18}$/), (cell) => {
        const address = phoneLine(cell, 'US');
        if (!('line' in address) || !isSurelyWellFormed('phone', address.line, 'US')) return;
        expect(readPhone(address.line, 'US')).toBeDefined();
      }),
      { numRuns: 2000 },
    );
  });
});

it.each([
  ['ada@example.com', undefined],
  ['mailto:ada@example.com', 'mailto'],
  ['Ada <ada@example.com>', 'named'],
  ['ada@example.com; bob@example.com', 'several'],
  ['ada@example.com / bob@example.com', 'several'],
  ['ada@example.com bob@example.com', 'several'],
  ['Ada <ada@example.com>, Bob <bob@example.com>', 'several'],
  ['ada@example.com.', 'beside'],
  ["'ada@example.com", 'beside'],
  ['ada@example.com (work)', 'beside'],
  ['mail: ada@example.com', 'beside'],
  ['ada', 'no_at'],
  ['ada.example.com', 'no_at'],
  ["o'brien@example.com", undefined],
  ['ada@@example.com', undefined],
  ['ada@example', undefined],
])('says how the email cell %j is written', (cell, form) => {
  expect(cellForm('email', cell)).toBe(form);
});

it.each([
  ['+49 30 901820', undefined],
  ['030/901820', undefined],
  ['+49 170 1234567 ::: +49 30 901820', 'several'],
  ['2025550123 / 2025550124', 'several'],
  ['030/901820 oder 0170 1234567', 'unsplit'],
  ['0641 1234 / 5678', 'unsplit'],
  ['555-0100 555-0101', 'unsplit'],
  ['0641 1234567 0641 12345', 'unsplit'],
  ['12 34 56 78', undefined],
  ['41111111111111111111', undefined],
  ['4.91701234567E11', undefined],
  ['4.91702E+11', undefined],
  ['+49 30 901820 ext. 7', 'extension'],
  ['(202) 555-0123 x12', 'extension'],
  ['tel:+49-30-901820', 'tel'],
  ['tel:+4930901820; tel:+491701234567', 'several'],
  ['Tel. 040-123456', 'beside'],
  ['Telefon: 040 123456', 'beside'],
  ['040 123456 (Büro)', 'beside'],
  ['1-800-555-CALL', undefined],
  ['a1b2345678', undefined],
  ['1-800-FLOWERS', undefined],
  ['call me', undefined],
])('says how the phone cell %j is written', (cell, form) => {
  expect(cellForm('phone', cell)).toBe(form);
});

// What is left whole could be sent as a number that nobody has written.
it.each([
  ['0641 1234 / 5678', undefined],
  ['0641 1234567 / 1234568', undefined],
  ['02 1234 5678; 8765 4321', undefined],
  ['+61 2 1234 5678, 8765 4321', undefined],
  ['0049 641 1234567 / 1234568', undefined],
  ['202-555-0123 / 555-0124', undefined],
  ['0641 1234567 / 0641 1234568', ['0641 1234567', '0641 1234568']],
  ['0170 1234567; 170 1234568', ['0170 1234567', '170 1234568']],
  ['+49 170 1234567 | 030 901820', ['+49 170 1234567', '030 901820']],
  ['+1 202 555 0123, 202 555 0124', ['+1 202 555 0123', '202 555 0124']],
  ['+49 30 901820 +49 170 1234567', ['+49 30 901820', '+49 170 1234567']],
  ['["+49 170 1234567","030 901820"]', ['+49 170 1234567', '030 901820']],
  ['tel:+49-170-1234567', ['+49-170-1234567']],
  ['[+49] 30 901820', undefined],
  ['1 202 555 0123 / 202 555 0124', ['1 202 555 0123', '202 555 0124']],
])('splits the phone cell %j only where each part is a whole number', (cell, parts) => {
  expect(addressesIn('phone', cell)).toEqual(parts);
});

it.each([
  ['a@x.example b@x.example', ['a@x.example', 'b@x.example']],
  ['a@x.example / b@x.example', ['a@x.example', 'b@x.example']],
  ['["a@x.example", "b@x.example"]', ['a@x.example', 'b@x.example']],
  ["['a@x.example','b@x.example']", ['a@x.example', 'b@x.example']],
  ['{a@x.example,"b@x.example"}', ['a@x.example', 'b@x.example']],
  ['["a@x.example"]', ['a@x.example']],
  [
    '["Meyer, Ada <a@x.example>", " b@x.example ", "c@x.example; d@x.example"]',
    ['a@x.example', 'b@x.example', 'c@x.example', 'd@x.example'],
  ],
  ['["a@x.example", "none"]', undefined],
  ['["a@x.example", null]', undefined],
  ['[["a@x.example"]]', undefined],
  ['[]', undefined],
  ['[a@x.example}', undefined],
  ['Kim <kim@x.example>; kim2@x.example', ['kim@x.example', 'kim2@x.example']],
  ['kim2@x.example, "Kim" <kim@x.example>', ['kim2@x.example', 'kim@x.example']],
  ['mailto:kim@x.example; MAILTO:b@x.example', ['kim@x.example', 'b@x.example']],
  ['Kim <kim@x.example>', ['kim@x.example']],
  ['"Doe, Kim" <kim@x.example>', ['kim@x.example']],
  ['mailto:kim@x.example', ['kim@x.example']],
  ['mailto:kim@x.example;', ['kim@x.example']],
  ['"a@x.example" <a@x.example>', undefined],
  ['Kim <kim@x.example>; Jo', undefined],
  ['a/b@x.example', undefined],
  ['Ada a@x.example', undefined],
  ['a @x.example', undefined],
])('splits the email cell %j where each part is an address', (cell, parts) => {
  expect(addressesIn('email', cell)).toEqual(parts);
});
