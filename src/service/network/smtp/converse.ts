import { beforeDeadline } from '../../../system/before-deadline.js';
import { systemClock } from '../../../system/clock.js';
import type { Exchanger } from '../dns/find-exchangers.js';
import { askRecipients } from './ask-recipients.js';
import { openSession, type Manners, type NoSession, type Target } from './open-session.js';
import type { Questions } from './questions.js';
import { SmtpFailure } from './smtp-failure.js';

export interface ConversationOptions {
  readonly exchangers: readonly Exchanger[];
  readonly manners: Manners;
  /** How long the whole may take, over all servers that are tried. */
  readonly timeoutMs: number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** `lost`: the connection broke when recipients were already asked for. */
export type ConversationEnd = 'asked' | 'lost' | NoSession;

/** Servers that are tried for one conversation. */
const mostTargets = 4;

/**
 * Has one conversation with the first exchanger that will: in order of preference, equal ones in any
 * order (RFC 5321 5.1). One that refuses the asker is taken at its word: its neighbours are not asked.
 *
 * @throws the signal's reason
 */
export async function converse(
  options: ConversationOptions,
  questions: Questions,
): Promise<ConversationEnd> {
  options.signal.throwIfAborted();
  return beforeDeadline(async (signal) => tryTargets(options, questions, signal), {
    clock: systemClock,
    ms: options.timeoutMs,
    signal: options.signal,
    toError: () => new SmtpFailure('timeout', 'the conversation took too long'),
  });
}

async function tryTargets(
  { exchangers, manners, random }: ConversationOptions,
  questions: Questions,
  signal: AbortSignal,
): Promise<ConversationEnd> {
  const met: NoSession[] = [];
  let wasAsked = false;
  try {
    for (const target of targetsOf(exchangers, random).slice(0, mostTargets)) {
      const session = await openSession(target, manners, signal);
      if (typeof session === 'string') {
        met.push(session);
        if (session === 'not_told') break;
        continue;
      }
      wasAsked = true;
      try {
        const ended = await askRecipients(session, questions);
        await session.connection.quit();
        if (ended === 'asked') return ended;
        wasAsked = false;
        met.push(ended);
        if (ended === 'not_told') break;
      } finally {
        session.connection.close();
      }
    }
  } catch (error) {
    if (!(error instanceof SmtpFailure)) throw error;
    return wasAsked ? 'lost' : 'failed';
  }
  return worthMost(met);
}

function targetsOf(exchangers: readonly Exchanger[], random: () => number): Target[] {
  const inOrder = exchangers
    .map((exchanger) => ({ exchanger, lot: random() }))
    .toSorted((a, b) => a.exchanger.preference - b.exchanger.preference || a.lot - b.lot);
  return inOrder.flatMap(({ exchanger: { host, addresses } }) =>
    addresses.map((address) => ({ host, address })),
  );
}

/** Of several servers, one that may answer later counts before one that never did. */
function worthMost(met: readonly NoSession[]): NoSession {
  if (met.length > 0 && met.every((one) => one === 'no_mailbox')) return 'no_mailbox';
  for (const kind of ['not_told', 'temporary'] as const) if (met.includes(kind)) return kind;
  return 'failed';
}
