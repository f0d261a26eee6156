import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeyMaker, keyBytes } from '../../../src/service/storage/key-table.js';
import { judgeEmail } from '../../../src/service/verification/judge-email.js';
import { judgePlainEmail } from '../../../src/service/verification/plain-email.js';
import { readAddress } from '../../../src/service/verification/offline-engine.js';
import { unicodeText } from '../../platform/text/unicode-text.js';

const names = ['sales', 'No-Reply', 'i.n_f-o', 'info7', 'INFO', 'hr', 'salesx', 'anna.maria', 'a'];
const local = fc.oneof(
  fc.constantFrom(...names),
  fc.string({
    unit: fc.constantFrom('a', 'Z', '0', '.', '-', '_', '+', '@', '"', '\\', ' ', 'é', '\u0000'),
    maxLength: 12,
  }),
  fc.integer({ min: 60, max: 70 }).map((length) => 'x'.repeat(length)),
);
const domain = fc.oneof(
  fc.constantFrom(
    'gmail.com',
    'GMAIL.com',
    'mailinator.com',
    'sluice.test',
    'Sluice.TEST',
    'example.com',
    'firm.example-mail.org',
    'xn--mnchen-3ya.de',
    'xn--nothing--.de',
    'münchen.de',
    'one',
    '[192.0.2.1]',
    '-a.de',
    'a..de',
    '',
  ),
  fc.string({ unit: fc.constantFrom('a', 'B', '1', '-', '.', '@', '[', 'é', ' '), maxLength: 10 }),
  fc.integer({ min: 40, max: 260 }).map((length) => `${'a.'.repeat(length / 2)}de`),
);
const address = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(local, domain).map((parts) => parts.join('@')) },
  unicodeText({ maxLength: 20 }),
);

/** The address amid other bytes, as it stands in a block. */
function placed(text: string) {
  const bytes = Buffer.from(`before@x.example\n${text}\nbehind@y.example\n`);
  const begin = bytes.indexOf('\n') + 1;
  return { bytes, begin, end: begin + Buffer.byteLength(text) };
}

describe('emails read from their bytes', () => {
  it('are judged as their texts are', () => {
    fc.assert(
      fc.property(address, (text) => {
        const { bytes, begin, end } = placed(text);
        expect(judgePlainEmail(bytes, begin, end) ?? judgeEmail(text)).toBe(judgeEmail(text));
      }),
      { numRuns: 5000 },
    );
  });

  it('are plain only if they are well-formed, and have the key of their text', () => {
    const maker = createKeyMaker('salt', 'email');
    fc.assert(
      fc.property(address, (text) => {
        const { bytes, begin, end } = placed(text);
        if (judgePlainEmail(bytes, begin, end) === undefined) return;
        const read = readAddress('email', 'US', text);
        expect(read.wellFormed).toBe(true);
        const keys = [new Uint8Array(keyBytes), new Uint8Array(keyBytes)] as const;
        maker.write(read.key, keys[0], 0);
        maker.writeLowerCase(bytes, begin, end, keys[1], 0);
        expect(keys[1]).toEqual(keys[0]);
      }),
      { numRuns: 5000 },
    );
    const ordinary = placed('Anna.Maria+7@Firm-1.example.org');
    expect(judgePlainEmail(ordinary.bytes, ordinary.begin, ordinary.end)).toBeDefined();
  });

  it('know their domains though more of them come than are remembered', () => {
    const asked = ['a@gmail.com', 'a@mailinator.com', 'a@example.com', 'a@firm.org'];
    for (let round = 0; round < 30_000; round += 1) {
      const other = placed(`a@domain${round}.com`);
      judgePlainEmail(other.bytes, other.begin, other.end);
      const text = asked[round % asked.length] ?? '';
      const { bytes, begin, end } = placed(text);
      const verdict = judgePlainEmail(bytes, begin, end) ?? judgeEmail(text);
      if (verdict !== judgeEmail(text)) throw new Error(text);
    }
  });
});
