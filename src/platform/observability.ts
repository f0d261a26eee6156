import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, type Channel } from 'node:diagnostics_channel';
import type { VerificationType } from '../contract/enums.js';
import type { OperationName } from '../contract/operations.js';
import { type SluiceErrorCode, SluiceError } from './errors/sluice-error.js';
import { randomBytes } from 'node:crypto';

/** A run has begun. */
interface RunStartEvent {
  /** Identifies the run among those of the process; in all events of the run. */
  readonly run: string;
  /** Whether it can go on after a kill. */
  readonly kind: 'durable' | 'streaming';
  /** As they are named: a path, a table; no password. */
  readonly input: string;
  readonly output: string;
}

/** How far a run is. */
interface RunStageEvent {
  readonly run: string;
  readonly stage: 'reading' | 'read' | 'writing' | 'written';
  /** Rows that were read or written so far. */
  readonly rows: number;
}

/** A column of the input that the output cannot keep as it is: its cells become text. */
interface RunColumnEvent {
  readonly run: string;
  /** Its name. */
  readonly column: string;
  /** What it holds: `decimal(40,2)`; undefined when its cells have nothing in common. */
  readonly kind: string | undefined;
  /** The output's format or database: `Parquet`. */
  readonly output: string;
}

/** A run is over, or has stopped. */
interface RunEndEvent {
  readonly run: string;
  readonly ms: number;
  /** Rows of the output; undefined when it is not complete. */
  readonly rows: number | undefined;
  /** Whether some of them are `failed`. */
  readonly hasFailed: boolean;
  /** Why it stopped: a code, or `aborted` and `unknown` for what is no error of Sluice's. */
  readonly code: SluiceErrorCode | 'aborted' | 'unknown' | undefined;
}

/** What all events of a batch have. */
interface BatchFacts {
  /** Undefined for streams that no run drives. */
  readonly run: string | undefined;
  /** Identifies the batch in its run. */
  readonly batch: string;
  readonly type: VerificationType;
  readonly country: string;
  readonly addresses: number;
}

/** A batch is taken up. */
export type BatchStartEvent = BatchFacts;

/** A batch has got further. */
interface BatchStageEvent extends BatchFacts {
  /** Its name on the service. */
  readonly name: string;
  readonly batchUuid: string | undefined;
  readonly stage: string;
  /** Why it failed. */
  readonly reason: string | undefined;
}

/** A batch is released: at its end, or because the run stops. */
interface BatchEndEvent extends BatchFacts {
  readonly ms: number;
  /** Where it is; undefined when it was stopped by an error. */
  readonly stage: string | undefined;
  /** Whether it is at its end and was launched: published once, by the process that brings it there. */
  readonly launched: boolean;
  /** Its credits then, where the service gave them; undefined for any other end. */
  readonly spent: number | undefined;
  readonly refunded: number | undefined;
}

/** What both events of one attempt of a request have. */
interface AttemptFacts {
  /** Identifies the attempt in its process. */
  readonly request: number;
  readonly run: string | undefined;
  readonly batch: string | undefined;
  readonly operation: OperationName;
  readonly method: string;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Counted from 1. */
  readonly attempt: number;
}

/** A request is about to be sent: one attempt of it. */
interface RequestStartEvent extends AttemptFacts {
  /** Headers that a listener adds, by their names in lower case. None takes the place of one of Sluice's. */
  readonly headers: Record<string, string>;
}

/** A request was answered, or was given up: one attempt of it. */
export interface RequestEvent extends AttemptFacts {
  /** HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  readonly code: SluiceErrorCode | undefined;
  readonly ms: number;
}

/** What is published under each name. */
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

/** What does something with events, by their names. */
export type DiagnosticsListeners = {
  readonly [Name in keyof DiagnosticsEvents]?: (event: DiagnosticsEvents[Name]) => void;
};

/** Names of the channels of `node:diagnostics_channel` that Sluice publishes on. */
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

/** Whether anybody listens: without subscribers no events are made. */
export function hasSubscribers(name: keyof DiagnosticsEvents): boolean {
  return channels.get(name)?.hasSubscribers === true;
}

/** Whether anybody listens to any of them. */
function hasAnySubscriber(): boolean {
  return diagnosticsChannels.some((name) => hasSubscribers(name));
}

/** Publishes an event. What a subscriber throws becomes the process's, never the run's. */
export function publish<Name extends keyof DiagnosticsEvents>(
  name: Name,
  event: DiagnosticsEvents[Name],
): void {
  channels.get(name)?.publish(event);
}

/** Which run and batch something is done for. */
interface Scope {
  readonly run?: string;
  readonly batch?: string;
}

const storage = new AsyncLocalStorage<Scope>();

/** For whom the caller works; nobody where neither a run nor a batch is under way. */
export function currentScope(): Scope {
  return storage.getStore() ?? {};
}

/**
 * Does work for a run or a batch: requests that it makes on the way are published as theirs to anyone who
 * listened when it began. Where nobody does, nothing is kept: up to Node 22 the first use of a storage
 * makes every promise of the process dearer.
 */
export function inScope<Result>(scope: Scope, work: () => Result): Result {
  if (!hasAnySubscriber()) return work();
  return storage.run({ ...currentScope(), ...scope }, work);
}

/** What is published of a batch that is released. */
type ObservedBatchEnd = Pick<BatchEndEvent, 'stage' | 'launched' | 'spent' | 'refunded'>;

/** What a batch publishes of its progress. */
type ObserveStage = (
  stage: Pick<BatchStageEvent, 'name' | 'batchUuid' | 'stage' | 'reason'>,
) => void;

/**
 * Publishes a batch's progress through the service.
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

/** What is published of how a run ended. */
export interface ObservedEnd {
  readonly rows: number;
  readonly hasFailed: boolean;
}

/** A run from its beginning on, as it is published; its end is published once. */
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
 * Publishes a run's beginning and end.
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

/** Why a run stopped, for subscribers. */
export function codeOf(error: unknown): RunEndEvent['code'] {
  if (error instanceof SluiceError) return error.code;
  return error instanceof Error && error.name === 'AbortError' ? 'aborted' : 'unknown';
}
