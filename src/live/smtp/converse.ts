import type { ConnectionSlot } from '../schedule/limits.js';
import { beforeDeadline, systemClock } from '../../platform/waiting/clock.js';
import type { Exchanger } from '../dns/find-exchangers.js';
import { checkRecipients } from './check-recipients.js';
import { openSession, type SmtpIdentity, type NoSession, type Target } from './open-session.js';
import type { ProviderTable } from './providers.js';
import type { Questions } from './questions.js';
import { SmtpFailure } from './reply-reader.js';

interface ConversationOptions {
  /** In the order in which they are tried. */
  readonly targets: readonly Target[];
  readonly identity: SmtpIdentity;
  /** How long a conversation with one of them may take. */
  readonly timeoutMs: number;
  /** Waits until a target may be connected to; what it gives is called with the greeting and at the end. */
  readonly enter: (target: Target) => Promise<ConnectionSlot>;
  readonly signal: AbortSignal;
}

/** `lost`: the connection broke when recipients were already asked for. */
export type ConversationEnd = 'asked' | 'lost' | NoSession;

/** Servers that are tried for one conversation. */
const mostTargets = 20;

/**
 * Has one conversation with the first exchanger that will. One that refuses the asker after its greeting
 * is taken at its word: its neighbours are not asked.
 */
export async function converse(
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
  return worthMost(met);
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

/** In order of preference, equal ones in any order (RFC 5321 5.1). */
export function targetsOf(
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

/** Of several servers, one that may answer later counts before one that never did. */
function worthMost(met: readonly NoSession[]): NoSession {
  if (met.length > 0 && met.every((one) => one === 'no_mailbox')) return 'no_mailbox';
  for (const kind of ['not_told', 'temporary'] as const) if (met.includes(kind)) return kind;
  return 'failed';
}
