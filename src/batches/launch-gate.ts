import type { VerificationType } from '../contract/enums.js';
import { BudgetError } from '../errors/family.js';
import type { SluiceError } from '../errors/sluice-error.js';

/**
 * Every launch asks here first. Credits are reserved before the launch, so that launches under way at
 * once cannot overshoot the budget together; once closed, nothing more is launched, and what runs is
 * finished.
 */
export class LaunchGate {
  readonly #maxCredits: number;
  readonly #reserved: Record<VerificationType, number> = { email: 0, phone: 0 };
  #closedBy: SluiceError | undefined;
  #isHeld = false;

  /** @param options.maxCredits most credits of each type, before refunds. @default Infinity */
  constructor(options: { readonly maxCredits?: number | undefined } = {}) {
    this.#maxCredits = options.maxCredits ?? Infinity;
  }

  /** Why nothing more is launched; `undefined` while launches are allowed. */
  get closedBy(): SluiceError | undefined {
    return this.#closedBy;
  }

  /**
   * Whether a launch that had no answer may be asked for again: its credits are within the budget that
   * closed the gate to others. What the service itself refuses for the money is not asked for again.
   */
  get allowsReserved(): boolean {
    if (this.#isHeld) return false;
    return this.#closedBy === undefined || this.#closedBy instanceof BudgetError;
  }

  /** Lets nothing be launched until it is let go. */
  hold(): void {
    this.#isHeld = true;
  }

  letGo(): void {
    this.#isHeld = false;
  }

  /** Reserves the credits of a launch; `false` when it may not take place. */
  reserve(type: VerificationType, credits: number): boolean {
    if (this.#closedBy || this.#isHeld) return false;
    if (this.#reserved[type] + credits > this.#maxCredits) {
      this.close(
        new BudgetError(
          `the next batch would bring the run to ${this.#reserved[type] + credits} ${type} credits, more than the ${this.#maxCredits} allowed; run again with a higher --max-credits to go on`,
        ),
      );
      return false;
    }
    this.#reserved[type] += credits;
    return true;
  }

  /** Takes in what earlier launches of the run have used; never refused. */
  count(type: VerificationType, credits: number): void {
    this.#reserved[type] += credits;
  }

  /** Gives back what a launch that was surely not carried out had reserved. */
  release(type: VerificationType, credits: number): void {
    this.#reserved[type] -= credits;
  }

  close(reason: SluiceError): void {
    this.#closedBy ??= reason;
  }
}
