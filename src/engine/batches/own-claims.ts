import type { VerificationType } from '../../contract/enums.js';
import type { BatchClaim, Reservation } from './batch-claim.js';
import type { Batch } from './batch.js';
import type { BatchProgress } from './batch-progress.js';
import { mayHaveLaunched, type KnownBatch } from './batch-state.js';

type Write = (progress: BatchProgress, at?: string) => Promise<void> | void;

/** Claims on the batches of a run that no other process works on: none is ever lost. */
export class OwnClaims {
  /** Credits that launches have reserved, before refunds. */
  readonly #reserved: Record<VerificationType, number> = { email: 0, phone: 0 };

  /**
   * @param known what an earlier process knew: the credits of a batch that it may have launched are
   *   reserved, also beyond what is allowed
   * @param write writes down what becomes of the batch
   * @param before what launches in whose place it is sent again have cost: it stays spent
   */
  claim(
    batch: Batch,
    known: KnownBatch,
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
    hold(mayHaveLaunched(known));
    return {
      record: async (progress, at) => {
        // What was reserved for a launch is kept until the launch surely did not take place.
        hold(mayHaveLaunched(progress.known));
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
