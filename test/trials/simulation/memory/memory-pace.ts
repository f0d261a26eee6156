import type { RateUpdate } from '../../../../src/client/rate/shared-rate.js';

interface Member {
  readonly account: string;
  readonly intervalMs: number;
}

/** What the processes of an account share: it need not outlast a crash. */
export class MemoryPace {
  readonly #now: () => number;
  readonly #members = new Map<string, Member>();
  readonly #paces = new Map<string, { nextAt: number; pausedUntil: number }>();

  /** @param now the database's own clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  join(owner: string, member: Member): RateUpdate {
    this.#members.set(owner, member);
    return this.#updateOf(member.account);
  }

  leave(owner: string): void {
    this.#members.delete(owner);
  }

  takeSlot(account: string): { readonly waitMs: number } {
    const pace = this.#paceOf(account);
    const at = Math.max(pace.nextAt, pace.pausedUntil, this.#now());
    pace.nextAt = at + this.#updateOf(account).intervalMs;
    return { waitMs: at - this.#now() };
  }

  pause(account: string, ms: number): void {
    const pace = this.#paceOf(account);
    pace.pausedUntil = Math.max(pace.pausedUntil, this.#now() + ms);
  }

  /** What a process hears of it with a sign of life. @returns `null` where it has none */
  updateFor(owner: string): RateUpdate | null {
    const member = this.#members.get(owner);
    return member ? this.#updateOf(member.account) : null;
  }

  #updateOf(account: string): RateUpdate {
    const given = [...this.#members.values()].filter((member) => member.account === account);
    return {
      intervalMs: Math.max(0, ...given.map(({ intervalMs }) => intervalMs)),
      pausedMs: Math.max(0, this.#paceOf(account).pausedUntil - this.#now()),
    };
  }

  #paceOf(account: string): { nextAt: number; pausedUntil: number } {
    const pace = this.#paces.get(account) ?? { nextAt: 0, pausedUntil: 0 };
    this.#paces.set(account, pace);
    return pace;
  }
}
