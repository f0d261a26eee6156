import { batchLabel, type Batch, uuidKey } from './batch.js';
import type { BatchProgress } from './claim.js';
import { type BatchState, mayHaveLaunched, planned } from './batch-state.js';
import type { Charge } from './status-answer.js';
import type { ComparedExport } from './export-check.js';

/** A batch and what is known of it, for the summary. */
export interface DrivenBatch {
  readonly batch: Batch;
  readonly state: BatchState;
  /** Name of its elected or latest upload; `undefined` before the first. */
  readonly name: string | undefined;
  readonly charge: Charge | undefined;
  /** What its latest whole export held. */
  readonly exported?: ComparedExport | undefined;
  /** As in `BatchProgress`. */
  readonly inVain?: Charge | null | undefined;
  readonly times: BatchTimes;
}

/** What a batch and its uploads before cost, where that is known: what was never launched cost nothing. */
export function chargeOf({ state, charge, inVain = nothing }: DrivenBatch): Charge | undefined {
  const own = mayHaveLaunched(state) ? charge : nothing;
  return own && inVain ? addCharges(own, inVain) : undefined;
}

export const nothing: Charge = { spent: 0, refunded: 0, net: 0 };

export function addCharges(one: Charge, other: Charge): Charge {
  return {
    spent: one.spent + other.spent,
    refunded: one.refunded + other.refunded,
    net: one.net + other.net,
  };
}

/** A batch with what is known of it now: of one that is sent again what its launch has cost is not lost. */
export function withKnown(driven: DrivenBatch, state: BatchState): DrivenBatch {
  const isAgain = state.stage === 'planned' && mayHaveLaunched(driven.state);
  if (!isAgain) return { ...driven, state };
  return {
    ...driven,
    state,
    charge: undefined,
    exported: undefined,
    inVain: chargeOf(driven) ?? null,
  };
}

/** The latest of every batch, and of every part of one. */
export class BatchLog {
  /** By label. */
  readonly #driven = new Map<string, DrivenBatch>();

  /** @param at when it became known, as `2026-11-21T03:00:00.000Z` */
  note(progress: BatchProgress, at: string): void {
    this.recall(this.withBefore(progress, at));
  }

  /** What is known from now on, with what is known already. */
  withBefore(progress: BatchProgress, at: string): DrivenBatch {
    const { batch, state, name, charge, exported, inVain } = progress;
    const before = this.#driven.get(batchLabel(batch));
    return {
      batch,
      state,
      name,
      charge: charge ?? before?.charge,
      exported: exported ?? before?.exported,
      inVain: inVain === undefined ? before?.inVain : inVain,
      times: noteTime(before?.times ?? noTimes, state, at),
    };
  }

  /** Takes up what an earlier process knew, or what is written down now. */
  recall(driven: DrivenBatch): void {
    this.#driven.set(batchLabel(driven.batch), driven);
  }

  times(batch: Batch): BatchTimes {
    return this.#driven.get(batchLabel(batch))?.times ?? noTimes;
  }

  charge(batch: Batch): Charge | undefined {
    return this.#driven.get(batchLabel(batch))?.charge;
  }

  /** Whether the export of a batch lacks results that are paid for. */
  lacksResults(batch: Batch): boolean {
    return this.#driven.get(batchLabel(batch))?.exported?.missing !== undefined;
  }

  /** Of all uploads that are gone on with, by their keys. */
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

  /** In the order of their numbers and lines; those that were split come before their parts. */
  batches(): readonly DrivenBatch[] {
    return [...this.#driven.values()].toSorted(
      ({ batch: a }, { batch: b }) =>
        a.id - b.id || (a.part?.start ?? 0) - (b.part?.start ?? 0) || b.addresses - a.addresses,
    );
  }
}

/** When a batch got where it is, as `2026-11-21T03:00:00.000Z`; `null` where it has not been. */
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

/** Takes in that a batch is in a stage; one that is uploaded again starts over. */
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
