import type { Reply } from './reply-reader.js';
import { type Subject, subjectWords, hasNear, hasWords, plainWords } from './reply-subjects.js';

/** What a reply to RCPT says of the mailbox. */
export type Finding =
  /** The server takes mail for it. */
  | 'accepted'
  /** It is there, and full. */
  | 'full'
  /** It is there, and gets more mail just now than it may. */
  | 'busy'
  /** It is there, and takes no mail any more. */
  | 'disabled'
  /** It is not there. */
  | 'no_mailbox'
  /** Refused without a word about a mailbox: the asker may be meant. */
  | 'refused'
  /** The server does not tell, or not this asker. */
  | 'not_told'
  /** Asked again later, the server may tell. */
  | 'temporary'
  /** The server takes no more recipients in this conversation. */
  | 'too_many'
  /** No sensible answer to the command. */
  | 'failed';

/** One row of the table: the first that fits decides. */
interface ReplyRule {
  /** Reply codes; a single digit stands for its whole class. */
  readonly codes: readonly number[];
  /** Subject and detail of enhanced status codes; `7` stands for the whole subject. */
  readonly enhanced?: readonly string[];
  /** What its text has to be about. */
  readonly about?: Subject;
  readonly finding: Finding;
  /** Why, for the documentation. */
  readonly because: string;
}

/** The table of replies to RCPT. The documentation shows it, and a test holds the two together. */
export const replyRules: readonly ReplyRule[] = [
  { codes: [250, 251], finding: 'accepted', because: 'taken, here or by forwarding' },
  { codes: [252], finding: 'not_told', because: 'the server would take it without knowing' },
  { codes: [2, 3], finding: 'failed', because: 'no answer to RCPT' },
  { codes: [421], finding: 'temporary', because: 'the server ends the conversation' },

  {
    codes: [4],
    about: 'asks too much',
    finding: 'temporary',
    because: 'the asker asks too much',
  },
  {
    codes: [5],
    about: 'asks too much',
    finding: 'not_told',
    because: 'the asker asks too much',
  },
  {
    codes: [4, 5],
    about: 'full mailbox',
    finding: 'full',
    because: 'the mailbox is full',
  },
  {
    codes: [4, 5],
    about: 'busy mailbox',
    finding: 'busy',
    because: 'the mailbox gets mail too fast',
  },
  {
    codes: [5],
    enhanced: ['4.1'],
    about: 'hidden directory',
    finding: 'refused',
    because: 'a name that the directory has not, or one that it hides',
  },
  {
    codes: [5],
    about: 'block list',
    finding: 'not_told',
    because: 'a block list, or the name of the asker',
  },
  {
    codes: [5],
    about: 'policy or sender',
    finding: 'not_told',
    because: 'policy, relaying, the sender',
  },
  {
    codes: [5],
    about: 'no mail here',
    finding: 'no_mailbox',
    because: 'takes no mail (RFC 7504)',
  },
  {
    codes: [5],
    about: 'disabled mailbox',
    finding: 'disabled',
    because: 'the mailbox takes no mail any more',
  },
  {
    codes: [5],
    about: 'no mailbox',
    finding: 'no_mailbox',
    because: 'the mailbox is not there',
  },
  {
    codes: [5],
    about: 'no mailbox (other languages)',
    finding: 'no_mailbox',
    because: 'the same in other languages',
  },
  {
    codes: [5],
    about: 'no mailbox (by nearness)',
    finding: 'no_mailbox',
    because: 'a word for a mailbox, and soon after it one for its absence',
  },
  {
    codes: [5],
    about: 'too many recipients',
    finding: 'too_many',
    because: 'too many recipients',
  },
  {
    codes: [5],
    about: 'asker or moment',
    finding: 'not_told',
    because: 'the asker, or the moment',
  },

  { codes: [4, 552], enhanced: ['2.2'], finding: 'full', because: 'the mailbox is full' },
  { codes: [4], enhanced: ['5.3'], finding: 'too_many', because: 'too many recipients' },
  {
    codes: [452],
    enhanced: ['3', '7'],
    finding: 'temporary',
    because: 'no room on the server, greylisting',
  },
  { codes: [452], finding: 'too_many', because: 'too many recipients (RFC 5321 4.5.3.1.10)' },
  { codes: [4], finding: 'temporary', because: 'greylisting, load, trouble of the server' },
  { codes: [521], finding: 'not_told', because: 'the host, not the mailbox' },
  { codes: [556], finding: 'no_mailbox', because: 'takes no mail (RFC 7504)' },
  {
    codes: [5],
    enhanced: ['1.1', '1.2', '1.3', '1.6', '1.10'],
    finding: 'no_mailbox',
    because: 'no such mailbox, system, or form of address; moved; null MX',
  },
  { codes: [5], enhanced: ['2.1', '7.13'], finding: 'disabled', because: 'disabled' },
  { codes: [5], enhanced: ['2.2'], finding: 'full', because: 'the mailbox is full' },
  {
    codes: [5],
    enhanced: ['6.7'],
    finding: 'no_mailbox',
    because: 'the address needs SMTPUTF8, and the server takes none',
  },
  { codes: [5], enhanced: ['5.3'], finding: 'too_many', because: 'too many recipients' },
  {
    codes: [5],
    enhanced: ['1.0', '2.0', '2.4', '4.1', '0.0'],
    finding: 'refused',
    because: 'refused, and the detail says nothing sure',
  },
  {
    codes: [5],
    enhanced: ['7', '1.7', '1.8', '1.4', '2.3', '3', '4'],
    finding: 'not_told',
    because: 'policy, block lists, the sender, the network, sizes',
  },
  {
    codes: [5],
    enhanced: ['5', '6'],
    finding: 'failed',
    because: 'the command was not understood',
  },
  { codes: [530, 535, 538], finding: 'not_told', because: 'asks for a login' },
  {
    codes: [500, 502, 503, 504, 555],
    finding: 'failed',
    because: 'the command was not understood',
  },
  { codes: [501], finding: 'not_told', because: 'the server does not read this form of address' },
  { codes: [551], finding: 'no_mailbox', because: 'not here, and not forwarded' },
  { codes: [552], finding: 'full', because: 'storage allocation exceeded' },
  { codes: [5], finding: 'refused', because: 'refused without a reason' },
];

/** Reads a reply to RCPT by {@link replyRules}, or by the words of a provider that is known. */
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
  const { words, near } = subjectWords(subject);
  return words === undefined ? near !== undefined && hasNear(text, near) : hasWords(text, words);
}

/** What a reply before RCPT (greeting, EHLO, MAIL) says of the whole conversation. */
export function judgeSession(
  reply: Reply,
): 'ready' | 'temporary' | 'not_told' | 'no_mailbox' | 'failed' {
  const kind = Math.floor(reply.code / 100);
  if (kind === 2) return 'ready';
  if (kind === 4) return 'temporary';
  // RFC 7504 2; other hosts refuse one asker with the same code.
  if (reply.code === 521 && judgeReply(reply) === 'no_mailbox') return 'no_mailbox';
  return kind === 5 ? 'not_told' : 'failed';
}
