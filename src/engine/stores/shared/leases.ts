import type { Clock } from '../../../platform/waiting/clock.js';
import { ClaimRevokedError } from '../../batches/claim.js';
import type { Token, RunCalls } from './store-protocol.js';
import type { RateMember, RateUpdate, SharedRate } from '../../../client/rate/shared-rate.js';

/** A claim that this process has, as far as it knows. */
export interface Lease {
  readonly token: Token;
  readonly revoked: AbortController;
}

interface Held extends Lease {
  /** When the latest answered heartbeat was sent. */
  renewedAt: number;
}

/** The claims of a process, which revokes one by itself once another may have the batch for the store's silence. */
export class Leases {
  readonly #validMs: number;
  readonly #held = new Map<string, Held>();

  /** @param leaseMs how long a claim lasts without a heartbeat */
  constructor(leaseMs: number) {
    this.#validMs = (leaseMs * 2) / 3;
  }

  get tokens(): readonly Token[] {
    return Array.from(this.#held.values(), ({ token }) => token);
  }

  has(label: string): boolean {
    return this.#held.has(label);
  }

  /** @param sentAt when it was requested: the answer may have arrived after the lease's end */
  add(token: Token, sentAt: number, now: number): Lease {
    const held = { token, revoked: new AbortController(), renewedAt: sentAt };
    this.revoke(token.label);
    this.#held.set(token.label, held);
    this.revokeOverdue(now);
    return held;
  }

  renew(tokens: readonly Token[], revoked: readonly Token[], sentAt: number): void {
    for (const { label, epoch } of revoked) {
      if (this.#held.get(label)?.token.epoch === epoch) this.revoke(label);
    }
    for (const { label, epoch } of tokens) {
      const held = this.#held.get(label);
      if (held?.token.epoch === epoch) held.renewedAt = Math.max(held.renewedAt, sentAt);
    }
  }

  /** The claim is over for every process. */
  end({ token, revoked }: Lease): void {
    if (this.#held.get(token.label)?.revoked === revoked) this.#held.delete(token.label);
  }

  revokeOverdue(now: number): void {
    for (const { token, renewedAt } of this.#held.values()) {
      if (now - renewedAt >= this.#validMs) this.revoke(token.label);
    }
  }

  /** @param reason why this process may not go on at all. @default others may have the batches */
  revokeAll(reason?: unknown): void {
    for (const label of this.#held.keys()) this.revoke(label, reason);
  }

  refused(held: Lease): never {
    const { token, revoked } = held;
    this.end(held);
    revoked.abort(new ClaimRevokedError(token.label));
    throw revoked.signal.reason;
  }

  revoke(label: string, reason: unknown = new ClaimRevokedError(label)): void {
    const held = this.#held.get(label);
    this.#held.delete(label);
    held?.revoked.abort(reason);
  }
}

const longestBeatMs = 1000;
/** Share of the heartbeat interval after which a waiting process looks again. */
const soonest = 0.1;

interface HeartbeatOptions {
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly signal: AbortSignal;
  /** Whether the process only waits for others. */
  readonly isWaiting: () => boolean;
  /** Called before each heartbeat, even while one is unanswered. @returns whether to continue */
  readonly tick: () => boolean;
  /** Sends a heartbeat. Never fails. */
  readonly beat: () => Promise<void>;
}

/** Sends heartbeats. A waiting process sends them more often while there are updates. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  /** The longest time between two heartbeats. */
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

  /** Looks at once if the process only waits. */
  lookNow(): void {
    if (this.#options.isWaiting()) this.#pause.abort();
  }

  /** Sends one now: what stops one process must stop the others before they send more. */
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
      // The one under way may have been answered before the update.
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

  /** @param act performs a step, or throws why this process may no longer work */
  static async join(member: RateMember, steps: PaceSteps, act: Act): Promise<LeasedRate> {
    return new LeasedRate(await act(async () => steps.join(member)), steps, act);
  }

  async takeSlot(): Promise<number> {
    return this.#do(async () => this.#steps.takeSlot());
  }

  pause(ms: number): void {
    // An unreachable store ends the process's work elsewhere.
    this.#do(async () => this.#steps.pause(ms)).catch(() => undefined);
  }

  listen(listener: (updates: RateUpdate) => void): () => void {
    this.#listening.add(listener);
    listener(this.#updates);
    return () => this.#listening.delete(listener);
  }

  applyRemote(updates: RateUpdate): void {
    this.#updates = updates;
    for (const listener of this.#listening) listener(updates);
  }
}

export class PaceSteps {
  readonly #calls: RunCalls;
  #account = '';

  constructor(calls: RunCalls) {
    this.#calls = calls;
  }

  /** Joins it; heartbeats carry it from then on. */
  async join(member: RateMember): Promise<RateUpdate> {
    const { run, owner, salt } = this.#calls;
    this.#account = await member.account(salt);
    const values = { run, owner, account: this.#account, interval_ms: member.intervalMs };
    return this.#calls.call('join_pace', values);
  }

  /** Takes the account's next slot. @returns ms until it */
  async takeSlot(): Promise<number> {
    const values = { account: this.#account };
    const { waitMs } = await this.#calls.call<{ waitMs: number }>('take_slot', values);
    return waitMs;
  }

  async pause(ms: number): Promise<void> {
    await this.#calls.call('pause', { account: this.#account, ms });
  }
}
