import type { Clock } from '../../platform/waiting/clock.js';
import { converse, targetsOf, type ConversationEnd } from '../smtp/converse.js';
import { madeUpName } from '../smtp/made-up-name.js';
import type { Manners, Target } from '../smtp/open-session.js';
import type { ProviderTable } from '../smtp/provider-table.js';
import type { Answer, DomainKnowledge } from '../smtp/questions.js';
import { AskBudget, type AskLimits } from './ask-limits.js';
import type { ExchangerQueue } from './gate.js';
import type { MailTask } from './mail-task.js';
import { Passages, type ConversationLimits } from './passages.js';

export interface ConversationsOptions {
  readonly manners: Manners;
  readonly limits: ConversationLimits;
  readonly askLimits: AskLimits;
  readonly conversationTimeoutMs: number;
  readonly memory: DomainKnowledge;
  readonly providers: ProviderTable;
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Ends all conversations where they stand. */
  readonly signal: AbortSignal;
}

/** Who hears of one conversation. */
export interface Listener {
  /** Recipients were taken out of the queue; gives those that are still wanted. */
  readonly onTaken: (tasks: readonly MailTask[]) => readonly MailTask[];
  readonly onAnswer: (
    task: MailTask,
    answer: Answer,
    at: { readonly place: number; readonly count: number },
  ) => void;
  readonly onEnded: (ended: ConversationEnd, count: number) => void;
}

/** Holds conversations with exchangers, within the limits on connections and on addresses. */
export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #passages: Passages;
  readonly #budget: AskBudget;

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#passages = new Passages(options.limits);
    this.#budget = new AskBudget(options.askLimits, options.clock);
  }

  /**
   * Waits until the first exchanger may be connected to; only then recipients are taken out of the queue.
   *
   * @throws the signal's reason
   */
  async hold(queue: ExchangerQueue, listener: Listener): Promise<void> {
    const { signal, random, providers } = this.#options;
    const targets = targetsOf(queue.exchangers, random, providers);
    const [first] = targets;
    if (first === undefined) return;
    const isUrgent = queue.hasUrgent;
    const passage = await this.#passages.enter(first, isUrgent, signal);
    try {
      const granted = queue.size === 0 ? 0 : await this.#budget.grant(queue.nextCount, signal);
      const tasks = listener.onTaken(queue.take(granted));
      if (tasks.length === 0) return;
      // Somebody who waits and leaves ends a conversation that is theirs alone.
      const [only] = tasks.length === 1 ? tasks : [];
      const ending = only?.isUrgent ? AbortSignal.any([signal, only.signal]) : signal;
      const enter = async (target: Target) =>
        target === first ? passage : this.#passages.enter(target, isUrgent, ending);
      const ended = await this.#ask({ tasks, targets, enter, signal: ending }, listener);
      listener.onEnded(ended, tasks.length);
    } finally {
      passage.leave();
    }
  }

  async #ask(
    {
      tasks,
      ...way
    }: {
      readonly tasks: readonly MailTask[];
    } & Pick<Parameters<typeof converse>[0], 'targets' | 'enter' | 'signal'>,
    { onAnswer }: Listener,
  ): Promise<ConversationEnd> {
    const { manners, memory, conversationTimeoutMs: timeoutMs } = this.#options;
    return converse(
      { ...way, manners, timeoutMs },
      {
        mailFrom: manners.mailFrom,
        recipients: tasks.map(({ path }) => path),
        memory,
        madeUpName: (domain) => madeUpName(domain, `${manners.heloName} ${manners.mailFrom}`),
        onAnswer: (place, answer) => {
          const task = tasks[place];
          if (task) onAnswer(task, answer, { place, count: tasks.length });
        },
      },
    );
  }
}
