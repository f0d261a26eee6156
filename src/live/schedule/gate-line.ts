import type { Exchanger } from '../dns/find-exchangers.js';
import { TtlCache } from '../dns/ttl-cache.js';
import { ExchangerQueue, Gate } from './gate.js';
import type { MailTask } from './mail-task.js';

export interface GateLineOptions {
  readonly conversationsPerExchanger: number;
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
export class GateLine {
  readonly #options: GateLineOptions;
  readonly #converse: Converse;
  readonly #gates = new Map<string, Gate>();
  readonly #borne: TtlCache<number>;

  constructor(options: GateLineOptions, converse: Converse) {
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
      this.#gates.get(address)?.queues.get(key) ??
      new ExchangerQueue({ key, address, exchangers, mostRecipients })
    );
  }

  add(task: MailTask, queue: ExchangerQueue): void {
    const gate = this.#gates.get(queue.address) ?? new Gate(queue.address);
    this.#gates.set(queue.address, gate);
    gate.queues.set(queue.key, queue);
    queue.push(task);
    this.#start(gate);
  }

  /** Exchangers bore so many recipients in one conversation, and no more. */
  bears(queue: ExchangerQueue, count: number): void {
    queue.bears(count);
    this.#borne.put(queue.key, queue.mostRecipients, this.#options.memoryMs);
  }

  #start(gate: Gate): void {
    const { conversationsPerExchanger: most, signal } = this.#options;
    while (
      !signal.aborted &&
      gate.waiting > gate.starting &&
      gate.running < most + (gate.hasUrgent ? 1 : 0)
    ) {
      const queue = gate.nextQueue();
      if (queue === undefined) return;
      void this.#run(gate, queue);
    }
  }

  async #run(gate: Gate, queue: ExchangerQueue): Promise<void> {
    let isStarting = true;
    const onTaken = (): void => {
      if (!isStarting) return;
      isStarting = false;
      gate.starting -= 1;
      this.#start(gate);
    };
    gate.running += 1;
    gate.starting += 1;
    await this.#converse(queue, onTaken);
    gate.running -= 1;
    onTaken();
    this.#start(gate);
    if (gate.running === 0 && gate.waiting === 0) this.#gates.delete(gate.address);
  }
}

function keyOf(exchangers: readonly Exchanger[]): string {
  return exchangers
    .map(({ host, preference, addresses }) => `${preference} ${host} ${addresses.join(' ')}`)
    .join('\n');
}
