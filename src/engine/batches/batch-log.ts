import { batchLabel, type Batch, uuidKey } from './batch.js';
import type { BatchProgress } from './claim.js';
import { type BatchState, mayHaveLaunched, planned } from './batch-state.js';
import type { Charge } from './status-answer.js';

/** What is known of a batch: its latest progress, and when it came to each stage. */
export interface DrivenBatch extends Omit<BatchProgress, 'name'> {
  /** Name of its elected or latest upload; `undefined` before the first. */
  readonly name: string | undefined;
  readonly times: BatchTimes;
}

/** The cost of a batch and its earlier uploads, where known: what was never launched cost nothing. */
export function chargeOf({
  state,
  charge,
  replacedCharge = nothing,
}: DrivenBatch): Charge | undefined {
  const latest = mayHaveLaunched(state) ? charge : nothing;
  return latest && replacedCharge ? addCharges(latest, replacedCharge) : undefined;
}

export const nothing: Charge = { spent: 0, refunded: 0, net: 0 };

export function addCharges(one: Charge, other: Charge): Charge {
  return {
    spent: one.spent + other.spent,
    refunded: one.refunded + other.refunded,
    net: one.net + other.net,
  };
}

/** A batch with its new state; a batch that is sent again keeps the cost of its earlier launch. */
export function withKnown(driven: DrivenBatch, state: BatchState): DrivenBatch {
  const isAgain = state.stage === 'planned' && mayHaveLaunched(driven.state);
  if (!isAgain) return { ...driven, state };
  return {
    ...driven,
    state,
    charge: undefined,
    exported: undefined,
    replacedCharge: chargeOf(driven) ?? null,
  };
}

/**
 * Names of the uploads of a batch that nothing has confirmed: the service may have them, and list them later.
 *
 * @param before what was known before the state
 */
export function unconfirmedUploads(
  before: Pick<DrivenBatch, 'state' | 'name' | 'unconfirmed'> | undefined,
  state: BatchState,
): readonly string[] | undefined {
  if (before?.state.stage !== 'uploading' || before.name === undefined) return before?.unconfirmed;
  const isGivenUp =
    state.attempt > before.state.attempt ||
    (state.stage === 'failed' && state.reason === 'upload_error');
  return isGivenUp ? [...(before.unconfirmed ?? []), before.name] : before.unconfirmed;
}

export class BatchLog {
  /** By label. */
  readonly #driven = new Map<string, DrivenBatch>();

  /** @param at when it became known, in ISO 8601 */
  note(progress: BatchProgress, at: string): void {
    this.recall(this.withBefore(progress, at));
  }

  /** The new state, combined with what is known already. */
  withBefore(progress: BatchProgress, at: string): DrivenBatch {
    const { batch, state, name, charge, exported, replacedCharge } = progress;
    const before = this.#driven.get(batchLabel(batch));
    return {
      batch,
      state,
      name,
      charge: charge ?? before?.charge,
      exported: exported ?? before?.exported,
      replacedCharge: replacedCharge === undefined ? before?.replacedCharge : replacedCharge,
      unconfirmed: unconfirmedUploads(before, state),
      times: noteTime(before?.times ?? noTimes, state, at),
    };
  }

  /** Takes over what an earlier process recorded, or what is recorded now. */
  recall(driven: DrivenBatch): void {
    this.#driven.set(batchLabel(driven.batch), driven);
  }

  times(batch: Batch): BatchTimes {
    return this.#driven.get(batchLabel(batch))?.times ?? noTimes;
  }

  charge(batch: Batch): Charge | undefined {
    return this.#driven.get(batchLabel(batch))?.charge;
  }

  lacksResults(batch: Batch): boolean {
    return this.#driven.get(batchLabel(batch))?.exported?.missing !== undefined;
  }

  /** The elected uploads, by key. */
  uuids(): ReadonlySet<string> {
    return new Set(
      this.batches().flatMap(({ state }) =>
        state.stage !== 'split' && 'uuid' in state && state.uuid !== undefined
          ? [uuidKey(state.uuid)]
          : [],
      ),
    );
  }

  state(batch: Batch): BatchState {
    return this.#driven.get(batchLabel(batch))?.state ?? planned;
  }

  /** By their numbers and lines; a split batch comes before its parts. */
  batches(): readonly DrivenBatch[] {
    return [...this.#driven.values()].toSorted(
      ({ batch: a }, { batch: b }) =>
        a.id - b.id || (a.part?.start ?? 0) - (b.part?.start ?? 0) || b.addresses - a.addresses,
    );
  }
}

/** When a batch reached each stage, in ISO 8601; `null` where it has not. */
export interface BatchTimes {
  /** The service had received it. */
  readonly uploaded_at: string | null;
  /** It was ready to be launched. */
  readonly prepared_at: string | null;
  /** Its launch was asked for. */
  readonly launched_at: string | null;
  /** The service was seen to be done with it. */
  readonly verified_at: string | null;
  /** Its results were safe. */
  readonly exported_at: string | null;
}

export const noTimes: BatchTimes = {
  uploaded_at: null,
  prepared_at: null,
  launched_at: null,
  verified_at: null,
  exported_at: null,
};

/** Notes the time of a stage; a batch that is uploaded again starts over. */
export function noteTime(times: BatchTimes, { stage }: BatchState, at: string): BatchTimes {
  switch (stage) {
    case 'planned':
    case 'uploading':
      return noTimes;
    case 'uploaded':
      return { ...times, uploaded_at: times.uploaded_at ?? at };
    case 'ready':
      return { ...times, prepared_at: times.prepared_at ?? at };
    case 'launching':
      return { ...times, launched_at: times.launched_at ?? at };
    case 'done':
      return { ...times, verified_at: times.verified_at ?? at };
    case 'exported':
      return { ...times, exported_at: times.exported_at ?? at };
    case 'parsing':
    case 'verifying':
    case 'split':
    case 'failed':
      return times;
  }
}
