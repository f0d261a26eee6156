import type { ConnectionSlot } from '../schedule/limits.js';
import { beforeDeadline, systemClock } from '../../platform/waiting/clock.js';
import type { Exchanger } from '../dns/find-exchangers.js';
import { checkRecipients } from './check-recipients.js';
import { openSession, type SmtpIdentity, type NoSession, type Target } from './open-session.js';
import type { ProviderTable } from './providers.js';
import type { Questions } from './questions.js';
import { SmtpFailure } from './reply-reader.js';

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

/** By preference, equal ones in random order (RFC 5321 5.1). */
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

/** Of several results, a temporary one counts before silence. */
function worthMost(met: readonly NoSession[]): NoSession {
  if (met.length > 0 && met.every((one) => one === 'no_mailbox')) return 'no_mailbox';
  for (const kind of ['not_told', 'temporary'] as const) if (met.includes(kind)) return kind;
  return 'failed';
}
