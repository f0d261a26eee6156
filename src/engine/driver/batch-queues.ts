import type { VerificationType } from '../../contract/enums.js';
import type { Batch } from '../batches/batch.js';

/** The next one is the last: removing it from a million moves none. */
type Queue = Batch[];

/** Batches that wait for a place, in order. Launched ones come first: their cost may free credits for others. */
export class BatchQueues {
  readonly #isShortOf: (type: VerificationType) => boolean;
  #launched: Queue = [];
  #unlaunched: Record<VerificationType, Queue> = { email: [], phone: [] };

  /** @param isShortOf whether batches of a type wait for credits: no others of it are begun meanwhile */
  constructor(isShortOf: (type: VerificationType) => boolean) {
    this.#isShortOf = isShortOf;
  }

  get size(): number {
    const { email, phone } = this.#unlaunched;
    return this.#launched.length + email.length + phone.length;
  }

  get startable(): number {
    return this.#open().reduce((sum, { length }) => sum + length, 0);
  }

  add(batches: Iterable<Batch>, isLaunched: (batch: Batch) => boolean): void {
    const added = { launched: [] as Queue, email: [] as Queue, phone: [] as Queue };
    for (const batch of batches)
      added[isLaunched(batch) ? 'launched' : batch.group.type].push(batch);
    // Not `concat`: where a program has loaded apache-arrow, V8 makes a dictionary of it, and each `pop` scans it.
    this.#launched = [...added.launched.toReversed(), ...this.#launched];
    for (const type of ['email', 'phone'] as const) {
      this.#unlaunched[type] = [...added[type].toReversed(), ...this.#unlaunched[type]];
    }
  }

  addFirst(parts: readonly Batch[]): void {
    for (const part of parts.toReversed()) this.#unlaunched[part.group.type].push(part);
  }

  /** @param hasRoom whether it may be one that is not launched */
  next(hasRoom: boolean): Batch | undefined {
    if (this.#launched.length > 0 || !hasRoom) return this.#launched.pop();
    const [queue] = this.#open()
      .filter(({ length }) => length > 0)
      .toSorted((a, b) => (a.at(-1)?.id ?? 0) - (b.at(-1)?.id ?? 0));
    return queue?.pop();
  }

  clear(): void {
    this.#launched = [];
    this.#unlaunched = { email: [], phone: [] };
  }

  #open(): readonly Queue[] {
    const { email, phone } = this.#unlaunched;
    return [
      this.#launched,
      ...(this.#isShortOf('email') ? [] : [email]),
      ...(this.#isShortOf('phone') ? [] : [phone]),
    ];
  }
}
