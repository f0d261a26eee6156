import type { VerificationType } from '../../contract/enums.js';
import { BudgetError } from '../../platform/errors/errors.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import type { Batch } from '../batches/batch.js';
import type { BatchClaim } from '../batches/claim.js';
import { bounds } from '../batches/state-machine.js';
import { optionName } from '../../platform/text/option-name.js';

/**
 * Every launch asks here first. Credits are reserved before the launch, so that launches under way at
 * once cannot overshoot the budget together; once closed, nothing more is launched, and what runs is
 * finished. Each type has a budget of its own: where one is used up, the other continues.
 */
export class LaunchGate {
  readonly #maxCredits: number;
  #closedBy: SluiceError | undefined;
  /** Whether it is closed for more than a budget. */
  #isClosedToAll = false;
  readonly #usedUp = new Set<VerificationType>();
  #isHeld = false;

  /** @param options.maxCredits most credits of each type, before refunds. @default Infinity */
  constructor(options: { readonly maxCredits?: number | undefined } = {}) {
    this.#maxCredits = options.maxCredits ?? Infinity;
  }

  /** Why something is not launched; `undefined` while all launches are allowed. */
  get closedBy(): SluiceError | undefined {
    return this.#closedBy;
  }

  /** How often it was closed, to one type or to all. */
  get closings(): number {
    return this.#usedUp.size + Number(this.#isClosedToAll);
  }

  /** Whether nothing more of a batch's type is launched. */
  isClosedTo({ group }: Batch): boolean {
    return this.#isClosedToAll || this.#usedUp.has(group.type);
  }

  /**
   * Whether a launch that had no answer may be asked for again: its credits are within the budget that
   * closed the gate to others. What the service itself refuses for the money is not asked for again.
   */
  get allowsReserved(): boolean {
    if (this.#isHeld) return false;
    return this.#closedBy === undefined || this.#closedBy instanceof BudgetError;
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  /** Reserves the credits of a launch; `false` when it may not take place. */
  async reserve(batch: Batch, claim: Pick<BatchClaim, 'reserve'>): Promise<boolean> {
    const { group, addresses } = batch;
    if (!this.#isOpenTo(batch)) return false;
    const reservation = await claim.reserve(this.#maxCredits);
    if (!reservation.isGranted) {
      const { credits, most } = reservation;
      this.#usedUp.add(group.type);
      this.#closedBy ??= new BudgetError(
        `${optionName('maxCredits')} allows ${grouped(most)} ${group.type} credits: ${grouped(credits - addresses)} are used, and the next batch needs ${grouped(addresses)}`,
      );
    }
    // Another launch may have been refused meanwhile. The credits stay reserved for this one.
    return this.#isOpenTo(batch);
  }

  close(reason: SluiceError): void {
    if (this.#isClosedToAll) return;
    this.#isClosedToAll = true;
    // What closes it to all says more than the budget of one type.
    this.#closedBy = reason instanceof BudgetError ? (this.#closedBy ?? reason) : reason;
  }

  #isOpenTo(batch: Batch): boolean {
    return !this.#isHeld && !this.isClosedTo(batch);
  }
}

type Size = Pick<Batch, 'sizeBytes' | 'addresses'>;

/**
 * The sizes that the service has refused in a run (413). It does not say whether it counts bytes or
 * rows: what is at least as large in both as something refused is refused too, whichever it counts.
 */
export class RefusedSizes {
  /** None of them covers another. */
  #refused: readonly Size[] = [];
  #linesInARow = 0;

  note({ sizeBytes, addresses }: Size): void {
    if (addresses === 1) this.#linesInARow += 1;
    if (this.covers({ sizeBytes, addresses })) return;
    const kept = this.#refused.filter((size) => !isAtLeast(size, { sizeBytes, addresses }));
    this.#refused = [...kept, { sizeBytes, addresses }];
  }

  noteTaken(): void {
    this.#linesInARow = 0;
  }

  covers(batch: Size): boolean {
    return this.#refused.some((size) => isAtLeast(batch, size));
  }

  /** Whether the service refuses even single lines, one after the other: it is not their size. */
  get isHopeless(): boolean {
    return this.#linesInARow >= bounds.refusedLines;
  }
}

function isAtLeast(size: Size, other: Size): boolean {
  return size.sizeBytes >= other.sizeBytes && size.addresses >= other.addresses;
}
