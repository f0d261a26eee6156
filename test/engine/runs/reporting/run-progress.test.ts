import { expect, it } from 'vitest';
import {
  observedProgress,
  type RunProgress,
} from '../../../../src/engine/runs/reporting/run-progress.js';

it('names what stays on the service once, however often its deletion is tried', () => {
  const reported: RunProgress[] = [];
  const onProgress = observedProgress((progress) => reported.push(progress));
  const common = { stage: 'left_behind', isConfirmed: true } as const;
  onProgress({ ...common, names: ['a', 'b'] });
  onProgress({ ...common, names: ['b', 'c'] });
  onProgress({ ...common, names: ['a'] });
  expect(reported).toEqual([
    { ...common, names: ['a', 'b'] },
    { ...common, names: ['c'] },
  ]);
});
