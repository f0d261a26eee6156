import type { Clock } from '../../../src/platform/waiting/clock.js';
import { onAbort } from '../../../src/platform/waiting/promises.js';
import type { Random } from './random.js';

interface Event {
  at: number;
  readonly order: number;
  readonly life: Life | undefined;
  readonly happen: () => void;
  isCancelled: boolean;
}

/** What the machine's clock shows when a seed begins. */
export const startOfWorld = Date.UTC(2026, 10, 21);

/** Something was seen that must never be. */
export class Violation extends Error {}

/** What can fail without ever being called back. */
export async function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** Time, and what happens in it: one event after the other, in an order that the seed decides. */
export class World {
  readonly random: Random;
  readonly #trace: string[] | undefined;
  readonly #events: Event[] = [];
  #order = 0;
  #violation: Violation | undefined;
  now = 0;

  constructor(random: Random, trace?: string[]) {
    this.random = random;
    this.#trace = trace;
  }

  /** Whether anyone wants to read what happens. */
  get isTraced(): boolean {
    return this.#trace !== undefined;
  }

  tell(line: string): void {
    this.#trace?.push(`${(this.now / 1000).toFixed(3).padStart(10)} s  ${line}`);
  }

  /** Ends the simulation: the first violation counts. */
  violate(what: string): void {
    this.tell(`VIOLATION: ${what}`);
    this.#violation ??= new Violation(what);
  }

  check(): void {
    if (this.#violation) throw this.#violation;
  }

  /** @returns what takes it back */
  schedule(life: Life | undefined, delayMs: number, happen: () => void): () => void {
    const order = this.#order++;
    const event: Event = { at: this.now + delayMs, order, life, happen, isCancelled: false };
    push(this.#events, event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Lets things happen until the work is done or its process is dead. */
  async runUntil(isOver: () => boolean): Promise<void> {
    let idle = 0;
    await inTurns(() => {
      this.check();
      if (isOver()) return true;
      const event = this.#next();
      idle = event ? 0 : idle + 1;
      if (idle === mostIdleTurns) {
        throw new Violation('nothing is left to happen, and the run has not ended');
      }
      if (event) this.#happen(event);
      if (this.now > longestMs) throw new Violation('the run goes on for days');
      return false;
    });
  }

  /** Lets what a process has still under way come to its end. */
  async linger(ms: number): Promise<void> {
    const until = this.now + ms;
    await inTurns(() => {
      this.check();
      const event = this.#next();
      if (!event) return true;
      if (event.at > until) push(this.#events, event);
      else this.#happen(event);
      return event.at > until;
    });
  }

  #happen(event: Event): void {
    this.now = Math.max(this.now, event.at);
    event.happen();
  }

  #next(): Event | undefined {
    for (;;) {
      const event = pop(this.#events);
      if (event?.life && event.life.frozenUntil > event.at) {
        event.at = event.life.frozenUntil;
        push(this.#events, event);
        continue;
      }
      if (!event || !(event.isCancelled || event.life?.isDead === true)) return event;
    }
  }
}

/** One process in the world: from its start to its end, or to its crash. */
export class Life implements Clock {
  readonly world: World;
  readonly number: number;
  /** How far the run has come: what a crash and an abort are counted under. */
  stage = 'opening';
  isDead = false;
  /** How long its machine has been up by then, and how far that machine's date is ahead. */
  readonly #clock: { readonly upMs: number; readonly aheadMs: number };
  /** Until when it does nothing, and does not know of it. */
  frozenUntil = 0;
  /** Called at every step that could be the last. */
  readonly #onStep: (life: Life, isOfRequest: boolean) => void;

  constructor(
    world: World,
    number: number,
    onStep: (life: Life, isOfRequest: boolean) => void,
    clock = { upMs: 0, aheadMs: 0 },
  ) {
    this.#clock = clock;
    this.world = world;
    this.number = number;
    this.#onStep = onStep;
  }

  now(): number {
    return this.#clock.upMs + this.world.now;
  }

  wallNow(): number {
    return startOfWorld + this.#clock.aheadMs + this.world.now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const cancel = this.world.schedule(this, ms, () => {
        forget();
        resolve();
      });
      const forget = onAbort(signal, (reason) => {
        cancel();
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors
        reject(reason);
      });
    });
  }

  /**
   * @param isOfRequest whether it is one on the way to the service or back
   * @returns whether the process still lives behind this step
   */
  step(isOfRequest = false): boolean {
    if (!this.isDead) this.#onStep(this, isOfRequest);
    return !this.isDead;
  }

  /** Waits until it is not frozen any more. */
  async thawed(): Promise<void> {
    while (this.frozenUntil > this.world.now) {
      await new Promise<void>((resolve) => {
        this.world.schedule(undefined, this.frozenUntil - this.world.now, resolve);
      });
    }
  }

  /** A step that may take time, in which others get on. */
  async pass(): Promise<void> {
    if (!this.step()) return never();
    if (!this.world.random.chance(0.1)) return undefined;
    return new Promise((resolve) => {
      this.world.schedule(this, this.world.random.next() * 3, resolve);
    });
  }
}

const mostIdleTurns = 8;
const longestMs = 20 * 24 * 3_600_000;

/** Lets everything that has been resolved go on, until it waits for the next event. */
export async function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Does something at each turn, until it says that it is over. */
async function inTurns(isOver: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = (): void => {
      try {
        if (isOver()) resolve();
        else setImmediate(go);
      } catch (error) {
        // Whatever it was, it is what the turn has thrown.
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors
        reject(error);
      }
    };
    setImmediate(go);
  });
}

function isBefore(one: Event, other: Event): boolean {
  return one.at === other.at ? one.order < other.order : one.at < other.at;
}

/** Puts an event into the heap. */
function push(heap: Event[], event: Event): void {
  let at = heap.length;
  heap.push(event);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Event;
    if (!isBefore(event, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = event;
}

/** Takes the earliest event out of the heap. */
function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || first === last) return first;
  let at = 0;
  for (;;) {
    let child = at * 2 + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (left === undefined) break;
    if (right !== undefined && isBefore(right, left)) child += 1;
    const below = heap[child] as Event;
    if (!isBefore(below, last)) break;
    heap[at] = below;
    at = child;
  }
  heap[at] = last;
  return first;
}
