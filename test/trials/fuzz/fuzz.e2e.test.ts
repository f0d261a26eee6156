import fc from 'fast-check';
import { describe, it } from 'vitest';
import { properties } from './properties.js';

describe('agrees, whatever comes:', () => {
  it.each(Object.entries(properties))('%s', async (_, create) => {
    await fc.assert(create(), { numRuns: 300 });
  });
});
