import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { loadPackage, loadPackageNow } from '../../src/system/load-package.js';

const absent = 'sluice-has-no-such-package';
const needed = { by: 'A format', install: 'one' };
const require = createRequire(import.meta.url);

describe('a package that only some need', () => {
  it('is given when it is there', async () => {
    expect(await loadPackage(async () => import('node:zlib'), needed)).toHaveProperty('crc32');
    expect(loadPackageNow(() => require('node:zlib') as object, needed)).toHaveProperty('crc32');
  });

  it('is named with what installs it when it is not', async () => {
    const missing = {
      code: 'missing_dependency',
      message: 'A format needs a package that is not installed: npm install one',
    };
    const load = async (): Promise<unknown> => import(absent) as Promise<unknown>;
    await expect(loadPackage(load, needed)).rejects.toMatchObject(missing);
    expect(() => loadPackageNow(() => require(absent) as unknown, needed)).toThrow(missing.message);
    await expect(loadPackage(load, { ...needed, install: 'one two' })).rejects.toThrow(
      'A format needs packages that are not installed: npm install one two',
    );
  });

  it('fails as it fails when it is there and broken', async () => {
    const broken = new TypeError('broken');
    await expect(loadPackage(async () => Promise.reject(broken), needed)).rejects.toBe(broken);
    const load = (): never => {
      throw broken;
    };
    expect(() => loadPackageNow(load, needed)).toThrow(broken);
  });
});
