import { describe, expect, it } from 'vitest';
import { wholeRecords } from '../../../src/platform/files/file-system.js';

describe('wholeRecords', () => {
  it('refuses a stream that ends within a record', async () => {
    const pieces = wholeRecords([Buffer.from([1, 2, 3])], 2, () => 2);
    expect(await pieces.next()).toMatchObject({ value: Buffer.from([1, 2]) });
    await expect(pieces.next()).rejects.toThrow('ends within a record');
  });
});
