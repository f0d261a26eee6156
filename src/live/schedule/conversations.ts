import { createHash } from 'node:crypto';
import { type Clock, beforeDeadline, systemClock } from '../../platform/waiting/clock.js';
import {
  type SmtpIdentity,
  type Target,
  openSession,
  type NoSession,
} from '../smtp/open-session.js';
import type { ProviderTable } from '../smtp/providers.js';
import type { DomainCache } from '../smtp/domain-cache.js';
import type { Answer, MailTask, Questions } from '../smtp/questions.js';
import {
  QueryBudget,
  type QueryLimits,
  type ConversationLimits,
  ConnectionLimiter,
  type ConnectionSlot,
} from './limits.js';
import type { ExchangerQueue } from './exchanger-queues.js';
import type { Exchanger } from '../dns/find-exchangers.js';
import { checkRecipients } from '../smtp/check-recipients.js';
import { SmtpFailure } from '../smtp/reply-reader.js';

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

interface ConversationOptions {
  /** In the order of attempts. */
  readonly targets: readonly Target[];
  readonly identity: SmtpIdentity;
  /** Longest conversation with one of them. */
  readonly timeoutMs: number;
  /** Waits until a target may be contacted; the slot is used at the greeting and at the end. */
  readonly enter: (target: Target) => Promise<ConnectionSlot>;
  readonly signal: AbortSignal;
}

/** `lost`: the connection broke after recipients were sent. */
export type ConversationEnd = 'asked' | 'lost' | NoSession;

/** Most servers tried for one conversation. */
const mostTargets = 20;

/**
 * Holds one conversation with the first willing exchanger. One that refuses the client after its greeting is
 * final: its neighbours are not tried.
 */
async function converse(
  options: ConversationOptions,
  questions: Questions,
): Promise<ConversationEnd> {
  const met: NoSession[] = [];
  for (const target of options.targets.slice(0, mostTargets)) {
    const slot = await options.enter(target);
    try {
      const { ended, isFinal } = await tryTarget(target, slot, options, questions);
      if (ended === 'asked' || ended === 'lost') return ended;
      met.push(ended);
      if (isFinal) break;
    } finally {
      slot.leave();
    }
  }
  return mostSpecific(met);
}

interface Tried {
  readonly ended: ConversationEnd;
  /** Whether no other server is tried. */
  readonly isFinal: boolean;
}

async function tryTarget(
  target: Target,
  slot: ConnectionSlot,
  { identity, timeoutMs, signal }: ConversationOptions,
  questions: Questions,
): Promise<Tried> {
  let wasAsked = false;
  const limits = {
    clock: systemClock,
    ms: timeoutMs,
    signal,
    toError: () => new SmtpFailure('timeout', 'the conversation took too long'),
  };
  const talk = async (until: AbortSignal): Promise<Tried> => {
    const session = await openSession(target, identity, until);
    if ('why' in session) return { ended: session.why, isFinal: session.isFinal };
    try {
      await slot.greeted();
      wasAsked = true;
      const ended = await checkRecipients(session, questions);
      await session.connection.quit();
      wasAsked = ended === 'asked';
      return { ended, isFinal: ended === 'not_told' };
    } finally {
      session.connection.close();
    }
  };
  try {
    return await beforeDeadline(talk, limits);
  } catch (error) {
    if (!(error instanceof SmtpFailure)) throw error;
    return { ended: wasAsked ? 'lost' : 'failed', isFinal: false };
  }
}

/** By preference, equal ones in random order (RFC 5321 5.1). */
function targetsOf(
  exchangers: readonly Exchanger[],
  random: () => number,
  providers: ProviderTable,
): Target[] {
  const inOrder = exchangers
    .map((exchanger) => ({ exchanger, lot: random() }))
    .toSorted((a, b) => a.exchanger.preference - b.exchanger.preference || a.lot - b.lot);
  return inOrder.flatMap(({ exchanger: { host, addresses } }) =>
    addresses.map((address) => ({ host, address, provider: providers.of(host) })),
  );
}

/** Of several results, a temporary one counts before silence. */
function mostSpecific(met: readonly NoSession[]): NoSession {
  if (met.length > 0 && met.every((one) => one === 'no_mailbox')) return 'no_mailbox';
  for (const kind of ['not_told', 'temporary'] as const) if (met.includes(kind)) return kind;
  return 'failed';
}
