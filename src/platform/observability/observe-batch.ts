import {
  publish,
  type BatchEndEvent,
  type BatchStageEvent,
  type BatchStartEvent,
} from './channels.js';
import { currentScope, inScope } from './scope.js';

/** What is told of a batch that is let go of. */
export type ObservedBatchEnd = Pick<BatchEndEvent, 'stage' | 'spent' | 'refunded'>;

/** What a batch tells of its way. */
export type ObserveStage = (
  stage: Pick<BatchStageEvent, 'name' | 'batchUuid' | 'stage' | 'reason'>,
) => void;

/**
 * Tells whoever listens of a batch's way through the service.
 *
 * @param tell what its end comes to, also when the work fails
 */
export async function observeBatch<Result>(
  facts: Omit<BatchStartEvent, 'run'>,
  work: (observe: ObserveStage) => Promise<Result>,
  tell: (result: Result | undefined) => ObservedBatchEnd,
): Promise<Result> {
  const { run } = currentScope();
  const told = { run, ...facts };
  const startedMs = performance.now();
  publish('sluice:batch:start', told);
  let result: Result | undefined;
  try {
    result = await inScope({ batch: facts.batch }, async () =>
      work((stage) => publish('sluice:batch:stage', { ...told, ...stage })),
    );
    return result;
  } finally {
    publish('sluice:batch:end', { ...told, ms: performance.now() - startedMs, ...tell(result) });
  }
}
