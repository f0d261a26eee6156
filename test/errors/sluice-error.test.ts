import { describe, expect, it } from 'vitest';
import { isSluiceError } from '../../src/errors/is-sluice-error.js';
import { SluiceError } from '../../src/errors/sluice-error.js';

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
