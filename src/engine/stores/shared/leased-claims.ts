import type { SharedSteps } from './shared-steps.js';
import type { Clock } from '../../../platform/waiting/clock.js';
import { InTurn } from '../../../platform/waiting/promises.js';
import { noTimes } from '../../batches/batch-log.js';
import { isAtEnd, isPrepared } from '../../batches/batch-state.js';
import { type Batch, batchLabel } from '../../batches/batch.js';
import { type BatchProgress, heldCredits } from '../../batches/claim.js';
import { batchEntryOf } from '../journal-entries.js';
import { encodeResults } from '../result-store.js';
import { entryOf, type RunState } from '../run-state.js';
import type { CopyClaim, OutputClaim, RunClaim } from '../run-store.js';
import { blocksOf } from './byte-steps.js';
import type { Lease, Leases } from './leases.js';
import type { BatchRecord, ReopenedBatch } from './store-protocol.js';

interface LeasedClaimsOptions {
  readonly steps: SharedSteps;
  readonly clock: Clock;
  readonly held: Leases;
  /** Waits for a step, but not longer than the claim is valid. */
  readonly ask: <Answer>(step: () => Promise<Answer>, revoked: AbortSignal) => Promise<Answer>;
  readonly nextCall: () => number;
  /** Called with what the store has recorded: the heartbeat that brings it may never be answered. */
  readonly onRecorded: (entry: BatchRecord['entry']) => void;
  /** Called when a claim has nothing left to do. */
  readonly onEnded: () => void;
}

/** The steps of a process under its claims. */
export class LeasedClaims {
  readonly #options: LeasedClaimsOptions;
  /** Counts of what this process has finished. */
  #done = { batches: 0, addresses: 0 };

  constructor(options: LeasedClaimsOptions) {
    this.#options = options;
  }

  get done(): { readonly batches: number; readonly addresses: number } {
    return this.#done;
  }

  ofBatch(batch: Batch, held: Lease, state: RunState): RunClaim {
    const { steps, clock, ask, nextCall } = this.#options;
    const { token, revoked } = held;
    const send = this.#underLease(held);
    return {
      batch,
      entry: entryOf(state, batch),
      times: state.times.get(token.label) ?? noTimes,
      revoked: revoked.signal,
      record: async (progress, at = new Date(clock.wallNow()).toISOString()) => {
        const record = recordOf(progress, at, nextCall());
        await send(async () => steps.record(token, record));
        this.#options.onRecorded(record.entry);
        if (record.hasEnded) this.#end(held);
        if (isAtEnd(progress.state)) this.#countDone(batch);
      },
      confirm: async () => send(async () => steps.confirm(token)),
      reserve: async () => {
        revoked.signal.throwIfAborted();
        const reservation = await ask(async () => steps.reserve(token), revoked.signal);
        return reservation ?? this.#options.held.refused(held);
      },
      keepResults: async (results, outcomes) => {
        const bytes = encodeResults(results, outcomes);
        await send(async () => steps.results.keep(token, bytes, nextCall));
      },
    };
  }

  ofOutput(held: Lease): OutputClaim {
    const { steps, nextCall } = this.#options;
    const { token, revoked } = held;
    const send = this.#underLease(held);
    return {
      revoked: revoked.signal,
      confirm: async () => send(async () => steps.confirm(token)),
      finish: async (summary) => {
        const entry = { entry: 'finished', summary } as const;
        const call = nextCall();
        const facts = { hasEnded: true, held: { spent: 0, reserved: 0 }, isProven: false };
        await send(async () => steps.record(token, { entry, call, ...facts }));
        this.#end(held);
      },
    };
  }

  ofCopy(held: Lease): CopyClaim {
    const { steps, held: leases } = this.#options;
    const { copy } = steps;
    const { token, revoked } = held;
    const send = this.#underLease(held);
    return {
      revoked: revoked.signal,
      async write(bytes, of) {
        let parts = 0;
        for await (const block of blocksOf(bytes)) {
          const part = parts;
          await send(async () => copy.keep(token, part, block));
          parts += 1;
        }
        await send(async () => copy.end(token, { parts, of }));
        // Where the store forgets that, another copies it again, once the lease is over.
        leases.end(held);
      },
    };
  }

  /** Runs the steps of a claim in order: a repeated call comes before the next. */
  #underLease(held: Lease): (step: () => Promise<boolean>) => Promise<void> {
    const { signal } = held.revoked;
    const calls = new InTurn();
    return async (step) =>
      calls.next(async () => {
        signal.throwIfAborted();
        if (!(await this.#options.ask(step, signal))) this.#options.held.refused(held);
      });
  }

  #end(held: Lease): void {
    this.#options.held.end(held);
    this.#options.onEnded();
  }

  #countDone({ addresses }: Batch): void {
    const { batches, addresses: before } = this.#done;
    this.#done = { batches: batches + 1, addresses: before + addresses };
  }
}

/** The record of a batch in a shared store, with its effects on the store. */
function recordOf(progress: BatchProgress, at: string, call: number): BatchRecord {
  const { state } = progress;
  return {
    entry: batchEntryOf(progress, at),
    call,
    hasEnded: isAtEnd(state) || state.stage === 'split',
    held: heldCredits(progress.batch.addresses, progress),
    isProven: isPrepared(state) || (state.stage === 'parsing' && state.prepared),
  };
}

/** The same for a reopened batch. */
export function reopenedRecordOf(progress: BatchProgress, at: string): ReopenedBatch {
  return {
    label: batchLabel(progress.batch),
    entry: batchEntryOf(progress, at),
    held: heldCredits(progress.batch.addresses, progress),
  };
}
