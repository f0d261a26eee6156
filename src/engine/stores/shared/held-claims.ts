import { ClaimLostError } from '../../batches/batch-claim.js';
import type { Token } from './store-protocol.js';

/** A claim that this process has, as far as it knows. */
export interface HeldClaim {
  readonly token: Token;
  readonly lost: AbortController;
}

interface Held extends HeldClaim {
  /** When the latest sign of life was sent that the store has answered. */
  renewedAt: number;
}

/**
 * The claims that a process has. It gives one up by itself when the store has not answered for so long
 * that another process may have the batch.
 */
export class HeldClaims {
  readonly #patienceMs: number;
  readonly #held = new Map<string, Held>();

  /** @param leaseMs how long the store keeps a claim without a sign of life */
  constructor(leaseMs: number) {
    this.#patienceMs = (leaseMs * 2) / 3;
  }

  get tokens(): readonly Token[] {
    return Array.from(this.#held.values(), ({ token }) => token);
  }

  has(label: string): boolean {
    return this.#held.has(label);
  }

  /** @param sentAt when it was asked for: the answer may have come when the lease was over */
  add(token: Token, sentAt: number, now: number): HeldClaim {
    const held = { token, lost: new AbortController(), renewedAt: sentAt };
    this.lose(token.label);
    this.#held.set(token.label, held);
    this.loseOverdue(now);
    return held;
  }

  /** Takes in the answer to a sign of life. */
  renew(tokens: readonly Token[], lost: readonly Token[], sentAt: number): void {
    for (const { label, epoch } of lost) {
      if (this.#held.get(label)?.token.epoch === epoch) this.lose(label);
    }
    for (const { label, epoch } of tokens) {
      const held = this.#held.get(label);
      if (held?.token.epoch === epoch) held.renewedAt = Math.max(held.renewedAt, sentAt);
    }
  }

  /** No process can have it any more: nothing more has to be said of it. */
  end({ token, lost }: HeldClaim): void {
    if (this.#held.get(token.label)?.lost === lost) this.#held.delete(token.label);
  }

  loseOverdue(now: number): void {
    for (const { token, renewedAt } of this.#held.values()) {
      if (now - renewedAt >= this.#patienceMs) this.lose(token.label);
    }
  }

  loseAll(): void {
    for (const label of this.#held.keys()) this.lose(label);
  }

  /** @throws ClaimLostError always */
  refused(held: HeldClaim): never {
    const { token, lost } = held;
    this.end(held);
    lost.abort(new ClaimLostError(token.label));
    throw lost.signal.reason;
  }

  lose(label: string): void {
    const held = this.#held.get(label);
    this.#held.delete(label);
    held?.lost.abort(new ClaimLostError(label));
  }
}
