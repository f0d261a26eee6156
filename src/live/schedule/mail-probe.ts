import { setMaxListeners } from 'node:events';
import { type MailRoute, RouteFinder } from '../dns/find-exchangers.js';
import type { Resolver } from '../dns/resolver.js';
import { TtlCache, DelayLine } from './timed.js';
import type { Answer, MailOutcome, MailTask } from '../smtp/questions.js';
import { type ConversationEnd, Conversations, type ConversationsOptions } from './conversations.js';
import type { NoSession } from '../smtp/open-session.js';
import { DomainCache } from '../smtp/domain-cache.js';
import { type ExchangerQueue, ExchangerQueues } from './exchanger-queues.js';

interface MailProbeOptions extends Omit<ConversationsOptions, 'memory' | 'signal'> {
  readonly resolver: Resolver;
  readonly mayAsk: (address: string) => boolean;
  readonly recipientsPerConversation: number;
  /** Waits before each retry of a temporary failure. */
  readonly retryDelaysMs: readonly number[];
  readonly domainMemoryMs: number;
}

/** Fruitless conversations before a mailbox is deferred; in a row, before all that wait for the exchanger are. */
const mostTries = 3;
/** How long an exchanger that refused the client, or was unreachable, is left alone. */
const refusalMs = 15 * 60 * 1000;
const silenceMs = 60 * 1000;
/** How long a made-up name that was put off is not asked for: at most until its mailboxes are asked again. */
const mostPutOffMs = 5 * 60 * 1000;
/** How long a domain's route is used without consulting the resolver. */
const routeMs = 30 * 1000;
const mostRemembered = 50_000;
/** Most mailboxes waiting for one exchanger: more stay on disk until these are done. */
const mostWaiting = 2000;
const mostPending = 50_000;

/**
 * Queries exchangers about mailboxes: groups them by exchanger, obeys the limits, retries temporary failures,
 * and remembers what domains and exchangers have shown.
 */
export class MailProbe {
  /** Called whenever a mailbox is settled. */
  readonly watchers = new Set<() => void>();
  readonly #memory: DomainCache;
  readonly #ending = new AbortController();
  readonly #delays: readonly DelayLine<MailTask>[];
  readonly #silenceMs: number;
  readonly #routes: RouteFinder;
  readonly #queues: ExchangerQueues;
  readonly #conversations: Conversations;
  readonly #queueOf: TtlCache<ExchangerQueue>;
  /** How exchangers, by the key of their queue, have treated us recently. */
  readonly #unwilling: TtlCache<NoSession>;
  #pending = 0;

