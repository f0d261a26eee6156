import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { compileKernel, kernelPath, kernels } from '../../scripts/compile-kernel.mjs';

describe.each(kernels)('the kernel %s', (kernel) => {
  it('is what its source compiles to', async () => {
    expect(await readFile(kernelPath(kernel), 'utf8')).toBe(await compileKernel(kernel));
  });
});
