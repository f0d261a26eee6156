import { createHash } from 'node:crypto';
import type { Clock } from '../../platform/waiting/clock.js';
import { type ConversationEnd, converse, targetsOf } from '../smtp/converse.js';
import type { SmtpIdentity, Target } from '../smtp/open-session.js';
import type { ProviderTable } from '../smtp/providers.js';
import type { DomainCache } from '../smtp/domain-cache.js';
import type { Answer, MailTask } from '../smtp/questions.js';
import {
  QueryBudget,
  type QueryLimits,
  type ConversationLimits,
  ConnectionLimiter,
} from './limits.js';
import type { ExchangerQueue } from './exchanger-queues.js';

export interface ConversationsOptions {
  readonly identity: SmtpIdentity;
  readonly limits: ConversationLimits;
  readonly askLimits: QueryLimits;
  readonly conversationTimeoutMs: number;
  readonly memory: DomainCache;
  readonly providers: ProviderTable;
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Ends all conversations at once. */
  readonly signal: AbortSignal;
}

/** The receiver of a conversation. */
interface Listener {
  /** Recipients were taken from the queue; returns those that are still wanted. */
  readonly onTaken: (tasks: readonly MailTask[]) => readonly MailTask[];
  readonly onAnswer: (
    task: MailTask,
    answer: Answer,
    at: { readonly place: number; readonly count: number },
  ) => void;
  readonly onEnded: (ended: ConversationEnd, count: number) => void;
}

/** Holds conversations with exchangers, within the limits on connections and addresses. */
export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #limiter: ConnectionLimiter;
  readonly #budget: QueryBudget;

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#limiter = new ConnectionLimiter(options.limits);
    this.#budget = new QueryBudget(options.askLimits, options.clock);
  }

  /** Waits until the first exchanger may be contacted; only then recipients are taken from the queue. */
  async hold(queue: ExchangerQueue, listener: Listener): Promise<void> {
    const { signal, random, providers, identity, memory } = this.#options;
    const { conversationTimeoutMs: timeoutMs } = this.#options;
    const targets = targetsOf(queue.exchangers, random, providers);
    const [first] = targets;
    if (first === undefined) return;
    const isUrgent = queue.hasUrgent;
    const enter = async ({ host, address }: Target, until: AbortSignal) =>
      // All exchangers of a queue count as one, by the address of the first.
      this.#limiter.enter([queue.address, host, address], isUrgent, until);
    const slot = await enter(first, signal);
    try {
      const granted = queue.size === 0 ? 0 : await this.#budget.grant(queue.nextCount, signal);
      const tasks = listener.onTaken(queue.take(granted));
      if (tasks.length === 0) return;
      // If its only recipient's caller leaves, the conversation ends.
      const [only] = tasks.length === 1 ? tasks : [];
      const ending = only?.isUrgent ? AbortSignal.any([signal, only.signal]) : signal;
      const ended = await converse(
        {
          targets,
          identity,
          timeoutMs,
          enter: async (target) => (target === first ? slot : enter(target, ending)),
          signal: ending,
        },
        {
          mailFrom: identity.mailFrom,
          recipients: tasks.map(({ path }) => path),
          memory,
          madeUpName: (domain) => madeUpName(domain, `${identity.heloName} ${identity.mailFrom}`),
          onAnswer: (place, answer) => {
            const task = tasks[place];
            if (task) listener.onAnswer(task, answer, { place, count: tasks.length });
          },
        },
      );
      listener.onEnded(ended, tasks.length);
    } finally {
      slot.leave();
    }
  }
}

const length = 20;

/**
 * A local part that nobody has: constant for each domain and client, so that a server that defers unknown
 * names (greylisting, own verification) knows it at the next attempt.
 */
function madeUpName(domain: string, asker: string): string {
  const digest = createHash('sha256').update(`${asker}\n${domain}`).digest('hex');
  return BigInt(`0x${digest}`).toString(36).padStart(length, '0').slice(-length);
}