  constructor(options: MailProbeOptions) {
    const { clock, domainMemoryMs: ttlMs } = options;
    const now = (): number => clock.now();
    const putOffMs = Math.min(mostPutOffMs, ...options.retryDelaysMs);
    this.#memory = new DomainCache({ ttlMs, putOffMs, now });
    this.#queueOf = new TtlCache(mostRemembered, now);
    this.#unwilling = new TtlCache(mostRemembered, now);
    const { resolver, mayAsk } = options;
    this.#routes = new RouteFinder(
      { resolver, mayAsk, signal: this.#ending.signal },
      {
        onRoute: (task, route) => this.#send(task, route),
        onError: (task, error) => this.#fail(task, error),
      },
    );
    this.#conversations = new Conversations({
      ...options,
      memory: this.#memory,
      signal: this.#ending.signal,
    });
    this.#queues = new ExchangerQueues(
      {
        recipientsOf: (host) =>
          Math.min(
            options.recipientsPerConversation,
            options.providers.of(host)?.recipientsPerConversation ?? Infinity,
          ),
        memoryMs: ttlMs,
        now,
        signal: this.#ending.signal,
      },
      async (queue, onTaken) => this.#converse(queue, onTaken),
    );
    const { signal } = this.#ending;
    // All conversations listen to it.
    setMaxListeners(0, signal);
    this.#delays = options.retryDelaysMs.map(
      (delayMs) => new DelayLine(delayMs, { clock, signal, onDue: (task) => this.#route(task) }),
    );
    this.#silenceMs = Math.min(silenceMs, ...options.retryDelaysMs);
  }

  get isFull(): boolean {
    return this.#pending >= mostPending;
  }

  hasRoomFor(domain: string): boolean {
    if (this.isFull) return false;
    const waiting = this.#routes.waitingFor(domain) ?? this.#queueOf.get(domain)?.size ?? 0;
    return waiting < mostWaiting;
  }

  /** Adds a mailbox; its outcome follows, unless the probe is closed first. */
  add(task: MailTask): void {
    this.#pending += 1;
    // Restarts the wait of an earlier process.
    const line = this.#delays[task.delays - 1];
    if (line) line.push(task);
    else this.#route(task);
  }

  close(): void {
    this.#ending.abort(new Error('the verification was closed'));
  }

  #route(task: MailTask): void {
    const { domain } = task.path;
    if (this.#ending.signal.aborted) return;
    if (task.signal.aborted) {
      this.#pending -= 1;
      return;
    }
    const known = this.#memory.outcome(domain);
    if (known !== undefined) {
      this.#settle(task, known);
      return;
    }
    const queue = this.#queueOf.get(domain);
    if (queue) this.#enqueue(task, queue);
    else this.#routes.add(task);
  }

  #send(task: MailTask, route: MailRoute): void {
    switch (route.kind) {
      case 'no_mail':
        this.#settle(task, 'no_mailbox');
        return;
      case 'closed_range':
        this.#settle(task, 'not_told');
        return;
      case 'failed':
        this.#later(task, 'failed');
        return;
      case 'exchangers': {
        const queue = this.#queues.queueFor(route.exchangers);
        this.#queueOf.put(task.path.domain, queue, routeMs);
        this.#enqueue(task, queue);
      }
    }
  }

  #enqueue(task: MailTask, queue: ExchangerQueue): void {
    const unwilling = this.#unwilling.get(queue.key);
    if (unwilling) {
      this.#apply(task, unwilling);
      return;
    }
    this.#queues.add(task, queue);
  }

  async #converse(queue: ExchangerQueue, onTaken: () => void): Promise<void> {
    const open = new Set<MailTask>();
    let isForBatch = false;
    let hasProgress = false;
    try {
      await this.#conversations.hold(queue, {
        onTaken: (tasks) => {
          onTaken();
          for (const task of tasks) {
            // What the domain has shown meanwhile saves the query.
            const known = this.#memory.outcome(task.path.domain);
            if (task.signal.aborted) this.#pending -= 1;
            else if (known === undefined) open.add(task);
            else this.#settle(task, known);
          }
          isForBatch = [...open].some(({ isUrgent }) => !isUrgent);
          return [...open];
        },
        onAnswer: (task, answer, at) => {
          if (!open.delete(task)) return;
          // Of several, doubtful answers show that fewer should be asked for.
          hasProgress ||= answer !== 'doubtful' || at.count > 1;
          this.#answer(queue, task, answer, at);
        },
        onEnded: (ended, count) => {
          if (hasProgress) queue.fruitless = 0;
          // A person may ask for the one address that breaks conversations: it says nothing about others.
          else if (isForBatch) queue.fruitless += 1;
          this.#conclude(queue, [...open], { ended, count, hasProgress });
        },
      });
    } catch (error) {
      if (!this.#ending.signal.aborted) for (const task of open) this.#fail(task, error);
    }
  }

  #answer(
    queue: ExchangerQueue,
    task: MailTask,
    answer: Answer,
    { place, count }: { readonly place: number; readonly count: number },
  ): void {
    switch (answer) {
      case 'temporary':
      case 'undetermined':
        this.#later(task, 'not_told');
        return;
      case 'too_many':
        this.#queues.limitRecipients(queue, place);
        this.#again(task, 'not_told');
        return;
      case 'doubtful':
        this.#queues.limitRecipients(queue, count / 2);
        this.#again(task, 'not_told');
        return;
      case 'catch_all':
        this.#settle(task, this.#memory.outcome(task.path.domain) ?? 'catch_all');
        return;
      default:
        this.#settle(task, answer);
    }
  }

  /** Handles recipients without an answer in a conversation. */
  #conclude(
    queue: ExchangerQueue,
    open: readonly MailTask[],
    {
      ended,
      count,
      hasProgress,
    }: { readonly ended: ConversationEnd; readonly count: number; readonly hasProgress: boolean },
  ): void {
    if (ended === 'lost') this.#queues.limitRecipients(queue, count / 2);
    if ((ended === 'asked' || ended === 'lost') && queue.fruitless < mostTries) {
      for (const [index, task] of open.entries()) {
        // Only the one being asked for may be to blame; the others were not reached.
        if (hasProgress && index > 0) this.#route(task);
        else this.#again(task, 'failed');
      }
      return;
    }
    const why = ended === 'asked' ? 'temporary' : ended === 'lost' ? 'failed' : ended;
    this.#unwilling.put(queue.key, why, why === 'not_told' ? refusalMs : this.#silenceMs);
    // All that wait for it would meet the same: it is not contacted again for each.
    for (const task of [...open, ...queue.takeAll()]) this.#apply(task, why);
  }

  #apply(task: MailTask, ended: NoSession): void {
    switch (ended) {
      case 'temporary':
        this.#later(task, 'not_told');
        return;
      case 'failed':
        this.#later(task, 'failed');
        return;
      case 'not_told':
      case 'no_mailbox':
        this.#settle(task, ended);
    }
  }

  /** In another conversation, soon; after several fruitless ones, later. */
  #again(task: MailTask, otherwise: MailOutcome): void {
    task.tries += 1;
    if (task.tries < mostTries) this.#route(task);
    else this.#later(task, otherwise);
  }

  #later(task: MailTask, otherwise: MailOutcome): void {
    const line = task.isUrgent ? undefined : this.#delays[task.delays];
    if (line === undefined) {
      this.#settle(task, otherwise);
      return;
    }
    task.delays += 1;
    task.onDelayed?.(task.delays);
    task.tries = 0;
    line.push(task);
  }

  #settle(task: MailTask, outcome: MailOutcome): void {
    this.#pending -= 1;
    task.onOutcome(outcome);
    for (const notify of this.watchers) notify();
  }

  #fail(task: MailTask, error: unknown): void {
    this.#pending -= 1;
    task.onError(error);
  }
}
