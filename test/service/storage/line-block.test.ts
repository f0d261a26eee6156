import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLineBlocks, readLines } from '../../../src/service/storage/line-block.js';
import { unicodeText } from '../../platform/text/unicode-text.js';
import { all } from '../wire.js';
import { withFolder } from '../with-service.js';

/** What the lines of a text are, said with strings alone. */
function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

async function read(path: string, isKept: (line: string) => boolean) {
  const lines: string[] = [];
  const kept: Buffer[] = [];
  for await (const block of readLineBlocks(path)) {
    const places: number[] = [];
    for (let at = 0; at < block.count; at += 1) {
      const line = block.bytes.toString('utf8', block.begin(at), block.end(at));
      assert.equal(block.text(at), line);
      lines.push(line);
      if (isKept(line)) places.push(at);
    }
    for (const run of block.runs(Uint32Array.from(places))) kept.push(Buffer.from(run));
  }
  return { lines, kept: Buffer.concat(kept).toString() };
}

describe('blocks of lines', () => {
  it('are what splitting and trimming the text gives, and so are the lines that are kept', async () => {
    const path = join(await withFolder(), 'lines');
    const piece = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom('a@b.example', 'x', 'ü', '語', '😀', ' ', '\n', '\n'),
      },
      fc.constantFrom('\r\n', '\t', '\v', '\f', '\uFEFF', '\u00A0', '\u2028', '\u3000', '\u0085'),
      fc.constantFrom('\u0001', '\u001F', '\u007F'),
      unicodeText({ maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (pieces, every) => {
          const text = pieces.join('');
          await writeFile(path, text);
          const expected = linesOf(text);
          const isKept = (line: string) => line.length % every !== 0;
          const found = await read(path, isKept);
          expect(found.lines).toEqual(expected);
          expect(found.kept).toBe(
            expected
              .filter(isKept)
              .map((line) => `${line}\n`)
              .join(''),
          );
        },
      ),
      { numRuns: 400 },
    );
  });

  it('never cut a line, however long it is, nor a character', async () => {
    const path = join(await withFolder(), 'lines');
    const lines = Array.from({ length: 40_000 }, (_, at) => `${'é😀'.repeat(at % 9)}line${at}`);
    lines.splice(20_000, 0, 'ü'.repeat(500_000));
    await writeFile(path, lines.join('\n'));
    expect((await read(path, () => true)).lines).toEqual(lines);
  });
});

describe('reading lines', () => {
  it('gives every line once, trimmed, whatever the blocks cut', async () => {
    const path = join(await withFolder(), 'lines');
    const lines = Array.from({ length: 20_000 }, (_, at) => `${'é😀'.repeat(at % 7)}line${at}`);
    await writeFile(path, `\uFEFF${lines.map((line) => `  ${line}\t\r\n\n`).join('')}`);
    expect((await all(readLines(path))).flat()).toEqual(lines);
  });

  it('ends lines at LF alone', async () => {
    const path = join(await withFolder(), 'lines');
    await writeFile(path, 'a\rb\u2028c\u0085d\ve\n');
    expect((await all(readLines(path))).flat()).toEqual(['a\rb\u2028c\u0085d\ve']);
  });
});
