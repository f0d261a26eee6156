import { beforeAll, describe, expect, it } from 'vitest';
import { allPages } from '../page.js';
import { createProgram, troubles } from '../source-types.js';

const blocks = allPages().flatMap((page) =>
  page.blocks('ts').map(({ text, line }) => ({
    where: `${page.path}, line ${line}`,
    module: `${page.path.replaceAll('/', '-')}-${line}.ts`,
    text,
  })),
);

describe('the TypeScript of the pages', () => {
  const found = new Map<string, readonly string[]>();

  beforeAll(() => {
    // One program for all: the compiler's first look at the sources is what takes its time.
    const program = createProgram(new Map(blocks.map(({ module, text }) => [module, text])));
    for (const { module } of blocks) found.set(module, troubles(program, module));
  }, 120_000);

  it.each(blocks)('compiles as it stands: $where', ({ module }) => {
    expect(found.get(module)).toEqual([]);
  });

  it('is there', () => {
    expect(blocks.length).toBeGreaterThan(5);
  });
});
