import type { VerificationType } from '../../contract/enums.js';
import { BudgetError } from '../../platform/errors/errors.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import type { Batch } from '../batches/batch.js';
import type { BatchClaim } from '../batches/claim.js';
import { bounds } from '../../client/batch-bounds.js';
import { optionName } from '../../platform/text/sentence.js';
import { Notifier } from '../../platform/waiting/promises.js';

interface LaunchGateOptions {
  /** Most credits of each type, before refunds. @default Infinity */
  readonly maxCredits?: number | undefined;
  /** Whether a launch may wait for credits that others free. @default always */
  readonly mayWait?: () => boolean;
  readonly onClosed?: (reason: SluiceError, type: VerificationType | null) => void;
  /** Called when a launch no longer waits for credits. */
  readonly onWaited?: () => void;
}

/**
 * Admits launches. Credits are reserved before each launch, so that concurrent launches cannot overshoot the
 * budget together; what a launch costs less is free again. Without enough credits a launch waits as long as
 * others may free them. Once closed, nothing more is launched, and running batches are finished. Each type
 * has its own budget: when one is used up, the other continues.
 */
export class LaunchGate {
  readonly #options: LaunchGateOptions;
  #closedBy: SluiceError | undefined;
  /** Whether it is closed for another reason than a budget. */
  #isClosedToAll = false;
  readonly #usedUp = new Set<VerificationType>();
  readonly #waiting = { email: new Set<Batch>(), phone: new Set<Batch>() };
  readonly #freed = new Notifier();
  #isHeld = false;

  constructor(options: LaunchGateOptions = {}) {
    this.#options = options;
  }

  get closedBy(): SluiceError | undefined {
    return this.#closedBy;
  }

  get closings(): number {
    return this.#usedUp.size + Number(this.#isClosedToAll);
  }

  isClosedTo({ group }: Batch): boolean {
    return this.#isClosedToAll || this.#usedUp.has(group.type);
  }

  isShortOf(type: VerificationType): boolean {
    return this.#waiting[type].size > 0;
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  /** Credits may be free again: launches that wait for them ask once more. */
  noteFreed(): void {
    this.#freed.notify();
  }

  /** Reserves the credits of a launch. @returns `false` when it must not take place */
  async reserve(batch: Batch, claim: BatchClaim, signal: AbortSignal): Promise<boolean> {
    const { maxCredits = Infinity, mayWait = () => true, onWaited } = this.#options;
    const waiting = this.#waiting[batch.group.type];
    try {
      while (this.#isOpenTo(batch)) {
        const reservation = await claim.reserve(maxCredits);
        // Another launch may have been refused meanwhile. The credits stay reserved.
        if (reservation.isGranted) return this.#isOpenTo(batch);
        const { credits, most, open } = reservation;
        if (mayWait() && credits - open <= most) {
          waiting.add(batch);
          await this.#freed.wait(signal);
        } else this.#useUp(batch, { used: credits - batch.addresses, most });
      }
      return false;
    } finally {
      if (waiting.delete(batch)) onWaited?.();
    }
  }

  /**
   * Whether a launch in doubt, whose credits are reserved, may be repeated: also where the budget has closed
   * the gate to others, but not beyond a budget that has become smaller. A launch that the service refused for
   * lack of credits is not repeated.
   */
  async allowsAgain(batch: Batch, claim: BatchClaim): Promise<boolean> {
    if (!this.#isOpenToReserved) return false;
    const reservation = await claim.reserve(this.#options.maxCredits ?? Infinity);
    if (reservation.isGranted) return this.#isOpenToReserved;
    const { credits, most } = reservation;
    this.#useUp(batch, { used: credits - batch.addresses, most });
    return false;
  }

  get #isOpenToReserved(): boolean {
    if (this.#isHeld) return false;
    return this.#closedBy === undefined || this.#closedBy instanceof BudgetError;
  }

  #useUp(
    { group, addresses }: Batch,
    { used, most }: { readonly used: number; readonly most: number },
  ): void {
    const { type } = group;
    const reason = new BudgetError(
      `${optionName('maxCredits')} allows ${counted(most, `${type} credit`)}: ${grouped(used)} are spent or reserved for launched batches, and the next batch needs ${grouped(addresses)}`,
    );
    if (this.#usedUp.has(type)) return;
    this.#usedUp.add(type);
    if (!this.#isClosedToAll) {
      const before = this.#closedBy;
      this.#closedBy = before ? new BudgetError(`${before.message}; ${reason.message}`) : reason;
      this.#options.onClosed?.(reason, type);
    }
    this.noteFreed();
  }

  close(reason: SluiceError): void {
    if (this.#isClosedToAll) return;
    this.#isClosedToAll = true;
    // A reason that closes it to all outweighs the budget of one type.
    this.#closedBy = reason instanceof BudgetError ? (this.#closedBy ?? reason) : reason;
    this.#options.onClosed?.(reason, null);
    this.noteFreed();
  }

  #isOpenTo(batch: Batch): boolean {
    return !this.#isHeld && !this.isClosedTo(batch);
  }
}

interface Size {
  readonly sizeBytes: number;
  readonly addresses: number;
}

/**
 * Sizes refused by the service in a run (413). Whether it counts bytes or rows is unknown: a batch at least
 * as large in both as a refused one is refused, too. A refusal may have had another reason, so after some
 * batches are taken the sizes are tried again, which costs uploads only: less often each time it is in vain.
 */
export class RefusedSizes {
  /** None of them covers another. */
  #refused: readonly Size[] = [];
  #linesInARow = 0;
  #taken = 0;
  #takenToForget: number = bounds.takenToForget;
  #hasForgotten = false;

  note({ sizeBytes, addresses }: Size): void {
    if (addresses === 1) this.#linesInARow += 1;
    this.#taken = 0;
    if (this.#hasForgotten) this.#takenToForget *= 2;
    this.#hasForgotten = false;
    if (this.covers({ sizeBytes, addresses })) return;
    const kept = this.#refused.filter((size) => !isAtLeast(size, { sizeBytes, addresses }));
    this.#refused = [...kept, { sizeBytes, addresses }];
  }

  noteTaken(): void {
    this.#linesInARow = 0;
    this.#taken += 1;
    if (this.#taken < this.#takenToForget || this.#refused.length === 0) return;
    this.#refused = [];
    this.#hasForgotten = true;
  }

  covers(batch: Size): boolean {
    return this.#refused.some((size) => isAtLeast(batch, size));
  }

  /** Whether the service refuses even single lines in a row: then size is not the reason. */
  get isHopeless(): boolean {
    return this.#linesInARow >= bounds.refusedLines;
  }
}

function isAtLeast(size: Size, other: Size): boolean {
  return size.sizeBytes >= other.sizeBytes && size.addresses >= other.addresses;
}
