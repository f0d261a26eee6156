import type { Exchanger } from '../dns/find-exchangers.js';
import { ExchangerQueue, Gate } from './gate.js';
import type { MailTask } from './mail-task.js';

export interface ConversationLimits {
  /** Conversations at once. */
  readonly conversations: number;
  /** Conversations at once with one exchanger. */
  readonly conversationsPerExchanger: number;
  readonly recipientsPerConversation: number;
}

/** Has one conversation with the exchangers of a queue; it tells of everything itself. */
type Converse = (queue: ExchangerQueue, tasks: readonly MailTask[]) => Promise<void>;

/** Conversations beyond the limit, for what somebody waits for. */
const urgentReserve = 8;

/** Begins conversations, exchanger by exchanger in turn, as many at once as the limits allow. */
export class GateLine {
  readonly #limits: ConversationLimits;
  readonly #converse: Converse;
  readonly #gates = new Map<string, Gate>();
  readonly #line: Gate[] = [];
  #running = 0;

  constructor(limits: ConversationLimits, converse: Converse) {
    this.#limits = limits;
    this.#converse = converse;
  }

  /** The queue of these exchangers: the one that others wait in, or a new one. */
  queueFor(exchangers: readonly Exchanger[]): ExchangerQueue {
    const key = keyOf(exchangers);
    const address = exchangers[0]?.addresses[0] ?? key;
    const { recipientsPerConversation: mostRecipients } = this.#limits;
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
    this.#lineUp(gate);
    this.#start();
  }

  #lineUp(gate: Gate): void {
    if (gate.isInLine) return;
    gate.isInLine = true;
    this.#line.push(gate);
  }

  #start(): void {
    const { conversations, conversationsPerExchanger } = this.#limits;
    for (let left = this.#line.length; left > 0; left -= 1) {
      if (this.#running >= conversations + urgentReserve) return;
      const gate = this.#line.shift();
      if (gate === undefined) return;
      gate.isInLine = false;
      const extra = gate.hasUrgent ? 1 : 0;
      const hasTurn = this.#running < conversations + extra * urgentReserve;
      // A gate that is full comes back when one of its conversations ends.
      if (gate.running >= conversationsPerExchanger + extra) continue;
      const queue = hasTurn ? gate.nextQueue() : undefined;
      const tasks = queue?.take() ?? [];
      if (queue && tasks.length > 0) void this.#run(gate, queue, tasks);
      if (gate.hasWaiting) this.#lineUp(gate);
    }
  }

  async #run(gate: Gate, queue: ExchangerQueue, tasks: readonly MailTask[]): Promise<void> {
    gate.running += 1;
    this.#running += 1;
    await this.#converse(queue, tasks);
    gate.running -= 1;
    this.#running -= 1;
    if (gate.hasWaiting) this.#lineUp(gate);
    else if (gate.running === 0) this.#gates.delete(gate.address);
    this.#start();
  }
}

function keyOf(exchangers: readonly Exchanger[]): string {
  return exchangers
    .map(({ host, preference, addresses }) => `${preference} ${host} ${addresses.join(' ')}`)
    .join('\n');
}
