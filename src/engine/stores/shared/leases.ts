import type { Clock } from '../../../platform/waiting/clock.js';
import { ClaimRevokedError } from '../../batches/claim.js';
import type { Token, PaceSteps } from './store-protocol.js';
import type { RateMember, RateUpdate, SharedRate } from '../../../client/rate/shared-rate.js';

/** A claim that this process has, as far as it knows. */
export interface Lease {
  readonly token: Token;
  readonly revoked: AbortController;
}

interface Held extends Lease {
  /** When the latest sign of life was sent that the store has answered. */
  renewedAt: number;
}

/**
 * The claims that a process has. It gives one up by itself when the store has not answered for so long
 * that another process may have the batch.
 */
export class Leases {
  readonly #validMs: number;
  readonly #held = new Map<string, Held>();

  /** @param leaseMs how long the store keeps a claim without a sign of life */
  constructor(leaseMs: number) {
    this.#validMs = (leaseMs * 2) / 3;
  }

  get tokens(): readonly Token[] {
    return Array.from(this.#held.values(), ({ token }) => token);
  }

  has(label: string): boolean {
    return this.#held.has(label);
  }

  /** @param sentAt when it was asked for: the answer may have come when the lease was over */
  add(token: Token, sentAt: number, now: number): Lease {
    const held = { token, revoked: new AbortController(), renewedAt: sentAt };
    this.revoke(token.label);
    this.#held.set(token.label, held);
    this.revokeOverdue(now);
    return held;
  }

  /** Takes in the answer to a sign of life. */
  renew(tokens: readonly Token[], revoked: readonly Token[], sentAt: number): void {
    for (const { label, epoch } of revoked) {
      if (this.#held.get(label)?.token.epoch === epoch) this.revoke(label);
    }
    for (const { label, epoch } of tokens) {
      const held = this.#held.get(label);
      if (held?.token.epoch === epoch) held.renewedAt = Math.max(held.renewedAt, sentAt);
    }
  }

  /** No process can have it any more: nothing more has to be said of it. */
  end({ token, revoked }: Lease): void {
    if (this.#held.get(token.label)?.revoked === revoked) this.#held.delete(token.label);
  }

  revokeOverdue(now: number): void {
    for (const { token, renewedAt } of this.#held.values()) {
      if (now - renewedAt >= this.#validMs) this.revoke(token.label);
    }
  }

  revokeAll(): void {
    for (const label of this.#held.keys()) this.revoke(label);
  }

  refused(held: Lease): never {
    const { token, revoked } = held;
    this.end(held);
    revoked.abort(new ClaimRevokedError(token.label));
    throw revoked.signal.reason;
  }

  revoke(label: string): void {
    const held = this.#held.get(label);
    this.#held.delete(label);
    held?.revoked.abort(new ClaimRevokedError(label));
  }
}

const longestBeatMs = 1000;
/** A process that waits looks again after this part of the time between two signs of life. */
const soonest = 0.1;

interface HeartbeatOptions {
  readonly clock: Clock;
  /** How long the store keeps a claim without a sign of life. */
  readonly leaseMs: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Whether the process has nothing to do but what comes when others are further. */
  readonly isWaiting: () => boolean;
  /** Comes before each sign of life, also while one has no answer yet. @returns whether it continues */
  readonly tick: () => boolean;
  /** Gives a sign of life. Never fails. */
  readonly beat: () => Promise<void>;
}

/** Gives signs of life. A process that waits looks more often than it has to, as long as there are updates. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  /** The time between two signs of life that are needed. */
  readonly intervalMs: number;
  #lookMs = 0;
  #isWanted = false;
  /** Ends the pause before the next. */
  #pause = new AbortController();

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.intervalMs = Math.min(longestBeatMs, options.leaseMs / 3);
    this.hurry();
  }

  /** There were updates: more may come soon. */
  hurry(): void {
    this.#lookMs = this.intervalMs * soonest;
  }

  /** Where the process has nothing else to do any more, it looks at once. */
  lookNow(): void {
    if (this.#options.isWaiting()) this.#pause.abort();
  }

  /** Listens: what stops one process must stop the others before they send more. */
  beatNow(): void {
    this.#isWanted = true;
    this.#pause.abort();
  }

  async run(): Promise<void> {
    const { clock, signal, isWaiting, tick, beat } = this.#options;
    let beating: Promise<void> | undefined;
    for (;;) {
      this.#pause = new AbortController();
      const woken = AbortSignal.any([signal, this.#pause.signal]);
      await clock.sleep(isWaiting() ? this.#lookMs : this.intervalMs, woken).catch(() => undefined);
      if (signal.aborted) return;
      // One that is under way may have been answered before there was something.
      if (this.#isWanted) void beating?.then(() => this.beatNow());
      this.#isWanted = false;
      this.#lookMs = Math.min(this.intervalMs, this.#lookMs * 1.5);
      if (!tick()) return;
      beating ??= beat().finally(() => {
        beating = undefined;
      });
    }
  }
}

type Act = <Answer>(step: () => Promise<Answer>) => Promise<Answer>;

/** One process's hold of the pace that it shares with others. */
export class LeasedRate implements SharedRate {
  readonly #steps: PaceSteps;
  readonly #do: Act;
  readonly #listening = new Set<(updates: RateUpdate) => void>();
  #updates: RateUpdate;

  private constructor(updates: RateUpdate, steps: PaceSteps, act: Act) {
    this.#updates = updates;
    this.#steps = steps;
    this.#do = act;
  }

  /** @param act does a step, or throws why this process has no say any more */
  static async join(member: RateMember, steps: PaceSteps, act: Act): Promise<LeasedRate> {
    return new LeasedRate(await act(async () => steps.join(member)), steps, act);
  }

  async takeSlot(): Promise<number> {
    return this.#do(async () => this.#steps.takeSlot());
  }

  pause(ms: number): void {
    // A store that is out of reach for too long ends whatever this process does.
    this.#do(async () => this.#steps.pause(ms)).catch(() => undefined);
  }

  listen(listener: (updates: RateUpdate) => void): () => void {
    this.#listening.add(listener);
    listener(this.#updates);
    return () => this.#listening.delete(listener);
  }

  /** Takes in the answer to a sign of life. */
  applyRemote(updates: RateUpdate): void {
    this.#updates = updates;
    for (const listener of this.#listening) listener(updates);
  }
}
