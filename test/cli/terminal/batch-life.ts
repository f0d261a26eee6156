import { batchStage } from '../../../src/engine/batches/claim.js';
import type { BatchState, RunProgress } from '../../../src/index.js';
import { electedAs } from '../../engine/batches/any-event.js';

export const tries = { attempt: 1, fresh: 0, uploads: 0 } as const;
const elected = { ...electedAs, ...tries, uuid: '00000000-0000-4000-8000-000000000000' };

/** A batch of a hundred emails at a point of its life. */
export function batchProgress(
  id: number,
  state: BatchState,
  charge?: { spent: number; refunded: number; net: number },
): RunProgress {
  const group = { type: 'email', country: 'US' } as const;
  const batch = { id, group, addresses: 100, sizeBytes: 2000, checksum: 0, open: () => [] };
  return batchStage({ batch, state, name: `sluice-run-${id}-1`, charge });
}

/** The stages of a batch that nothing goes wrong with. */
export const life: readonly BatchState[] = [
  { stage: 'uploading', accepted: false, looks: 0, ...tries },
  { stage: 'uploaded', ...elected },
  { stage: 'parsing', prepared: true, polls: 0, ...elected },
  { stage: 'ready', ...elected },
  { stage: 'launching', answeredError: false, ...elected },
  { stage: 'verifying', readies: 0, ...elected },
  { stage: 'done', broken: 0, ...elected },
  { stage: 'exported', ...elected },
];
