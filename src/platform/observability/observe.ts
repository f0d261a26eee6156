import { randomBytes } from 'node:crypto';
import { SluiceError } from '../errors/sluice-error.js';
import {
  type BatchEndEvent,
  type BatchStageEvent,
  type BatchStartEvent,
  currentScope,
  inScope,
  hasSubscribers,
  publish,
  type RunEndEvent,
  type RunStartEvent,
} from './channels.js';

/** What is told of a batch that is let go of. */
type ObservedBatchEnd = Pick<BatchEndEvent, 'stage' | 'launched' | 'spent' | 'refunded'>;

/** What a batch tells of its way. */
type ObserveStage = (
  stage: Pick<BatchStageEvent, 'name' | 'batchUuid' | 'stage' | 'reason'>,
) => void;

/**
 * Tells whoever listens of a batch's way through the service.
 *
 * @param describeEnd what its end comes to, also when the work fails
 */
export async function observeBatch<Result>(
  facts: Omit<BatchStartEvent, 'run'>,
  work: (observe: ObserveStage) => Promise<Result>,
  describeEnd: (result: Result | undefined) => ObservedBatchEnd,
): Promise<Result> {
  const { run } = currentScope();
  const event = { run, ...facts };
  const startedMs = performance.now();
  publish('sluice:batch:start', event);
  let result: Result | undefined;
  try {
    result = await inScope({ batch: facts.batch }, async () =>
      work((stage) => publish('sluice:batch:stage', { ...event, ...stage })),
    );
    return result;
  } finally {
    publish('sluice:batch:end', {
      ...event,
      ms: performance.now() - startedMs,
      ...describeEnd(result),
    });
  }
}

/** What is told of how a run ended. */
export interface ObservedEnd {
  readonly rows: number;
  readonly hasFailed: boolean;
}

/**
 * Tells whoever listens of a run's beginning and end.
 *
 * @param describeEnd what the end comes to
 */
export async function observeRun<Result>(
  start: Omit<RunStartEvent, 'run'>,
  work: (run: string) => Promise<Result>,
  describeEnd: (result: Result) => ObservedEnd,
): Promise<Result> {
  const run = randomBytes(8).toString('hex');
  const startedMs = performance.now();
  publish('sluice:run:start', { run, ...start });
  const end = (how: Omit<RunEndEvent, 'run' | 'ms'>): void => {
    if (!hasSubscribers('sluice:run:end')) return;
    publish('sluice:run:end', { run, ms: performance.now() - startedMs, ...how });
  };
  try {
    const result = await inScope({ run }, async () => work(run));
    end({ ...describeEnd(result), code: undefined });
    return result;
  } catch (error) {
    end({ rows: undefined, hasFailed: false, code: codeOf(error) });
    throw error;
  }
}

function codeOf(error: unknown): RunEndEvent['code'] {
  if (error instanceof SluiceError) return error.code;
  return error instanceof Error && error.name === 'AbortError' ? 'aborted' : 'unknown';
}
