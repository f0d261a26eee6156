import type { Reply } from './reply-reader.js';
import {
  type Subject,
  type SubjectWords,
  replySubjects,
  hasNear,
  hasWords,
  plainWords,
} from './reply-subjects.js';

/** What a reply to RCPT says about the mailbox. */
export type Finding =
  /** The server accepts mail for it. */
  | 'accepted'
  | 'full'
  /** It exists, and temporarily gets more mail than allowed. */
  | 'busy'
  /** It exists, and no longer accepts mail. */
  | 'disabled'
  | 'no_mailbox'
  /** Refused without a word about a mailbox: the client may be meant. */
  | 'refused'
  /** The server does not tell, or not this client. */
  | 'not_told'
  /** It may tell later. */
  | 'temporary'
  /** The server accepts no more recipients in this conversation. */
  | 'too_many'
  /** No meaningful answer to the command. */
  | 'failed';

/** A row of the table: the first match decides. */
interface ReplyRule {
  /** Reply codes; a single digit stands for its class. */
  readonly codes: readonly number[];
  /** Subject and detail of enhanced status codes; `7` stands for the whole subject. */
  readonly enhanced?: readonly string[];
  readonly about?: Subject;
  readonly finding: Finding;
  /** The reason, for the documentation. */
  readonly because: string;
}

function rule(codes: ReplyRule['codes'], finding: Finding, because: string): ReplyRule {
  return { codes, finding, because };
}

function about(subject: Subject, ...[codes, finding, because]: Parameters<typeof rule>): ReplyRule {
  return { codes, about: subject, finding, because };
}

function enhanced(
  details: readonly string[],
  ...[codes, finding, because]: Parameters<typeof rule>
): ReplyRule {
  return { codes, enhanced: details, finding, because };
}

/** The table of replies to RCPT. The documentation shows it, and a test compares the two. */
export const replyRules: readonly ReplyRule[] = [
  rule([250, 251], 'accepted', 'taken, here or by forwarding'),
  rule([252], 'not_told', 'the server would take it without knowing'),
  rule([2, 3], 'failed', 'no answer to RCPT'),
  rule([421], 'temporary', 'the server ends the conversation'),

  about('asks too much', [4], 'temporary', 'the asker asks too much'),
  about('asks too much', [5], 'not_told', 'the asker asks too much'),
  about('full mailbox', [4, 5], 'full', 'the mailbox is full'),
  about('busy mailbox', [4, 5], 'busy', 'the mailbox gets mail too fast'),
  {
    ...about(
      'hidden directory',
      [5],
      'refused',
      'a name that the directory has not, or one that it hides',
    ),
    enhanced: ['4.1'],
  },
  about('block list', [5], 'not_told', 'a block list, or the name of the asker'),
  about('policy or sender', [5], 'not_told', 'policy, relaying, the sender'),
  about('no mail here', [5], 'no_mailbox', 'takes no mail (RFC 7504)'),
  about('disabled mailbox', [5], 'disabled', 'the mailbox takes no mail any more'),
  about('no mailbox', [5], 'no_mailbox', 'the mailbox is not there'),
  about('no mailbox (other languages)', [5], 'no_mailbox', 'the same in other languages'),
  about(
    'no mailbox (by nearness)',
    [5],
    'no_mailbox',
    'a word for a mailbox, and soon after it one for its absence',
  ),
  about('too many recipients', [5], 'too_many', 'too many recipients'),
  about('asker or moment', [5], 'not_told', 'the asker, or the moment'),

  enhanced(['2.2'], [4, 552], 'full', 'the mailbox is full'),
  enhanced(['5.3'], [4], 'too_many', 'too many recipients'),
  enhanced(['3', '7'], [452], 'temporary', 'no room on the server, greylisting'),
  rule([452], 'too_many', 'too many recipients (RFC 5321 4.5.3.1.10)'),
  rule([4], 'temporary', 'greylisting, load, trouble of the server'),
  rule([521], 'not_told', 'the host, not the mailbox'),
  rule([556], 'no_mailbox', 'takes no mail (RFC 7504)'),
  enhanced(
    ['1.1', '1.2', '1.3', '1.6', '1.10'],
    [5],
    'no_mailbox',
    'no such mailbox, system, or form of address; moved; null MX',
  ),
  enhanced(['2.1', '7.13'], [5], 'disabled', 'disabled'),
  enhanced(['2.2'], [5], 'full', 'the mailbox is full'),
  enhanced(['6.7'], [5], 'no_mailbox', 'the address needs SMTPUTF8, and the server takes none'),
  enhanced(['5.3'], [5], 'too_many', 'too many recipients'),
  enhanced(
    ['1.0', '2.0', '2.4', '4.1', '0.0'],
    [5],
    'refused',
    'refused, and the detail says nothing sure',
  ),
  enhanced(
    ['7', '1.7', '1.8', '1.4', '2.3', '3', '4'],
    [5],
    'not_told',
    'policy, block lists, the sender, the network, sizes',
  ),
  enhanced(['5', '6'], [5], 'failed', 'the command was not understood'),
  rule([530, 535, 538], 'not_told', 'asks for a login'),
  rule([500, 502, 503, 504, 555], 'failed', 'the command was not understood'),
  rule([501], 'not_told', 'the server does not read this form of address'),
  rule([551], 'no_mailbox', 'not here, and not forwarded'),
  rule([552], 'full', 'storage allocation exceeded'),
  rule([5], 'refused', 'refused without a reason'),
];

/** Interprets a reply to RCPT by {@link replyRules}, or by a known provider's words. */
export function judgeReply(
  reply: Reply,
  provider?: {
    readonly refusals?: readonly { readonly words: string; readonly finding: Finding }[];
  },
): Finding {
  const text = plainWords(reply);
  if (reply.code >= 500) {
    const own = provider?.refusals?.find(({ words }) => hasWords(text, [words]));
    if (own) return own.finding;
  }
  const rule = replyRules.find((candidate) => fits(candidate, reply, text));
  return rule?.finding ?? 'failed';
}

function fits({ codes, enhanced, about }: ReplyRule, reply: Reply, text: string): boolean {
  if (!codes.some((code) => code === reply.code || code === Math.floor(reply.code / 100))) {
    return false;
  }
  if (enhanced) {
    const subject = reply.enhanced?.replace(/\..*/, '');
    if (!enhanced.some((code) => code === reply.enhanced || code === subject)) return false;
  }
  return about === undefined || isAbout(text, about);
}

function isAbout(text: string, subject: Subject): boolean {
  const { words, near }: SubjectWords = replySubjects[subject];
  return words === undefined ? near !== undefined && hasNear(text, near) : hasWords(text, words);
}

/** Interprets a reply before RCPT (greeting, EHLO, MAIL) for the whole conversation. */
export function judgeSession(
  reply: Reply,
): 'ready' | 'temporary' | 'not_told' | 'no_mailbox' | 'failed' {
  const kind = Math.floor(reply.code / 100);
  if (kind === 2) return 'ready';
  if (kind === 4) return 'temporary';
  // RFC 7504 2; other hosts refuse one client with the same code.
  if (reply.code === 521 && judgeReply(reply) === 'no_mailbox') return 'no_mailbox';
  return kind === 5 ? 'not_told' : 'failed';
}
