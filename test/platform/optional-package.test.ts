import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { refuseMissingPackage } from '../../src/platform/optional-package.js';

const absent = 'sluice-has-no-such-package';
const needed = { by: 'A format', install: 'one' };
const require = createRequire(import.meta.url);

describe('a package that only some need', () => {
  it('is given when it is there', async () => {
    expect(await import('node:zlib').catch(refuseMissingPackage(needed))).toHaveProperty('crc32');
  });

  it('is named with what installs it when it is not', async () => {
    const missing = {
      code: 'missing_dependency',
      message: expect.stringMatching(/^A format .*: npm install one$/) as string,
    };
    const load = async (): Promise<unknown> => import(absent) as Promise<unknown>;
    await expect(load().catch(refuseMissingPackage(needed))).rejects.toMatchObject(missing);
    await expect(
      load().catch(refuseMissingPackage({ ...needed, install: 'one two' })),
    ).rejects.toThrow(/^A format .*: npm install one two$/);
    try {
      require(absent);
    } catch (error) {
      expect(() => refuseMissingPackage(needed)(error)).toThrow(
        expect.objectContaining(missing) as Error,
      );
    }
    expect.assertions(3);
  });

  it('fails as it fails when it is there and broken', () => {
    const broken = new TypeError('broken');
    expect(() => refuseMissingPackage(needed)(broken)).toThrow(broken);
  });
});
