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

/** A run from its beginning on, told to whoever listens; its end is told once. */
export class ObservedRun {
  readonly id = randomBytes(8).toString('hex');
  readonly #startedMs = performance.now();
  #isOver = false;

  constructor(start: Omit<RunStartEvent, 'run'>) {
    publish('sluice:run:start', { run: this.id, ...start });
  }

  finish(end: ObservedEnd): void {
    this.#end({ ...end, code: undefined });
  }

  fail(code: RunEndEvent['code']): void {
    this.#end({ rows: undefined, hasFailed: false, code });
  }

  #end(how: Omit<RunEndEvent, 'run' | 'ms'>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    publish('sluice:run:end', { run: this.id, ms: performance.now() - this.#startedMs, ...how });
  }
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
  const observed = new ObservedRun(start);
  try {
    const result = await inScope({ run: observed.id }, async () => work(observed.id));
    if (hasSubscribers('sluice:run:end')) observed.finish(describeEnd(result));
    return result;
  } catch (error) {
    observed.fail(codeOf(error));
    throw error;
  }
}

/** Why a run stopped, for whoever listens. */
export function codeOf(error: unknown): RunEndEvent['code'] {
  if (error instanceof SluiceError) return error.code;
  return error instanceof Error && error.name === 'AbortError' ? 'aborted' : 'unknown';
}
