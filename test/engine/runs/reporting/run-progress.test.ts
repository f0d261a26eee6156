import { expect, it } from 'vitest';
import {
  observedProgress,
  type RunProgress,
} from '../../../../src/engine/runs/reporting/run-progress.js';

it('names what stays on the service once, however often its deletion is tried', () => {
  const reported: RunProgress[] = [];
  const onProgress = observedProgress((progress) => reported.push(progress));
  onProgress({ stage: 'left_behind', names: ['a', 'b'] });
  onProgress({ stage: 'left_behind', names: ['b', 'c'] });
  onProgress({ stage: 'left_behind', names: ['a'] });
  expect(reported).toEqual([
    { stage: 'left_behind', names: ['a', 'b'] },
    { stage: 'left_behind', names: ['c'] },
  ]);
});
