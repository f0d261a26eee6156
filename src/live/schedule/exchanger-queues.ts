import type { Exchanger } from '../dns/find-exchangers.js';
import { TtlCache } from './timed.js';
import type { MailTask } from '../smtp/questions.js';

/** Mailboxes that wait for the same exchangers. */
export class ExchangerQueue {
  readonly key: string;
  /** First address of the first exchanger: a limit counts all conversations for it, whichever exchanger has them. */
  readonly address: string;
  readonly exchangers: readonly Exchanger[];
  #mostRecipients: number;
  #urgent: MailTask[] = [];
  #waiting: MailTask[] = [];
  #taken = 0;
  /** Conversations that have not taken their recipients yet. */
  starting = 0;
  isUrgentStarting = false;
  /** Those among them, and those under way. */
  running = 0;

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

  /** Whether another conversation is to wait for its slot: one at a time, and one for what somebody waits for. */
  get needsConversation(): boolean {
    return this.hasUrgent ? !this.isUrgentStarting : this.size > 0 && this.starting === 0;
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

interface ExchangerQueuesOptions {
  /** How many recipients a conversation with an exchanger may ask for. */
  readonly recipientsOf: (host: string) => number;
  /** How long it is remembered how many recipients exchangers bear. */
  readonly memoryMs: number;
  readonly now: () => number;
  /** After it no conversation begins. */
  readonly signal: AbortSignal;
}

/** Has one conversation for what waits in a queue; says when it has taken its recipients out of it. */
type Converse = (queue: ExchangerQueue, onTaken: () => void) => Promise<void>;

const mostRemembered = 50_000;

/** Gathers mailboxes by their exchangers, and begins conversations for them. */
export class ExchangerQueues {
  readonly #options: ExchangerQueuesOptions;
  readonly #converse: Converse;
  readonly #queues = new Map<string, ExchangerQueue>();
  readonly #borne: TtlCache<number>;

  constructor(options: ExchangerQueuesOptions, converse: Converse) {
    this.#options = options;
    this.#converse = converse;
    this.#borne = new TtlCache(mostRemembered, options.now);
  }

  /** The queue of these exchangers: the one that others wait in, or a new one. */
  queueFor(exchangers: readonly Exchanger[]): ExchangerQueue {
    const key = keyOf(exchangers);
    const address = exchangers[0]?.addresses[0] ?? key;
    const mostRecipients =
      this.#borne.get(key) ?? this.#options.recipientsOf(exchangers[0]?.host ?? '');
    return (
      this.#queues.get(key) ?? new ExchangerQueue({ key, address, exchangers, mostRecipients })
    );
  }

  add(task: MailTask, queue: ExchangerQueue): void {
    this.#queues.set(queue.key, queue);
    queue.push(task);
    this.#start(queue);
  }

  /** Exchangers bore so many recipients in one conversation, and no more. */
  bears(queue: ExchangerQueue, count: number): void {
    queue.bears(count);
    this.#borne.put(queue.key, queue.mostRecipients, this.#options.memoryMs);
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
