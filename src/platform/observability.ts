import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, type Channel } from 'node:diagnostics_channel';
import type { VerificationType } from '../contract/enums.js';
import type { OperationName } from '../contract/operations.js';
import { type SluiceErrorCode, SluiceError } from './errors/sluice-error.js';
import { randomBytes } from 'node:crypto';

interface RunStartEvent {
  /** Identifies the run in the process; part of all its events. */
  readonly run: string;
  /** Whether it can be resumed after a kill. */
  readonly kind: 'durable' | 'streaming';
  /** By name: a path, a table; no password. */
  readonly input: string;
  readonly output: string;
}

interface RunStageEvent {
  readonly run: string;
  readonly stage: 'reading' | 'read' | 'writing' | 'written';
  /** Rows read or written so far. */
  readonly rows: number;
}

/** A column whose type the output cannot keep: its cells become text. */
interface RunColumnEvent {
  readonly run: string;
  readonly column: string;
  /** Its kind: `decimal(40,2)`; undefined when its cells have nothing in common. */
  readonly kind: string | undefined;
  /** The output's format or database: `Parquet`. */
  readonly output: string;
}

interface RunEndEvent {
  readonly run: string;
  readonly ms: number;
  /** Rows of the output; undefined unless it is complete. */
  readonly rows: number | undefined;
  /** Whether some are `failed`. */
  readonly hasFailed: boolean;
  readonly code: SluiceErrorCode | 'aborted' | 'unknown' | undefined;
}

interface BatchFacts {
  /** Undefined for streams outside a run. */
  readonly run: string | undefined;
  /** Identifies the batch in its run. */
  readonly batch: string;
  readonly type: VerificationType;
  readonly country: string;
  readonly addresses: number;
}

type BatchStartEvent = BatchFacts;

interface BatchStageEvent extends BatchFacts {
  /** Its name on the service. */
  readonly name: string;
  readonly batchUuid: string | undefined;
  readonly stage: string;
  readonly reason: string | undefined;
}

interface BatchEndEvent extends BatchFacts {
  readonly ms: number;
  /** Its stage; undefined when an error stopped it. */
  readonly stage: string | undefined;
  /** Whether it is finished and was launched: published once, by the process that finishes it. */
  readonly launched: boolean;
  /** Its credits then, if the service gave them; undefined otherwise. */
  readonly spent: number | undefined;
  readonly refunded: number | undefined;
}

interface AttemptFacts {
  /** Identifies the attempt in its process. */
  readonly request: number;
  readonly run: string | undefined;
  readonly batch: string | undefined;
  readonly operation: OperationName;
  readonly method: string;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly attempt: number;
}

interface RequestStartEvent extends AttemptFacts {
  /** Headers added by a listener, by lower-case name. Sluice's own cannot be replaced. */
  readonly headers: Record<string, string>;
}

export interface RequestEvent extends AttemptFacts {
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  readonly code: SluiceErrorCode | undefined;
  readonly ms: number;
}

/** The events by name. */
export interface DiagnosticsEvents {
  'sluice:run:start': RunStartEvent;
  'sluice:run:stage': RunStageEvent;
  'sluice:run:column': RunColumnEvent;
  'sluice:run:end': RunEndEvent;
  'sluice:batch:start': BatchStartEvent;
  'sluice:batch:stage': BatchStageEvent;
  'sluice:batch:end': BatchEndEvent;
  'sluice:request:start': RequestStartEvent;
  'sluice:request': RequestEvent;
}

export type DiagnosticsListeners = {
  readonly [Name in keyof DiagnosticsEvents]?: (event: DiagnosticsEvents[Name]) => void;
};

/** Names of Sluice's channels of `node:diagnostics_channel`. */
export const diagnosticsChannels = [
  'sluice:run:start',
  'sluice:run:stage',
  'sluice:run:column',
  'sluice:run:end',
  'sluice:batch:start',
  'sluice:batch:stage',
  'sluice:batch:end',
  'sluice:request:start',
  'sluice:request',
] as const satisfies readonly (keyof DiagnosticsEvents)[];

const channels = new Map<string, Channel>(diagnosticsChannels.map((name) => [name, channel(name)]));

/** Whether an event has subscribers: without any, none is made. */
export function hasSubscribers(name: keyof DiagnosticsEvents): boolean {
  return channels.get(name)?.hasSubscribers === true;
}

function hasAnySubscriber(): boolean {
  return diagnosticsChannels.some((name) => hasSubscribers(name));
}

/** Publishes an event. An error of a subscriber is the process's, never the run's. */
export function publish<Name extends keyof DiagnosticsEvents>(
  name: Name,
  event: DiagnosticsEvents[Name],
): void {
  channels.get(name)?.publish(event);
}

export interface Scope {
  readonly run?: string | undefined;
  readonly batch?: string | undefined;
}

const storage = new AsyncLocalStorage<Scope>();

/** The scope of the current work; empty outside runs and batches. */
export function currentScope(): Scope {
  return storage.getStore() ?? {};
}

/**
 * Does work for a run or a batch, to which its requests are attributed for subscribers present at its
 * beginning. Without subscribers nothing is stored: up to Node 22 the first use of AsyncLocalStorage slows
 * down every promise.
 */
export function inScope<Result>(scope: Scope, work: () => Result): Result {
  if (!hasAnySubscriber()) return work();
  return storage.run({ ...currentScope(), ...scope }, work);
}

type ObservedBatchEnd = Pick<BatchEndEvent, 'stage' | 'launched' | 'spent' | 'refunded'>;

type ObserveStage = (
  stage: Pick<BatchStageEvent, 'name' | 'batchUuid' | 'stage' | 'reason'>,
) => void;

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

export interface ObservedEnd {
  readonly rows: number;
  readonly hasFailed: boolean;
}

/** A run's events from its beginning; its end is published once. */
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

export function codeOf(error: unknown): RunEndEvent['code'] {
  if (error instanceof SluiceError) return error.code;
  return error instanceof Error && error.name === 'AbortError' ? 'aborted' : 'unknown';
}
