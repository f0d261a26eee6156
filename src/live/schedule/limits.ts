import { InTurn, orAborted } from '../../platform/waiting/promises.js';
import type { Clock } from '../../platform/waiting/clock.js';

export interface ConversationLimits {
  readonly conversations: number;
  readonly conversationsPerExchanger: number;
}

/** The slots of one conversation: up to the greeting, and after it. */
export interface ConnectionSlot {
  /** After the greeting: waits for a slot among running conversations. */
  greeted(): Promise<void>;
  leave(): void;
}

/** Additional conversations for urgent mailboxes. */
const urgentReserve = 8;
/** For each conversation, connections being opened, and silent ones beside them. */
const greetingsEach = 4;
const silentEach = 12;
/** An exchanger that has not greeted by then gives its slot to another. */
const greetingMs = 1000;

const all = ['all'];

/**
 * Limits conversations: with one exchanger, under all its names and addresses, and in total. Connecting has
 * slots of its own: silent servers hold up no running conversation, and after a moment no other connection.
 */
export class ConnectionLimiter {
  readonly #exchangers: NamedSlots;
  readonly #greetings: NamedSlots;
  readonly #silent: NamedSlots;
  readonly #talks: NamedSlots;

  constructor({ conversations, conversationsPerExchanger }: ConversationLimits) {
    this.#exchangers = new NamedSlots({ most: conversationsPerExchanger, urgentMore: 1 });
    this.#greetings = new NamedSlots({
      most: conversations * greetingsEach,
      urgentMore: urgentReserve,
    });
    this.#silent = new NamedSlots({ most: conversations * silentEach, urgentMore: 0 });
    this.#talks = new NamedSlots({ most: conversations, urgentMore: urgentReserve });
  }

  /** Waits until an exchanger may be contacted. @param names its host and addresses, and those counted with it */
  async enter(
    names: readonly string[],
    isUrgent: boolean,
    signal: AbortSignal,
  ): Promise<ConnectionSlot> {
    const held = [await this.#exchangers.enter(names, isUrgent, signal)];
    const leave = (): void => {
      for (const release of held.splice(0).toReversed()) release();
    };
    try {
      const greeted = await this.#greetings.enter(all, isUrgent, signal);
      held.push(greeted);
      const timer = setTimeout(() => {
        const silent = this.#silent.tryEnter(all, isUrgent);
        if (silent === undefined) return;
        held.push(silent);
        greeted();
      }, greetingMs);
      held.push(() => clearTimeout(timer));
      return {
        greeted: async () => {
          clearTimeout(timer);
          held.push(await this.#talks.enter(all, isUrgent, signal));
          greeted();
        },
        leave,
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

interface SlotLimit {
  /** Most at once under one name. */
  readonly most: number;
  /** Additional ones for urgent mailboxes. */
  readonly urgentMore: number;
}

interface Waiting {
  readonly keys: readonly string[];
  readonly isUrgent: boolean;
  readonly enter: () => void;
}

/** Waiters under one name, in order. */
interface Line {
  inside: number;
  readonly urgent: Set<Waiting>;
  readonly others: Set<Waiting>;
}

/** Limits concurrency by name: several names of a caller count each, and a waiter holds up nobody at another name. */
class NamedSlots {
  readonly #limit: SlotLimit;
  readonly #lines = new Map<string, Line>();

  constructor(limit: SlotLimit) {
    this.#limit = limit;
  }

  /** Waits for a slot under all names. @returns releases it; a second call does nothing */
  async enter(
    names: readonly string[],
    isUrgent: boolean,
    signal: AbortSignal,
  ): Promise<() => void> {
    signal.throwIfAborted();
    const now = this.tryEnter(names, isUrgent);
    if (now) return now;
    const keys = [...new Set(names)];
    let isInside = false;
    let waiting: Waiting | undefined;
    const entered = new Promise<void>((resolve) => {
      const enter = (): void => {
        isInside = true;
        resolve();
      };
      waiting = { keys, isUrgent, enter };
      for (const key of keys) this.#lineOf(key, isUrgent).add(waiting);
    });
    try {
      await orAborted(entered, signal);
      return this.#leaving(keys);
    } catch (error) {
      if (waiting) this.#forget(waiting);
      if (isInside) this.#leaving(keys)();
      throw error;
    }
  }

  tryEnter(names: readonly string[], isUrgent: boolean): (() => void) | undefined {
    const keys = [...new Set(names)];
    if (!keys.every((key) => this.#hasSlot(key, isUrgent))) return undefined;
    for (const key of keys) this.#line(key).inside += 1;
    return this.#leaving(keys);
  }

  #leaving(keys: readonly string[]): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      for (const key of keys) this.#line(key).inside -= 1;
      for (const key of keys) this.#letIn(key);
    };
  }

  #letIn(key: string): void {
    const line = this.#line(key);
    // The loop ends where the slots do: a set may lose entries during iteration.
    for (const group of [line.urgent, line.others]) {
      for (const waiting of group) {
        if (!this.#hasSlot(key, waiting.isUrgent)) break;
        if (!waiting.keys.every((other) => this.#hasSlot(other, waiting.isUrgent))) continue;
        this.#forget(waiting);
        for (const other of waiting.keys) this.#line(other).inside += 1;
        waiting.enter();
      }
    }
    if (line.inside + line.urgent.size + line.others.size === 0) this.#lines.delete(key);
  }

  #hasSlot(key: string, isUrgent: boolean): boolean {
    const { most, urgentMore } = this.#limit;
    return (this.#lines.get(key)?.inside ?? 0) < most + (isUrgent ? urgentMore : 0);
  }

  #forget(waiting: Waiting): void {
    for (const key of waiting.keys) this.#lineOf(key, waiting.isUrgent).delete(waiting);
  }

  #lineOf(key: string, isUrgent: boolean): Set<Waiting> {
    const line = this.#line(key);
    return isUrgent ? line.urgent : line.others;
  }

  #line(key: string): Line {
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = { inside: 0, urgent: new Set(), others: new Set() };
      this.#lines.set(key, line);
    }
    return line;
  }
}

/** Most addresses queried in each span of time. */
export type QueryLimits = Readonly<Partial<Record<keyof typeof spansMs, number>>>;

export const spansMs = {
  second: 1000,
  minute: 60 * 1000,
  hour: 60 * 60 * 1000,
  day: 24 * 60 * 60 * 1000,
} as const;

interface Span {
  readonly ms: number;
  readonly most: number;
  beganMs: number;
  used: number;
}

/** Counts addresses in each second, minute, hour and day since the first. */
export class QueryBudget {
  readonly #clock: Clock;
  readonly #spans: readonly Span[];
  readonly #turns = new InTurn();

  constructor(limits: QueryLimits, clock: Clock) {
    this.#clock = clock;
    this.#spans = (Object.keys(spansMs) as (keyof typeof spansMs)[]).flatMap((name) => {
      const most = limits[name];
      return most === undefined ? [] : [{ ms: spansMs[name], most, beganMs: -Infinity, used: 0 }];
    });
  }

  /** Waits until at least one may be queried. @returns how many of them may be queried now */
  async grant(wanted: number, signal: AbortSignal): Promise<number> {
    if (this.#spans.length === 0) return wanted;
    return this.#turns.next(async () => this.#grant(wanted, signal));
  }

  async #grant(wanted: number, signal: AbortSignal): Promise<number> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.now();
      for (const span of this.#spans) {
        if (now - span.beganMs < span.ms) continue;
        span.beganMs = now;
        span.used = 0;
      }
      const free = Math.min(...this.#spans.map(({ most, used }) => most - used));
      if (free > 0) {
        const count = Math.min(wanted, free);
        for (const span of this.#spans) span.used += count;
        return count;
      }
      const spent = this.#spans.filter(({ most, used }) => used >= most);
      await this.#clock.sleep(
        Math.max(...spent.map(({ beganMs, ms }) => beganMs + ms - now)),
        signal,
      );
    }
  }
}
