import type { Exchanger } from '../dns/find-exchangers.js';
import { TtlCache } from './timed.js';
import type { MailTask } from '../smtp/questions.js';

export class ExchangerQueue {
  readonly key: string;
  /** First address of the first exchanger: all conversations count towards its limit, whichever holds them. */
  readonly address: string;
  readonly exchangers: readonly Exchanger[];
  #mostRecipients: number;
  #urgent: MailTask[] = [];
  #waiting: MailTask[] = [];
  #taken = 0;
  /** Conversations that have not taken their recipients yet. */
  starting = 0;
  isUrgentStarting = false;
  /** Those, and running ones. */
  running = 0;
  /** Conversations in a row that told nothing of any mailbox. */
  fruitless = 0;

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

  /** Most recipients of these exchangers in one conversation. */
  get mostRecipients(): number {
    return this.#mostRecipients;
  }

  /** They accepted this many, and no more. */
  limitRecipients(count: number): void {
    this.#mostRecipients = Math.max(1, Math.min(this.#mostRecipients, Math.floor(count)));
  }

  get size(): number {
    return this.#urgent.length + this.#waiting.length - this.#taken;
  }

  get hasUrgent(): boolean {
    return this.#urgent.length > 0;
  }

  /** Whether another conversation should wait for its slot: one at a time, and one for an urgent mailbox. */
  get needsConversation(): boolean {
    return this.hasUrgent ? !this.isUrgentStarting : this.size > 0 && this.starting === 0;
  }

  push(task: MailTask): void {
    (task.isUrgent ? this.#urgent : this.#waiting).push(task);
  }

  get nextCount(): number {
    return Math.min(this.size, this.#mostRecipients);
  }

  take(most: number): MailTask[] {
    const taken: MailTask[] = [];
    while (taken.length < Math.min(most, this.#mostRecipients)) {
      const task = this.#urgent.shift() ?? this.#next();
      if (task === undefined) break;
      taken.push(task);
    }
    return taken;
  }

  takeAll(): MailTask[] {
    const all = [...this.#urgent, ...this.#waiting.slice(this.#taken)];
    this.#urgent = [];
    this.#waiting = [];
    this.#taken = 0;
    return all;
  }

  /** `shift` moves the rest; thousands may wait here. */
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

interface ExchangerQueuesOptions {
  /** Most recipients of a conversation with an exchanger. */
  readonly recipientsOf: (host: string) => number;
  /** How long an exchanger's limit on recipients is remembered. */
  readonly memoryMs: number;
  readonly now: () => number;
  /** Once aborted, no conversation begins. */
  readonly signal: AbortSignal;
}

/** Holds one conversation for a queue; `onTaken` is called when it has taken its recipients. */
type Converse = (queue: ExchangerQueue, onTaken: () => void) => Promise<void>;

const mostRemembered = 50_000;

export class ExchangerQueues {
  readonly #options: ExchangerQueuesOptions;
  readonly #converse: Converse;
  readonly #queues = new Map<string, ExchangerQueue>();
  readonly #recipientLimits: TtlCache<number>;

  constructor(options: ExchangerQueuesOptions, converse: Converse) {
    this.#options = options;
    this.#converse = converse;
    this.#recipientLimits = new TtlCache(mostRemembered, options.now);
  }

  queueFor(exchangers: readonly Exchanger[]): ExchangerQueue {
    const key = keyOf(exchangers);
    const address = exchangers[0]?.addresses[0] ?? key;
    const mostRecipients =
      this.#recipientLimits.get(key) ?? this.#options.recipientsOf(exchangers[0]?.host ?? '');
    return (
      this.#queues.get(key) ?? new ExchangerQueue({ key, address, exchangers, mostRecipients })
    );
  }

  add(task: MailTask, queue: ExchangerQueue): void {
    this.#queues.set(queue.key, queue);
    queue.push(task);
    this.#start(queue);
  }

  /** The exchangers accepted this many recipients in one conversation, and no more. */
  limitRecipients(queue: ExchangerQueue, count: number): void {
    queue.limitRecipients(count);
    this.#recipientLimits.put(queue.key, queue.mostRecipients, this.#options.memoryMs);
  }

  #start(queue: ExchangerQueue): void {
    while (!this.#options.signal.aborted && queue.needsConversation) void this.#run(queue);
  }

  async #run(queue: ExchangerQueue): Promise<void> {
    const isUrgent = queue.hasUrgent;
    let isStarting = true;
    const onTaken = (): void => {
      if (!isStarting) return;
      isStarting = false;
      queue.starting -= 1;
      if (isUrgent) queue.isUrgentStarting = false;
      this.#start(queue);
    };
    queue.running += 1;
    queue.starting += 1;
    if (isUrgent) queue.isUrgentStarting = true;
    await this.#converse(queue, onTaken);
    queue.running -= 1;
    onTaken();
    if (queue.running === 0 && queue.size === 0) this.#queues.delete(queue.key);
  }
}

function keyOf(exchangers: readonly Exchanger[]): string {
  return exchangers
    .map(({ host, preference, addresses }) => `${preference} ${host} ${addresses.join(' ')}`)
    .join('\n');
}
