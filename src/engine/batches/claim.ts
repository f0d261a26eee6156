import type { VerificationType } from '../../contract/enums.js';
import { type BatchState, mayHaveLaunched } from './batch-state.js';
import type { Batch } from './batch.js';
import type { Charge } from './status-answer.js';
import type { ComparedExport } from './export-check.js';

export type Reservation = {
  /** Credits of the batch's type for all launches of the run, including this one. */
  readonly credits: number;
} & (
  | { readonly isGranted: true }
  /** With the limit. */
  | { readonly isGranted: false; readonly most: number }
);

/**
 * The right to drive one batch. While it holds, no other process records the batch; once it is revoked,
 * nothing more is recorded or sent under it.
 */
export interface BatchClaim {
  /** Aborted with a {@link ClaimRevokedError} when another process may have the batch; absent where none can. */
  readonly revoked?: AbortSignal;

  /**
   * Records the new state. Where the batch was surely not launched, its credits are free again.
   *
   * @param at when it became known. @default now
   */
  record(progress: BatchProgress, at?: string): Promise<void>;

  /** Confirms the claim before a request with an effect for which nothing was recorded. */
  confirm(): Promise<void>;

  /**
   * Reserves the credits of the batch's launch; repeated calls reserve once.
   *
   * @param most this process's limit for the batch's type over the whole run. In a shared run the newest
   * process's limit counts
   */
  reserve(most: number): Promise<Reservation>;
}

/** Another process may have the batch: this one abandons it and continues with its others. */
export class ClaimRevokedError extends Error {
  override readonly name = 'ClaimRevokedError';

  /** @param what a batch's label, or the output */
  constructor(what: string) {
    super(`another process may have ${what}`);
  }
}

/** A change of a batch. */
export interface BatchProgress {
  readonly batch: Batch;
  readonly state: BatchState;
  /** Name of the elected upload, or of the one under way. */
  readonly name: string;
  readonly charge: Charge | undefined;
  /** Content of its latest complete export; `undefined` before there is one. */
  readonly exported?: ComparedExport | undefined;
  /**
   * Cost of launched uploads that this one replaces: `null` where the service did not give it. Absent without
   * such uploads.
   */
  readonly replacedCharge?: Charge | null | undefined;
}

/** A change of a batch, as a run or stream reports it. */
export type BatchStage = {
  readonly stage: 'batch';
  /** Whether its launch was requested: from then on only the service knows whether it is paid. */
  readonly mayHaveLaunched: boolean;
} & BatchProgress;

export function batchStage(progress: BatchProgress): BatchStage {
  return { stage: 'batch', mayHaveLaunched: mayHaveLaunched(progress.state), ...progress };
}

type Write = (progress: BatchProgress, at?: string) => Promise<void> | void;

/** Claims on the batches of a run that no other process works on: never revoked. */
export class LocalClaims {
  /** Credits reserved by launches, before refunds. */
  readonly #reserved: Record<VerificationType, number> = { email: 0, phone: 0 };

  /**
   * @param state the state of an earlier process: a batch that it may have launched keeps its reservation,
   * even beyond the limit
   * @param write records the batch
   * @param before cost of replaced launches, which stays spent
   */
  claim(
    batch: Batch,
    state: BatchState,
    write: Write,
    before?: BatchProgress['replacedCharge'],
  ): BatchClaim {
    const { type } = batch.group;
    let replacedCharge = 0;
    const spend = (cost: BatchProgress['replacedCharge']): void => {
      const credits = cost === undefined ? 0 : (cost?.spent ?? batch.addresses);
      this.#reserved[type] += credits - replacedCharge;
      replacedCharge = credits;
    };
    spend(before);
    let isReserved = false;
    const hold = (isHeld: boolean): void => {
      if (isHeld === isReserved) return;
      isReserved = isHeld;
      this.#reserved[type] += isHeld ? batch.addresses : -batch.addresses;
    };
    hold(mayHaveLaunched(state));
    return {
      record: async (progress, at) => {
        // A reservation is kept until the launch surely did not happen.
        hold(mayHaveLaunched(progress.state));
        spend(progress.replacedCharge);
        await write(progress, at);
      },
      confirm: async () => undefined,
      reserve: async (most): Promise<Reservation> => {
        const credits = this.#reserved[type] + (isReserved ? 0 : batch.addresses);
        if (!isReserved && credits > most) return { isGranted: false, credits, most };
        hold(true);
        return { isGranted: true, credits };
      },
    };
  }
}
