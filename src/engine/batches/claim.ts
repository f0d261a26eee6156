import type { VerificationType } from '../../contract/enums.js';
import { type BatchState, mayHaveLaunched } from './batch-state.js';
import type { Batch } from './batch.js';
import type { Charge } from './status-answer.js';
import type { ComparedExport } from './export-check.js';

export type Reservation = {
  /** Credits of the batch's type that all launches of the run come to with this one. */
  readonly credits: number;
} & (
  | { readonly isGranted: true }
  /** With the most that they may come to. */
  | { readonly isGranted: false; readonly most: number }
);

/**
 * The right to drive one batch. While it holds, no other process writes down what becomes of the batch;
 * once it is lost, nothing more is written or sent under it.
 */
export interface BatchClaim {
  /** Aborted with a {@link ClaimRevokedError} when another process may have the batch; absent where none can. */
  readonly revoked?: AbortSignal;

  /**
   * Writes down what is known from now on. Where that was surely not launched, its credits are free again.
   *
   * @param at when it became known. @default now
   */
  record(progress: BatchProgress, at?: string): Promise<void>;

  /**
   * Makes sure that the claim still holds, before a request with an effect that nothing was recorded for.
   */
  confirm(): Promise<void>;

  /**
   * Reserves the credits of the batch's launch, once however often it is asked for.
   *
   * @param most credits of the batch's type for all launches of the run, as given to this process. Where
   *   processes share the run, what the newest of them was given counts in its place
   */
  reserve(most: number): Promise<Reservation>;
}

/** Another process may have it by now: this one leaves it alone, and continues with what it has. */
export class ClaimRevokedError extends Error {
  override readonly name = 'ClaimRevokedError';

  /** @param what a batch by its label, or the output */
  constructor(what: string) {
    super(`another process may have ${what}`);
  }
}

/** What has changed about a batch. */
export interface BatchProgress {
  readonly batch: Batch;
  readonly state: BatchState;
  /** Name of the upload under way or elected. */
  readonly name: string;
  readonly charge: Charge | undefined;
  /** What its latest whole export held; `undefined` before there is one. */
  readonly exported?: ComparedExport | undefined;
  /**
   * What uploads in whose place it was sent again after they were launched have cost: `null` where the
   * service has not said it. Absent where there are none.
   */
  readonly inVain?: Charge | null | undefined;
}

type Write = (progress: BatchProgress, at?: string) => Promise<void> | void;

/** Claims on the batches of a run that no other process works on: none is ever lost. */
export class LocalClaims {
  /** Credits that launches have reserved, before refunds. */
  readonly #reserved: Record<VerificationType, number> = { email: 0, phone: 0 };

  /**
   * @param state what an earlier process knew: the credits of a batch that it may have launched are
   *   reserved, also beyond what is allowed
   * @param write writes down what becomes of the batch
   * @param before what launches in whose place it is sent again have cost: it stays spent
   */
  claim(
    batch: Batch,
    state: BatchState,
    write: Write,
    before?: BatchProgress['inVain'],
  ): BatchClaim {
    const { type } = batch.group;
    let inVain = 0;
    const spend = (cost: BatchProgress['inVain']): void => {
      const credits = cost === undefined ? 0 : (cost?.spent ?? batch.addresses);
      this.#reserved[type] += credits - inVain;
      inVain = credits;
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
        // What was reserved for a launch is kept until the launch surely did not take place.
        hold(mayHaveLaunched(progress.state));
        spend(progress.inVain);
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
