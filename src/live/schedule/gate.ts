import type { Exchanger } from '../dns/find-exchangers.js';
import type { MailTask } from './mail-task.js';

/** Mailboxes that wait for the same exchangers. */
export class ExchangerQueue {
  readonly key: string;
  /** Address of the gate that it stands at. */
  readonly address: string;
  readonly exchangers: readonly Exchanger[];
  #mostRecipients: number;
  #urgent: MailTask[] = [];
  #waiting: MailTask[] = [];
  #taken = 0;

  constructor(options: {
    readonly key: string;
    readonly address: string;
    readonly exchangers: readonly Exchanger[];
    readonly mostRecipients: number;
  }) {
    this.key = options.key;
    this.address = options.address;
    this.exchangers = options.exchangers;
    this.#mostRecipients = options.mostRecipients;
  }

  /** Recipients that these exchangers bear in one conversation. */
  get mostRecipients(): number {
    return this.#mostRecipients;
  }

  /** They bore so many, and no more. */
  bears(count: number): void {
    this.#mostRecipients = Math.max(1, Math.min(this.#mostRecipients, Math.floor(count)));
  }

  get size(): number {
    return this.#urgent.length + this.#waiting.length - this.#taken;
  }

  get hasUrgent(): boolean {
    return this.#urgent.length > 0;
  }

  push(task: MailTask): void {
    (task.isUrgent ? this.#urgent : this.#waiting).push(task);
  }

  /** How many one conversation would ask for. */
  get nextCount(): number {
    return Math.min(this.size, this.#mostRecipients);
  }

  /** Takes what one conversation asks for, so many at most. */
  take(most: number): MailTask[] {
    const taken: MailTask[] = [];
    while (taken.length < Math.min(most, this.#mostRecipients)) {
      const task = this.#urgent.shift() ?? this.#next();
      if (task === undefined) break;
      taken.push(task);
    }
    return taken;
  }

  /** Takes all that wait. */
  takeAll(): MailTask[] {
    const all = [...this.#urgent, ...this.#waiting.slice(this.#taken)];
    this.#urgent = [];
    this.#waiting = [];
    this.#taken = 0;
    return all;
  }

  /** `shift` moves what is behind; thousands may wait here. */
  #next(): MailTask | undefined {
    const task = this.#waiting[this.#taken];
    if (task !== undefined) this.#taken += 1;
    if (this.#taken > 1000 || this.#taken === this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#taken);
      this.#taken = 0;
    }
    return task;
  }
}

/** An exchanger's first address, and all that waits for it: what the limit on conversations is for. */
export class Gate {
  readonly address: string;
  readonly queues = new Map<string, ExchangerQueue>();
  /** Conversations under way, and those of them that have not taken their recipients yet. */
  running = 0;
  starting = 0;

  constructor(address: string) {
    this.address = address;
  }

  get hasUrgent(): boolean {
    for (const queue of this.queues.values()) if (queue.hasUrgent) return true;
    return false;
  }

  /** Mailboxes that wait. */
  get waiting(): number {
    let count = 0;
    for (const queue of this.queues.values()) count += queue.size;
    return count;
  }

  /** The queue whose turn it is: one for which somebody waits, else each in its turn. */
  nextQueue(): ExchangerQueue | undefined {
    let next: ExchangerQueue | undefined;
    for (const queue of this.queues.values()) {
      if (queue.size === 0) this.queues.delete(queue.key);
      else if (next === undefined || (queue.hasUrgent && !next.hasUrgent)) next = queue;
    }
    if (next) {
      this.queues.delete(next.key);
      this.queues.set(next.key, next);
    }
    return next;
  }
}
