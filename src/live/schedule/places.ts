import { orAborted } from '../../platform/waiting/or-aborted.js';

export interface PlaceLimit {
  /** So many at once under one name. */
  readonly most: number;
  /** And so many more for what somebody waits for. */
  readonly urgentMore: number;
}

interface Waiting {
  readonly keys: readonly string[];
  readonly isUrgent: boolean;
  readonly enter: () => void;
}

/** Who waits under one name, in the order of coming. */
interface Line {
  inside: number;
  readonly urgent: Set<Waiting>;
  readonly others: Set<Waiting>;
}

/**
 * Lets in so many at once under each name: whoever goes by several counts under all of them. Who waits
 * for one name holds up nobody at another.
 */
export class Places {
  readonly #limit: PlaceLimit;
  readonly #lines = new Map<string, Line>();

  constructor(limit: PlaceLimit) {
    this.#limit = limit;
  }

  /**
   * Waits for a place under all of the names.
   *
   * @returns gives the place back; a second call does nothing
   * @throws the signal's reason
   */
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

  /** @returns `undefined` when there is no place now */
  tryEnter(names: readonly string[], isUrgent: boolean): (() => void) | undefined {
    const keys = [...new Set(names)];
    if (!keys.every((key) => this.#hasPlace(key, isUrgent))) return undefined;
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
    // The loop ends where the places do: a set may lose entries while it is walked through.
    for (const group of [line.urgent, line.others]) {
      for (const waiting of group) {
        if (!this.#hasPlace(key, waiting.isUrgent)) break;
        if (!waiting.keys.every((other) => this.#hasPlace(other, waiting.isUrgent))) continue;
        this.#forget(waiting);
        for (const other of waiting.keys) this.#line(other).inside += 1;
        waiting.enter();
      }
    }
    if (line.inside + line.urgent.size + line.others.size === 0) this.#lines.delete(key);
  }

  #hasPlace(key: string, isUrgent: boolean): boolean {
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
