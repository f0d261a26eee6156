import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLines, readText } from '../../../src/service/storage/line-block.js';
import { withFolder } from '../with-service.js';
import { all } from '../wire.js';

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

  it('gives text that never cuts a character', async () => {
    const path = join(await withFolder(), 'text');
    const text = `x${'😀'.repeat(100_000)}`;
    await writeFile(path, text);
    const pieces = await all(readText(path));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every((piece) => Buffer.from(piece).toString() === piece)).toBe(true);
    expect(pieces.join('')).toBe(text);
  });
});
