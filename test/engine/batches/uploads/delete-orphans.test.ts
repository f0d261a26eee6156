import { expect, it } from 'vitest';
import { mayHaveOrphans } from '../../../../src/engine/batches/uploads/delete-orphans.js';

const tries = { fresh: 0, uploads: 1 };
const elected = { ...tries, uuid: 'u', misses: 0, prepares: 0, launches: 1, doubt: false };
const exported = { ...elected, stage: 'exported', isFound: false, attempt: 1 } as const;

it('looks for orphans of what was sent again, or was found in the list', () => {
  expect(mayHaveOrphans(exported, false)).toBe(false);
  expect(mayHaveOrphans({ ...exported, attempt: 2 }, false)).toBe(true);
  expect(mayHaveOrphans({ ...exported, isFound: true }, false)).toBe(true);
});

it('looks for those of what was never launched only when the run is given up', () => {
  const ready = { ...exported, stage: 'ready' } as const;
  expect(mayHaveOrphans(ready, false)).toBe(false);
  expect(mayHaveOrphans(ready, true)).toBe(true);
  expect(mayHaveOrphans({ ...ready, doubt: true }, true)).toBe(false);
  expect(mayHaveOrphans(exported, true)).toBe(false);
});
