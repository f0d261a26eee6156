import { describe, expect, it } from 'vitest';
import { plainLines } from './plain-lines.js';

describe('lines that need no shell', () => {
  it('are commands with words, quotes, settings and an exit code', () => {
    const script = `export A=b\nB='c d' sluice verify "a b.csv" --email "#3" # exit 5\nsluice status x`;
    expect(plainLines(script)).toEqual([
      {
        args: ['verify', 'a b.csv', '--email', '#3'],
        env: { A: 'b', B: 'c d' },
        code: 5,
      },
      { args: ['status', 'x'], env: { A: 'b' }, code: 0 },
    ]);
  });

  it.each([
    'cat a | sluice verify -',
    'sluice verify a > b',
    'sluice credits && sluice credits',
    'x=$(sluice credits)',
    'sluice batch status "$batch"',
    'node -e 1',
    'sluice verify *.csv',
  ])('are not: %s', (line) => {
    expect(plainLines(line)).toBeUndefined();
  });
});
