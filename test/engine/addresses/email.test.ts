import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emailLine, plainKeyBytes, writePlainKey } from '../../../src/engine/addresses/email.js';
import { unicodeText } from '../../platform/text/unicode-text.js';

function keyOf(cell: string): string {
  const address = emailLine(cell);
  if ('reason' in address) throw new Error(`refused: ${address.reason}`);
  return address.key;
}

describe('emailLine', () => {
  it('keeps the case in the line and drops it in the key', () => {
    expect(emailLine(' Jane.Doe@Example.COM ')).toEqual({
      line: 'Jane.Doe@Example.COM',
      key: 'jane.doe@example.com',
    });
  });

  it.each([
    'me@localhost',
    'me@x',
    'me@[127.0.0.1]',
    'me@127.0.0.1',
    'me@example.123',
    `me@${'x'.repeat(64)}.de`,
    `me@${'ü'.repeat(60)}.de`,
  ])('does not send %s, whose domain no mail reaches', (text) => {
    expect(emailLine(text)).toEqual({ reason: 'domain_invalid' });
    expect(writePlainKey(Buffer.from(text), 0, Buffer.byteLength(text), Buffer.alloc(254))).toBe(
      false,
    );
  });

  it('takes what nobody sees from both ends, and does not send what has it inside', () => {
    const { line } = emailLine('\u200bada@sluice.test\u00ad\u202c') as { line: string };
    expect(line).toBe('ada@sluice.test');
    for (const unseen of ['\u200b', '\u00ad', '\u2060', '\u200e', '\u202e', '\u00a0', '\u3000']) {
      expect(emailLine(`ada${unseen}@sluice.test`)).toEqual({ reason: 'invisible_character' });
    }
  });

  it('gives one key to an international domain and its ASCII form', () => {
    expect(emailLine('Info@Müller.de')).toEqual({
      line: 'Info@Müller.de',
      key: 'info@xn--mller-kva.de',
    });
    expect(emailLine('info@xn--mller-kva.de')).toMatchObject({ key: 'info@xn--mller-kva.de' });
    expect(emailLine('info@mu\u0308ller\u3002de')).toMatchObject({ key: 'info@xn--mller-kva.de' });
  });

  it.each([
    'not an address',
    'a@b@c',
    '@',
    'a..b@example.com',
    '"john doe"@example.com',
    "o'hara@example.com",
    '用户@例え.jp',
  ])('lets the service judge %s', (text) => {
    expect(emailLine(text)).toHaveProperty('line', text);
  });

  it.each([
    ['case', 'JÖRG@EXAMPLE.COM', 'jörg@example.com'],
    ['composed and decomposed letters', 'jo\u0308rg@example.com', 'j\u00f6rg@example.com'],
    ['case and decomposition', 'JO\u0308RG@EXAMPLE.COM', 'jörg@example.com'],
    ['the Kelvin sign and K', '\u212a@example.com', 'k@example.com'],
    ['letters that NFC joins in lower case only', 'J\u030c@example.com', '\u01f0@example.com'],
    ['the dotted capital I and its lower case', '\u0130@example.com', 'i\u0307@example.com'],
  ])('gives one key whatever the %s', (_, one, other) => {
    expect(keyOf(one)).toBe(keyOf(other));
  });

  it.each([
    ['dotted and dotless i', 'ı@example.com', 'i@example.com'],
    ['the dotted capital I and i', 'İ@example.com', 'i@example.com'],
    ['sharp s and ss', 'straße@example.com', 'strasse@example.com'],
    ['full-width and ASCII letters', 'ａ@example.com', 'a@example.com'],
    ['dots in the local part', 'a.b@example.com', 'ab@example.com'],
    ['tags', 'a+b@example.com', 'a@example.com'],
    ['inner space', 'a b@example.com', 'ab@example.com'],
  ])('keeps %s apart', (_, one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other));
  });

  it('takes 254 characters and not one more', () => {
    const longest = `${'a'.repeat(242)}@example.com`;
    expect(emailLine(longest)).toEqual({ line: longest, key: longest });
    expect(emailLine(`a${longest}`)).toEqual({ reason: 'too_long' });
  });

  it('gives one key to every case and normal form of an address', () => {
    const letters = fc.string({ unit: fc.constantFrom(...Array.from('abzéöñåžğşøæж日1._%+-@')) });
    fc.assert(
      fc.property(letters, fc.array(fc.boolean()), (text, upper) => {
        fc.pre('key' in emailLine(text));
        const recased = Array.from(text, (letter, i) =>
          upper[i % (upper.length + 1)] ? letter.toUpperCase() : letter,
        ).join('');
        expect(keyOf(recased)).toBe(keyOf(text));
        expect(keyOf(recased.normalize('NFD'))).toBe(keyOf(text));
        expect(keyOf(keyOf(text))).toBe(keyOf(text));
      }),
    );
  });

  it('has the same rules on its fast way', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        // A trailing space leaves the fast way and is trimmed.
        expect(emailLine(`${text} `)).toEqual(emailLine(text));
      }),
      { numRuns: 2000 },
    );
  });
});

function plainKey(cell: string): string | undefined {
  const bytes = Buffer.from(`,${cell},`);
  const into = new Uint8Array(plainKeyBytes);
  const end = bytes.length - 1;
  if (!writePlainKey(bytes, 1, end, into)) return undefined;
  return Buffer.from(into.subarray(0, end - 1)).toString();
}

describe('writePlainKey', () => {
  it('puts visible ASCII into lower case', () => {
    expect(plainKey("Ann.O'Hara+List@Example.COM")).toBe("ann.o'hara+list@example.com");
    expect(plainKey('a'.repeat(254))).toBe('a'.repeat(254));
  });

  it.each([
    '',
    'a b@x.test',
    'a,b@x.test',
    '"a"@x.test',
    'ä@x.test',
    'a\t@x.test',
    'a'.repeat(255),
  ])('leaves %j to the general way', (cell) => {
    expect(plainKey(cell)).toBeUndefined();
  });

  it('comes to what the general way comes to', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          unicodeText({ maxLength: 12 }),
          fc.string({ unit: 'grapheme-ascii', maxLength: 260 }),
          fc.emailAddress(),
        ),
        (cell) => {
          const key = plainKey(cell);
          if (key !== undefined) expect(emailLine(cell)).toEqual({ line: cell, key });
        },
      ),
      { numRuns: 600 },
    );
  });
});
