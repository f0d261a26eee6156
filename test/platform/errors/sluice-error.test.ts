import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/platform/errors/errors.js';
import { isSluiceError } from '../../../src/platform/errors/is-sluice-error.js';
import { SluiceError } from '../../../src/platform/errors/sluice-error.js';

describe('isSluiceError', () => {
  it.each([
    undefined,
    null,
    'unauthorized',
    new Error('m'),
    { name: 'SluiceError', code: 'unauthorized', retryable: false },
    Object.assign(new Error('m'), { code: 'unauthorized' }),
  ])('does not take %o for one', (value) => {
    expect(isSluiceError(value)).toBe(false);
    expect(isSluiceError(value, 'unauthorized')).toBe(false);
  });

  it('tells one code from its kin', () => {
    const error = new SluiceError('m', { code: 'unauthorized' });
    expect(isSluiceError(error)).toBe(true);
    expect(isSluiceError(error, 'unauthorized')).toBe(true);
    expect(isSluiceError(error, 'forbidden')).toBe(false);
  });
});

describe('a minified copy of the package', () => {
  it('keeps the names of its errors, and its errors are known by every other', async () => {
    const contents = `export * from './src/platform/errors/errors.js';
      export * from './src/platform/errors/is-sluice-error.js';`;
    const resolveDir = fileURLToPath(new URL('../../..', import.meta.url));
    const { outputFiles } = await build({
      stdin: { contents, resolveDir },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
    });
    const text = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
    const copy = (await import(`data:text/javascript;base64,${text}`)) as {
      readonly ConfigurationError: typeof ConfigurationError;
      readonly isSluiceError: typeof isSluiceError;
    };
    const error: unknown = new copy.ConfigurationError('m');
    expect(error).not.toBeInstanceOf(SluiceError);
    expect(error).toHaveProperty('name', 'ConfigurationError');
    expect(isSluiceError(error, 'invalid_option')).toBe(true);
    expect(copy.isSluiceError(new ConfigurationError('m'))).toBe(true);
  });
});

describe('SluiceError', () => {
  it('has no cause unless one was given', () => {
    expect('cause' in new SluiceError('m', { code: 'invalid_option' })).toBe(false);
    expect(new SluiceError('m', { code: 'invalid_option', cause: 0 }).cause).toBe(0);
  });

  it('is not retryable unless it says so', () => {
    expect(new SluiceError('m', { code: 'server_error' }).retryable).toBe(false);
    expect(new SluiceError('m', { code: 'server_error', retryable: true }).retryable).toBe(true);
  });
});
