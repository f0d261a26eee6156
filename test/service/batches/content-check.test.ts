import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createContentCheck, maxLineBytes } from '../../../src/service/batches/content-check.js';

function check(bytes: Uint8Array, cuts: readonly number[] = []): string | undefined {
  const whole = createContentCheck();
  let begin = 0;
  for (const cut of [...cuts, bytes.length].toSorted((a, b) => a - b)) {
    if (cut < begin || cut > bytes.length) continue;
    whole.add(bytes.subarray(begin, cut));
    begin = cut;
  }
  return whole.finish();
}

/** The first thing that is wrong with the lines, byte by byte. */
function troubleOfLines(bytes: Uint8Array): string | undefined {
  let line = 1;
  let lineBytes = 0;
  for (const byte of bytes) {
    lineBytes += 1;
    if (byte === 0x0a) {
      line += 1;
      lineBytes = 0;
    } else if (byte === 0x2c) return `line ${line} holds a comma`;
    else if (byte === 0) return `line ${line} holds a null byte`;
    else if (lineBytes > maxLineBytes) return `line ${line} is longer than ${maxLineBytes} bytes`;
  }
  return undefined;
}

describe('the check of uploaded content', () => {
  it('names the first line that something is wrong with, however the content arrives', () => {
    const piece = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('\n', 'a@b.example\n', 'x'.repeat(2000)) },
      { weight: 2, arbitrary: fc.constantFrom('x'.repeat(96), 'x'.repeat(2048), 'x') },
      fc.constantFrom(',', '\0'),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }),
        fc.array(fc.nat({ max: 20_000 }), { maxLength: 6 }),
        (pieces, cuts) => {
          const bytes = Buffer.from(pieces.join(''));
          expect(check(bytes, cuts)).toBe(troubleOfLines(bytes));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('says the same however the content arrives', () => {
    const piece = fc.oneof(
      fc
        .constantFrom('a@b.example\n', 'ü', '語', '😀', '\r\n', '\uFEFF')
        .map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.nat({ max: 60 }), { maxLength: 60 }),
        (pieces, cuts) => {
          const bytes = Buffer.concat(pieces);
          const reported = check(bytes, cuts);
          expect(reported === undefined).toBe(check(bytes) === undefined);
          expect(reported === undefined).toBe(
            isUtf8(bytes) && !bytes.includes(0) && !bytes.includes(','),
          );
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('bounds lines by their bytes', () => {
    expect(check(Buffer.from(`x\n${'ü'.repeat(maxLineBytes / 2)}\n`))).toBeUndefined();
    expect(check(Buffer.from(`x\n${'ü'.repeat(maxLineBytes / 2)}x\n`))).toBe(
      `line 2 is longer than ${maxLineBytes} bytes`,
    );
  });
});
