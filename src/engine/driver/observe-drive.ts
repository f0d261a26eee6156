import { observeBatch } from '../../platform/observability.js';
import type { Notice, OnNotice } from '../../platform/text/notices.js';
import { isAtEnd, type BatchState, mayHaveLaunched } from '../batches/batch-state.js';
import { type Batch, batchLabel } from '../batches/batch.js';
import type { Charge } from '../batches/status-answer.js';
import { driveBatch } from './batch-driver.js';
import type { DrivePorts } from './batch-requests.js';

/** Drives a batch and publishes its progress. Its cost is published once, by the process that finishes it. */
export async function observeDrive(
  batch: Batch,
  state: BatchState,
  chargeBefore: Charge | undefined,
  options: DrivePorts,
): Promise<BatchState> {
  const { group, addresses } = batch;
  let charge = chargeBefore;
  return observeBatch(
    { batch: batchLabel(batch), type: group.type, country: group.country, addresses },
    async (observe) =>
      driveBatch(batch, state, {
        ...options,
        record: async (progress) => {
          // Recorded first: what is published has happened.
          await options.record(progress);
          charge = mayHaveLaunched(progress.state) ? (progress.charge ?? charge) : undefined;
          const { name, state: now } = progress;
          observe({
            name,
            batchUuid: 'uuid' in now ? now.uuid : undefined,
            stage: now.stage,
            reason: now.stage === 'failed' ? now.reason : undefined,
          });
        },
      }),
    (ended) => {
      const isReported = state.stage === 'done' && state.isRetried === true;
      const launched =
        ended !== undefined && isAtEnd(ended) && mayHaveLaunched(ended) && !isReported;
      const { spent, refunded } = { ...(launched ? charge : undefined) };
      return { stage: ended?.stage, launched, spent, refunded };
    },
  );
}

/** A service may have a different word for each batch. */
const mostKinds = 10;

/** Reports odd answers about batches, each kind once: a service that errs does so for every batch. */
export function eachKindOnce(onNotice: OnNotice | undefined): (odd: Notice) => void {
  const kinds = new Map<Notice['code'], Set<string>>();
  return (odd) => {
    const { batch: _, ...kind } = odd.fields;
    const known = kinds.get(odd.code) ?? new Set();
    const key = JSON.stringify(kind);
    if (known.has(key) || known.size === mostKinds) return;
    kinds.set(odd.code, known.add(key));
    onNotice?.(odd);
  };
}
