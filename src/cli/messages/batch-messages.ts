import type { BatchState, RunProgress } from '../../index.js';
import { message, type Message } from './message.js';
import type { WaitingReason } from './batch-sentences.js';

type BatchProgress = Extract<RunProgress, { readonly stage: 'batch' }>;

/** What a batch is named by. */
export function namesOf({ name, state }: BatchProgress): {
  readonly name: string;
  readonly batch_uuid: string | null;
} {
  return { name, batch_uuid: ('uuid' in state ? state.uuid : undefined) ?? null };
}

interface Failures {
  readonly count: number;
  /** The latest of them. */
  readonly latest: Message;
  /** Of the first few that have one: support is asked about them by it. */
  readonly uuids: readonly string[];
}

const mostNamed = 3;

/** Batches that have failed for no wrong export: told at the end, one message for each reason. */
export class FailedBatches {
  readonly #byReason = new Map<string, Failures>();

  note(reason: string, latest: Message): void {
    const { count = 0, uuids = [] } = this.#byReason.get(reason) ?? {};
    const uuid = latest.fields['batch_uuid'];
    const isNamed = typeof uuid === 'string' && uuids.length < mostNamed;
    this.#byReason.set(reason, {
      count: count + 1,
      latest,
      uuids: isNamed ? [...uuids, uuid] : uuids,
    });
  }

  messages(): readonly Message[] {
    return [...this.#byReason].map(([reason, { count, latest, uuids }]) =>
      count === 1
        ? latest
        : message('batches_failed', { reason, batches: count, batch_uuids: uuids }),
    );
  }
}

/** Answers of one kind in a row after which a batch counts as held up: some seconds with the usual waits. */
const inARow = 3;
/** The same cause is told again after so long, whichever batch it holds up then. */
const againAfterMs = 60_000;

/** Batches for which the service answers, but not as it should: the run waits, and says for what. */
export class HeldUpBatches {
  readonly #reportedAtMs = new Map<WaitingReason, number>();

  /** @returns what is to be said now: of each cause, once a minute at most */
  note(
    progress: Extract<RunProgress, { readonly stage: 'batch' }>,
    nowMs: number,
  ): Message | undefined {
    const cause = heldUpBy(progress.state);
    if (cause === undefined) return undefined;
    const reportedAtMs = this.#reportedAtMs.get(cause) ?? -Infinity;
    if (nowMs - reportedAtMs < againAfterMs) return undefined;
    this.#reportedAtMs.set(cause, nowMs);
    return message('batch_waiting', {
      ...namesOf(progress),
      stage: progress.state.stage,
      reason: cause,
    });
  }
}

function heldUpBy(state: BatchState): WaitingReason | undefined {
  if ('misses' in state && state.misses >= inARow) return 'not_found';
  switch (state.stage) {
    case 'planned':
      return state.uploads >= inARow ? 'not_uploaded' : undefined;
    case 'uploading':
      return state.looks >= inARow ? 'not_uploaded' : undefined;
    case 'uploaded':
      return state.prepares >= inARow ? 'not_prepared' : undefined;
    case 'parsing':
    case 'ready':
    case 'launching':
      return state.launches >= inARow ? 'not_launched' : undefined;
    case 'done':
      return state.broken >= inARow ? 'broken_export' : undefined;
    default:
      return undefined;
  }
}
