import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance } from '../../../src/platform/text/closest-name.js';

describe('editDistance', () => {
  it.each([
    ['email', 'email', 0],
    ['email', 'emial', 1],
    ['email', 'mail', 1],
    ['email', 'e-mail', 1],
    ['email', 'emajl', 1],
    ['email', 'mobile', 4],
    ['', 'phone', 5],
  ])('of %s and %s is %i', (one, other, distance) => {
    expect(editDistance(one, other)).toBe(distance);
  });

  it('is the same both ways, and no more than it takes to write the word again', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (one, other) => {
        const distance = editDistance(one, other);
        expect(editDistance(other, one)).toBe(distance);
        expect(distance === 0).toBe(one === other);
        expect(distance).toBeLessThanOrEqual(Math.max(one.length, other.length));
      }),
    );
  });
});
