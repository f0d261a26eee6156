import { expect, it } from 'vitest';
import { limits } from '../../src/contract/limits.js';

it('holds the bounds of the specification (spec 8)', () => {
  expect(limits).toEqual({
    listLimit: { min: 1, max: 1000, default: 100 },
    listOffset: { min: 0, default: 0 },
    cacheBackoffDays: { min: 1, max: 180, default: 30 },
    nameLength: { min: 1, max: 255 },
    descriptionLength: { max: 2048 },
    unitVerificationMs: 5000,
    cacheRefund: 0.5,
  });
});
