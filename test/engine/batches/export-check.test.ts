import { describe, expect, it } from 'vitest';
import {
  askingsForFew,
  exportDiffers,
  judgeExport,
} from '../../../src/engine/batches/export-check.js';

const good = undefined;
const all = { addresses: 100, counted: null, wellFormed: 0, strangers: 0 };

describe('an export', () => {
  it.each([
    // What came, and why.
    ['whole', { named: 100, counted: 100 }, good],
    ['whole, of a service that counts nothing', { named: 100, wellFormed: 100 }, good],
    ['with half of what was counted', { named: 50, counted: 100 }, good],
    ['with less than half of what was counted', { named: 49, counted: 100 }, 'export_incomplete'],
    ['with nothing', { named: 0, counted: 100, wellFormed: 100 }, 'export_incomplete'],
    ['with nothing, uncounted', { named: 0, wellFormed: 100 }, 'export_incomplete'],
    ['with less than half, uncounted', { named: 49, wellFormed: 99 }, 'export_incomplete'],
    ['with few, of few that were counted', { named: 3, counted: 3, wellFormed: 100 }, good],
    ['with few, of few that are well-formed', { named: 3, wellFormed: 6 }, good],
    ['with nothing, of a list of garbage', { named: 0, counted: 0, wellFormed: 0 }, good],
    ['with nothing, of uncounted garbage', { named: 0, wellFormed: 0 }, good],
    [
      'with nothing, where the service counted none of a good list',
      { named: 0, counted: 0, wellFormed: 100 },
      'export_incomplete',
    ],
    ['of a service that counts more than there is', { named: 60, counted: 1000 }, good],
    ['of strangers alone', { named: 0, strangers: 100, counted: 100 }, 'export_foreign'],
    ['of one stranger alone', { named: 0, strangers: 1, counted: 0 }, 'export_foreign'],
    ['with as many strangers', { named: 100, strangers: 100, counted: 100 }, good],
    ['mostly of strangers', { named: 100, strangers: 101, counted: 100 }, 'export_foreign'],
  ] as const)('%s', (_, facts, doubt) => {
    expect(judgeExport({ ...all, doubts: askingsForFew - 1, ...facts })).toBe(doubt);
  });

  it.each([
    ['of those that were counted', { named: 99, counted: 100 }, 1],
    ['of those that are well-formed, where nothing is counted', { named: 2, wellFormed: 3 }, 1],
    ['that are malformed', { named: 2, wellFormed: 2 }, 0],
    ['that the service did not count', { named: 2, counted: 2, wellFormed: 3 }, 0],
  ])('that lacks a few %s is asked for again so often', (_, facts, missing) => {
    for (let doubts = 0; doubts < askingsForFew + 1; doubts += 1) {
      const isAskedAgain = missing > 0 && doubts + 1 < askingsForFew;
      expect(judgeExport({ ...all, ...facts, doubts })).toBe(
        isAskedAgain ? 'export_incomplete' : good,
      );
    }
  });

  it('differs when it names other than what was counted or expected, strangers, or one address in two ways', () => {
    const alike = { counted: 10, named: 10, strangers: 0, conflicting: 0 };
    expect(exportDiffers(alike)).toBe(false);
    expect(exportDiffers({ ...alike, counted: null, named: 3 })).toBe(false);
    expect(exportDiffers({ ...alike, named: 9 })).toBe(true);
    expect(exportDiffers({ ...alike, strangers: 1 })).toBe(true);
    expect(exportDiffers({ ...alike, conflicting: 1 })).toBe(true);
    expect(exportDiffers({ ...alike, counted: null, named: 9, missing: 1 })).toBe(true);
  });
});
