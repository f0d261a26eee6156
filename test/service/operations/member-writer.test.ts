import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineBlock } from '../../../src/service/storage/line-block.js';
import { codeBytes } from '../../../src/service/storage/verdict-file.js';
import { MemberWriter } from '../../../src/service/operations/member-writer.js';
import { unicodeText } from '../../platform/text/unicode-text.js';

function blockOf(lines: readonly string[]): LineBlock {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const bounds: number[] = [];
  for (let begin = 0; begin < bytes.length; begin = (bounds.at(-1) ?? 0) + 1) {
    bounds.push(begin, bytes.indexOf('\n', begin));
  }
  return new LineBlock(bytes, Uint32Array.from(bounds), lines.length);
}

/** All that a writer writes of some lines; the codes of their verdicts go round. */
function written(lines: readonly string[], endings: readonly string[]): string {
  const writer = new MemberWriter('email', endings);
  const codes = Buffer.alloc(lines.length * codeBytes);
  for (const at of lines.keys()) codes.writeUInt16LE(at % endings.length, at * codeBytes);
  const block = blockOf(lines);
  let text = '';
  for (let next = 0; next < lines.length;) {
    next = writer.write(block, codes, next);
    text += Buffer.from(writer.written).toString();
    writer.clear();
  }
  writer.end();
  return text;
}

function expected(lines: readonly string[], endings: readonly string[]): string {
  return lines
    .map((line, at) => {
      const key = JSON.stringify(line);
      return `${key}:{"email":${key},${endings[at % endings.length]}`;
    })
    .join(',');
}

describe('records written as bytes', () => {
  it('are what JSON.stringify writes', () => {
    const line = fc
      .string({
        unit: fc.oneof(
          fc.constantFrom('a', '@', '"', '\\', '\u0001', '\u007F', '\u2028', 'é', '😀', '/'),
          unicodeText({ minLength: 1, maxLength: 1 }),
        ),
        minLength: 1,
        maxLength: 12,
      })
      .map((text) => text.replaceAll('\n', 'x'));
    const endings = ['"valid":true}', '"operator":"é\\""}'];
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), (lines) => {
        expect(written(lines, endings)).toBe(expected(lines, endings));
      }),
      { numRuns: 400 },
    );
  });

  it('fill piece after piece, and are written though one is larger than a piece', () => {
    const lines = Array.from({ length: 30_000 }, (_, at) => `user${at}@x.example`);
    const endings = ['"valid":true}', `"operator":"${'long'.repeat(100)}"}`];
    expect(written(lines, endings) === expected(lines, endings)).toBe(true);
    const huge = [`"operator":"${'x'.repeat(300_000)}"}`];
    expect(written(lines.slice(0, 3), huge) === expected(lines.slice(0, 3), huge)).toBe(true);
  });
});
