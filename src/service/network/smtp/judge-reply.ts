import type { Reply } from './reply-reader.js';

/** What a reply to RCPT says of the mailbox. */
export type Finding =
  /** The server takes mail for it. */
  | 'accepted'
  /** It is there, and full. */
  | 'full'
  /** It is not there, or takes no mail any more. */
  | 'no_mailbox'
  /** Refused without a reason: the mailbox or the asker may be meant. */
  | 'refused'
  /** The server does not tell, or not this asker. */
  | 'not_told'
  /** Asked again later, the server may tell. */
  | 'temporary'
  /** The server takes no more recipients in this conversation. */
  | 'too_many'
  /** No sensible answer to the command. */
  | 'failed';

/** One row of the table: the first that matches decides. */
export interface ReplyRule {
  /** Reply codes; a single digit stands for its whole class. */
  readonly codes: readonly number[];
  /** Subject and detail of enhanced status codes; `7` stands for the whole subject. */
  readonly enhanced?: readonly string[];
  /** What its text is about; asked only where no enhanced code says it. */
  readonly about?: 'mailbox' | 'asker';
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
  { codes: [521, 556], finding: 'no_mailbox', because: 'takes no mail (RFC 7504)' },
  {
    codes: [5],
    enhanced: ['1.1', '1.2', '1.3', '1.6', '1.10'],
    finding: 'no_mailbox',
    because: 'no such mailbox, system, or form of address; moved; null MX',
  },
  { codes: [5], enhanced: ['2.1', '7.13'], finding: 'no_mailbox', because: 'disabled' },
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
    enhanced: ['7', '1.7', '1.8', '1.4', '3', '4'],
    finding: 'not_told',
    because: 'policy, block lists, the sender, the network',
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
  { codes: [5], about: 'asker', finding: 'not_told', because: 'its text speaks of the asker' },
  {
    codes: [5],
    about: 'mailbox',
    finding: 'no_mailbox',
    because: 'its text speaks of the mailbox',
  },
  { codes: [551], finding: 'no_mailbox', because: 'not here, and not forwarded' },
  { codes: [552], finding: 'full', because: 'storage allocation exceeded' },
  { codes: [5], finding: 'refused', because: 'refused without a reason' },
];

/** Reads a reply to RCPT by {@link replyRules}. */
export function judgeReply(reply: Reply): Finding {
  const rule = replyRules.find((candidate) => matches(candidate, reply));
  return rule?.finding ?? 'failed';
}

function matches(rule: ReplyRule, { code, enhanced, lines }: Reply): boolean {
  if (!rule.codes.some((wanted) => wanted === code || wanted === Math.floor(code / 100))) {
    return false;
  }
  if (rule.enhanced) {
    const subject = enhanced?.replace(/\..*/, '');
    return rule.enhanced.some((wanted) => wanted === enhanced || wanted === subject);
  }
  return rule.about === undefined || rule.about === subjectOf(lines.join(' '));
}

/** Words of a refusal that is about who asks, whatever else it says. */
const askerWords =
  /\b(?:authenticat|authori[sz]|relay|limit|(?:block(?:ed|list|listed|ing)?|black ?list(?:ed)?|spam|rbl|dnsbl|spamhaus|reputation|polic(?:y|ies)|banned|denied|helo|ehlo|ptr|reverse|rdns|spf|dkim|dmarc|sender|client|your (?:ip|host|server)|too many|rate|verif(?:y|ication) (?:failed|attempts?))\b)/i;
/** A mailbox that is not there, in the words of the usual servers. */
const noMailbox =
  /\b(?:(?:no such|unknown|invalid|non-?existent|bad|disabled|inactive|unrouteable) (?:local |e-?mail )?(?:user|mailbox|recipient|address|account|person|name)|no mailbox|not our (?:user|customer))\b/i;
const mailbox = /\b(?:user|mailbox|recipient|address|account)\b/gi;
const missing =
  /\b(?:unknown|not (?:found|known|exist|here|local|listed|valid|available|active)|(?:does ?n[o']t|doesn't|does not) (?:exist|have)|unavailable|invalid|disabled|inactive|deactivated|suspended|no longer|rejected)\b/i;
/** How far behind the word for a mailbox it is said that it is missing, and how long that is. */
const mostBetween = 60;
const longestMissing = 20;

function subjectOf(text: string): 'mailbox' | 'asker' | undefined {
  // Texts are long where a server explains itself; what is behind that says no more.
  const beginning = text.slice(0, 400);
  if (askerWords.test(beginning)) return 'asker';
  return noMailbox.test(beginning) || isMissing(beginning) ? 'mailbox' : undefined;
}

function isMissing(text: string): boolean {
  for (const { index, 0: word } of text.matchAll(mailbox)) {
    const from = index + word.length;
    const found = missing.exec(text.slice(from, from + mostBetween + longestMissing));
    if (found !== null && found.index <= mostBetween) return true;
  }
  return false;
}

/** What a reply before RCPT (greeting, EHLO, MAIL) says of the whole conversation. */
export function judgeSession(
  reply: Reply,
): 'ready' | 'temporary' | 'not_told' | 'no_mailbox' | 'failed' {
  const kind = Math.floor(reply.code / 100);
  if (kind === 2) return 'ready';
  if (kind === 4) return 'temporary';
  if (reply.code === 521) return 'no_mailbox';
  return kind === 5 ? 'not_told' : 'failed';
}
