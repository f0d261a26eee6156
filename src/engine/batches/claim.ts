import { type VerificationType, verificationTypes } from '../../contract/enums.js';
import { type BatchState, isAtEnd, mayHaveLaunched } from './batch-state.js';
import type { Batch } from './batch.js';
import type { Charge } from './status-answer.js';
import type { ComparedExport } from './export-check.js';

export type Reservation = {
  /** Credits of the batch's type for all launches of the run, including this one. */
  readonly credits: number;
} & (
  | { readonly isGranted: true }
  | {
      readonly isGranted: false;
      readonly most: number;
      /**
       * Credits of launches whose cost is still open: some of them may become free. 0 for a batch whose own
       * are reserved: it does not wait for others, which may wait for it.
       */
      readonly open: number;
    }
);

/** A batch's share of its type's budget. */
export interface HeldCredits {
  /** Cost of its launches that are over. */
  readonly spent: number;
  /** One for each address of a launch that may still turn out to cost less. */
  readonly reserved: number;
}

/** What is known of a batch's launches; no charge where the service has not given it. */
interface KnownCosts {
  readonly state: BatchState;
  readonly charge?: Charge | null | undefined;
  readonly replacedCharge?: Charge | null | undefined;
}

/** A launch counts with its cost as soon as that is known, and with its addresses until then. */
export function heldCredits(
  addresses: number,
  { state, charge = null, replacedCharge }: KnownCosts,
): HeldCredits {
  const before = replacedCharge === undefined ? 0 : (replacedCharge?.spent ?? addresses);
  if (!mayHaveLaunched(state)) return { spent: before, reserved: 0 };
  const isOver = isAtEnd(state) || (state.stage === 'done' && charge !== null);
  if (!isOver) return { spent: before, reserved: addresses };
  return { spent: before + (charge?.spent ?? addresses), reserved: 0 };
}

/**
 * The right to drive one batch. While it holds, no other process records the batch; once it is revoked,
 * nothing more is recorded or sent under it.
 */
export interface BatchClaim {
  /** Aborted with a {@link ClaimRevokedError} when another process may have the batch; absent where none can. */
  readonly revoked?: AbortSignal;

  /**
   * Records the new state. Reserved credits that the batch surely does not cost are free again.
   *
   * @param at when it became known. @default now
   */
  record(progress: BatchProgress, at?: string): Promise<void>;

  /** Confirms the claim before a request with an effect for which nothing was recorded. */
  confirm(): Promise<void>;

  /**
   * Reserves the credits of the batch's launch; repeated calls reserve once. What was reserved by an earlier
   * process stays so, and is granted only within the limit. Where it is not, the batch is set aside: until it
   * is granted or recorded, it counts for new launches, and for no other whose credits are reserved.
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
  /** Names of its earlier uploads whose answer was lost, and which the list did not show. Absent without any. */
  readonly unconfirmed?: readonly string[] | undefined;
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

const none: HeldCredits = { spent: 0, reserved: 0 };

type Write = (progress: BatchProgress, at?: string) => Promise<void> | void;

/** Claims on the batches of a run that no other process works on: never revoked. */
export class LocalClaims {
  /** Held by all batches, before refunds. */
  readonly #held: Record<VerificationType, HeldCredits> = { email: none, phone: none };
  /** Of these, credits of batches that are set aside. */
  readonly #aside: Record<VerificationType, number> = { email: 0, phone: 0 };

  /** @param spent credits of the run that count already */
  constructor(spent: Readonly<Record<VerificationType, number>> = { email: 0, phone: 0 }) {
    for (const type of verificationTypes) this.#held[type] = { spent: spent[type], reserved: 0 };
  }

  /**
   * @param state the state of an earlier process: what it launched counts, even beyond the limit
   * @param write records the batch
   * @param costs known to that process
   */
  claim(
    batch: Batch,
    state: BatchState,
    write: Write,
    costs: Omit<KnownCosts, 'state'> = {},
  ): BatchClaim {
    const { type } = batch.group;
    let held = none;
    let aside = 0;
    const setAside = (credits: number): void => {
      this.#aside[type] += credits - aside;
      aside = credits;
    };
    const hold = (now: HeldCredits): void => {
      const { spent, reserved } = this.#held[type];
      this.#held[type] = {
        spent: spent + now.spent - held.spent,
        reserved: reserved + now.reserved - held.reserved,
      };
      held = now;
    };
    hold(heldCredits(batch.addresses, { ...costs, state }));
    return {
      record: async (progress, at) => {
        setAside(0);
        hold(heldCredits(batch.addresses, progress));
        await write(progress, at);
      },
      confirm: async () => undefined,
      reserve: async (most): Promise<Reservation> => {
        const { spent, reserved: open } = this.#held[type];
        const isHeld = held.reserved > 0;
        const others = isHeld ? aside - this.#aside[type] : batch.addresses;
        const credits = spent + open + others;
        if (credits > most) {
          setAside(held.reserved);
          return { isGranted: false, credits, most, open: isHeld ? 0 : open };
        }
        setAside(0);
        hold({ ...held, reserved: batch.addresses });
        return { isGranted: true, credits };
      },
    };
  }
}
