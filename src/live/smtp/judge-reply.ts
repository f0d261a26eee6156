import type { MailProvider } from './providers.js';
import type { Reply } from './reply-reader.js';
import { replyRules, type Finding, type ReplyRule } from './reply-rules.js';
import { subjectWords, type Subject } from './reply-subjects.js';
import { hasNear, hasWords, plainWords } from './reply-words.js';

/** Reads a reply to RCPT by {@link replyRules}, or by the words of a provider that is known. */
export function judgeReply(reply: Reply, provider?: MailProvider): Finding {
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
