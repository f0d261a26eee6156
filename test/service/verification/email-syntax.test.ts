import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMailbox } from '../../../src/service/verification/email-syntax.js';

const letDig = Array.from('abcdefghijklmnopqrstuvwxyz0123456789');
const atext = [...letDig, ...Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-/=?^_`{|}~")];

const atom = fc.string({ unit: fc.constantFrom(...atext), minLength: 1, maxLength: 9 });
const dotString = fc.array(atom, { minLength: 1, maxLength: 6 }).map((atoms) => atoms.join('.'));
const quoted = fc
  .array(
    fc.oneof(
      fc
        .constantFrom(...Array.from({ length: 95 }, (_, at) => String.fromCharCode(0x20 + at)))
        .map((character) => (/["\\]/.test(character) ? `\\${character}` : character)),
      fc.constantFrom('é', '語', '😀'),
    ),
    { minLength: 1, maxLength: 15 },
  )
  .map((parts) => `"${parts.join('')}"`);
const label = fc
  .tuple(
    fc.constantFrom(...letDig),
    fc.string({ unit: fc.constantFrom(...letDig, '-'), maxLength: 20 }),
    fc.constantFrom(...letDig),
  )
  .map((parts) => parts.join(''))
  .filter((text) => !text.includes('xn--'));
const domain = fc.array(label, { minLength: 2, maxLength: 5 }).map((labels) => labels.join('.'));

describe('the syntax of emails', () => {
  it('holds for whatever the grammar makes', () => {
    fc.assert(
      fc.property(fc.oneof(dotString, quoted), domain, (local, name) => {
        expect(parseMailbox(`${local}@${name}`)).toEqual({ local, domain: name });
      }),
    );
  });

  it('agrees with a grammar written as a regular expression, on any ASCII text', () => {
    const a = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~]+";
    const l = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
    const grammar = new RegExp(`^${a}(?:\\.${a})*@${l}(?:\\.${l})+$`);
    const unit = fc.constantFrom(
      'a',
      'Z',
      '0',
      '.',
      '.',
      '@',
      '-',
      '_',
      '+',
      ' ',
      '"',
      '\\',
      '[',
      '\t',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 14 }), (text) => {
        if (text.startsWith('"')) return;
        expect(parseMailbox(text) !== undefined).toBe(grammar.test(text));
      }),
      { numRuns: 5000 },
    );
  });

  it('gives domains in lower case and as A-labels', () => {
    expect(parseMailbox('Ana@BÜCHER.Example')).toEqual({
      local: 'Ana',
      domain: 'xn--bcher-kva.example',
    });
  });

  it.each([
    'localhost',
    'x',
    '[127.0.0.1]',
    '[IPv6:2001:db8::1]',
    `${'a'.repeat(64)}.example`,
    `${'ü'.repeat(60)}.example`,
  ])('refuses the domain %s, which no mail server of the internet has', (name) => {
    expect(parseMailbox(`me@${name}`)).toBeUndefined();
  });

  it('takes a label of 63 octets', () => {
    expect(parseMailbox(`me@${'a'.repeat(63)}.example`)).toBeDefined();
  });

  it('refuses lone surrogates, C1 controls and line separators', () => {
    for (const bad of ['\ud800', '\udc00', '\u0085', '\u2028', '\ufeff']) {
      expect(parseMailbox(`a${bad}b@x.example`)).toBeUndefined();
      expect(parseMailbox(`"a${bad}b"@x.example`)).toBeUndefined();
    }
    expect(parseMailbox('a😀b@x.example')).toBeDefined();
  });

  it('reads a megabyte of anything at once', () => {
    for (const unit of ['a', '.', '@', '"', '"\\', 'é', 'a@', 'a.']) {
      expect(parseMailbox(unit.repeat(1_000_000 / unit.length))).toBeUndefined();
    }
  });
});
