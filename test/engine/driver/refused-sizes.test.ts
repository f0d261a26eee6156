import { describe, expect, it } from 'vitest';
import { bounds } from '../../../src/engine/batches/state-machine.js';
import { RefusedSizes } from '../../../src/engine/driver/refused-sizes.js';

function refused(...sizes: readonly (readonly [sizeBytes: number, addresses: number])[]) {
  const known = new RefusedSizes();
  for (const [sizeBytes, addresses] of sizes) known.note({ sizeBytes, addresses });
  return {
    known,
    covers: (sizeBytes: number, addresses: number) => known.covers({ sizeBytes, addresses }),
  };
}

describe('RefusedSizes', () => {
  it('knows nothing at first', () => {
    expect(refused().covers(2 ** 40, 2 ** 30)).toBe(false);
  });

  it('covers what is at least as large, and only that, whether bytes or rows are counted', () => {
    const { covers } = refused([1000, 50]);
    expect(covers(1000, 50)).toBe(true);
    expect(covers(5000, 51)).toBe(true);
    expect(covers(999, 50)).toBe(false);
    expect(covers(1000, 49)).toBe(false);
  });

  it('learns of smaller ones, and keeps those that differ', () => {
    const { covers } = refused([1000, 50], [500, 60], [400, 20], [2000, 10]);
    expect(covers(400, 20)).toBe(true);
    expect(covers(2000, 10)).toBe(true);
    expect(covers(1999, 19)).toBe(false);
  });

  it('gives up when single lines are refused one after the other', () => {
    const { known } = refused();
    for (let line = 1; line < bounds.refusedLines; line += 1)
      known.note({ sizeBytes: line, addresses: 1 });
    known.note({ sizeBytes: 100, addresses: 9 });
    expect(known.isHopeless).toBe(false);
    known.noteTaken();
    for (let line = 1; line < bounds.refusedLines; line += 1)
      known.note({ sizeBytes: line, addresses: 1 });
    expect(known.isHopeless).toBe(false);
    known.note({ sizeBytes: 1, addresses: 1 });
    expect(known.isHopeless).toBe(true);
  });
});
