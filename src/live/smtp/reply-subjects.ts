import type { Reply } from './reply-reader.js';

/** Words of a refusal, and the servers known to send them. */
export interface SubjectWords {
  readonly words?: Words;
  readonly near?: Near;
  readonly seen: string;
}

/**
 * What the text of a refusal may be about. The texts were read in the sample bounces and lists of sisimai
 * (github.com/sisimai/go-sisimai, 2025-02), zone-mta (config/bounces.txt, 2026-07), KumoMTA
 * (assets/community/bounces.toml), Reacher (core/src/smtp/parser.rs, 2026-03), smtp.codes and
 * sitepackage.de, and in the sources of the servers named. No list of patterns that is kept up to date and
 * could be installed was found: on npm there are readers of bounce messages, none of replies. The
 * documentation shows the lists, and a test holds the two together.
 */
export const replySubjects = {
  'asks too much': {
    words: phrases(`
      recipients this hour, has sent to too many, relay quota, sending quota, message quota,
      sending limit, sending rate, daily limit, hourly limit, rate limit*, frequency limited,
      throttl*, too many connections, trop de connexions, too many sessions, too many
      concurrent, too many errors, too many invalid, too many unknown, too many bad, emails
      per hour
    `),
    seen: 'GoDaddy (550 5.1.1), QQ, Orange (421), Amazon SES; sisimai',
  },
  'full mailbox': {
    words: phrases(`
      mailbox full, mailbox is full, mailbox for user is full, full mailbox, inbox is full,
      inbox full, account is full, mailfolder is full, over quota, overquota*, over storage
      quota, over disk quota, over the quota, over the allowed quota, quota exceeded, exceeded
      quota, exceeded its quota, exceeded their quota, exceeding their quota, exceeded the
      quota, exceeded its disk, exceeded its storage, exceeds the quota, mailbox quota, quota
      usage exceeded, quota violation, disk quota, disc quota, storage quota, storage
      allocation, storage limit, storage space, mailbox size limit, mailbox limit ex*, out of
      storage, allowed storage, not have enough space, has too many messages, zuviele mails,
      speichervolumen, destinataire pleine
    `),
    seen: 'Dovecot, Gmail (OverQuota), Web.de, Orange (552 5.1.1), T-Online; sisimai, smtp.codes, sitepackage.de',
  },
  'busy mailbox': {
    words: phrases(`
      receiving mail at a rate, receiving mail too quickly, receivingrate*
    `),
    seen: 'Gmail (450 4.2.1, 550 5.2.1); Reacher',
  },
  'hidden directory': {
    words: phrases(`
      recipient address rejected access denied
    `),
    seen: 'Microsoft 365; sisimai, zone-mta',
  },
  'block list': {
    words: phrases(`
      your ip, ip address, adresse ip, sending ip, source ip, client ip, bad ip, ip blocked,
      invalid ip, blocked ip, spam*, junkmail, rbl, dnsbl*, uribl*, surbl*, sbl, xbl, dbl,
      block list*, blocklist*, black list*, blacklist*, deny list*, denylist*, listed at,
      listed by, listed in dns*, listed on, blocked using, blocked by, blocked see, is blocked
      by, client blocked, host blocked, client host, spamcop, abusix, sorbs, barracudacentral,
      cloudmark, problem occurred, senderbase, sbrs, senderscore, invaluement, proofpoint, ipcheck, reputation
    `),
    seen: 'postscreen, Spamhaus, SpamCop, Abusix, Cisco, Barracuda, Proofpoint; zone-mta, Reacher',
  },
  'policy or sender': {
    words: phrases(`
      policy*, policies, administrativ*, prohibit*, access denied, access denined, denied,
      relay access, relay denied, relay not, relay mail, relay for, relay through, relaying,
      to relay, not relay, no relay*, mail relay, open relay, a relay, rcpthosts, banned,
      forbidden, greylist*, graylist*, host network, ptr, reverse dns, reverse hostname, rdns,
      helo, ehlo, spf, dkim, dmarc, authentication, unauthenticated, authenticated,
      authorized, authorised, sender*, mail from, from address, return path, your domain, your
      email, your address, your host, your server, not accept mail from, not accept messages
      from, verification failed for, recipient preferences, account locked, temporary locked,
      locked please try, temporarily
    `),
    seen: 'Exim, qmail, Postfix, GMX, Mimecast, Cox, Yahoo, QQ, Facebook; sisimai',
  },
  'no mail here': {
    words: phrases(`
      not accept mail, null mx, nullmx, accepts no mail, no mail service
    `),
    seen: 'RFC 7504, Postfix; sisimai',
  },
  'disabled mailbox': {
    words: phrases(`
      is disabled, been disabled, disableduser, account disabled, user disabled, mailbox
      disabled, disabled recipient, disabled mailbox, disabled user, disabled account, domain
      is disabled, account is inactive, mailbox is inactive, user is inactive, reach is
      inactive, inactive user, inactive account, inactive email, inactive mailbox, invalid
      inactive, deactivated*, suspended, mailbox is frozen, discontinued, account closed,
      account is closed, expired account, account expired, no longer accepts, no longer
      active, account is not active, account not activated, account is blocked, user is
      terminated, suspend the service, destinataire est bloque, destinataire archivee
    `),
    seen: 'Gmail (DisabledUser), Yahoo, iCloud, GMX, Orange, i.ua, Comcast; sisimai, KumoMTA',
  },
  'no mailbox': {
    words: phrases(`
      nosuchuser, user unknown, userunknown, unknown user, unknown recipient, recipient
      unknown, unknown mailbox, mailbox unknown, unknown address, address unknown, addressee
      unknown, unknown account, unknown local, unknown or illegal, unknown virtual, no such
      user, no such mailbox, no such recipient, no such address, no such account, no such
      person, no such local, no such id, no such email, email doesn't exist, no mailbox, no
      mail box, not our user, not our customer, no account by that name, no one at this
      address, recipnotfound, recipientnotfound, invalid recipient, invalid recipients,
      recipient invalid, invalid mailbox, mailbox invalid, invalid user, invalid address,
      invalid email, invalid account, address invalid, unrouteable address, unroutable
      address, account unavailable, unrouteable mail domain, undeliverable address, mailbox
      unavailable, mailbox is unavailable, mailbox not found, mailbox not available, have an
      account, not a valid user, not a valid recipient, not a valid mailbox, not a known user,
      not a local address, not email addresses, validrcptto, address error, address is not
      handled, cannot deliver mail for, not listed in domino directory, not present in
      directory
    `),
    seen: 'Postfix, Exim, Sendmail, qmail, Exchange, Gmail, Outlook.com (5.5.0), Yandex (5.7.1); sisimai, Reacher',
  },
  'no mailbox (other languages)': {
    words: phrases(`
      utilisateur inconnu, destinataire invalide,
      benutzer nicht bekannt, nessun utente
      simile, no existe ese usuario, no existe dicha persona
    `),
    seen: 'Orange, La Poste, santé.fr, Web.de, servers in Italian and Spanish; sisimai, Reacher, sitepackage.de',
  },
  'no mailbox (by nearness)': {
    near: {
      first: phrases(`
      user, mailbox, recipient, address, account, rcpt, inbox
    `),
      after: phrases(`
      unknown, not found, notfound, could not be found, not known, not exist, exist not,
      dosn't exist, doesn't exist, no longer exists, no longer available, no longer on server,
      no longer valid, not here, not local, not listed, not valid, not a registered, does not
      have, doesn't have, unrecognized
    `),
    },
    seen: 'Gmail, Yahoo, Amazon SES, Biotech (G8); sisimai, Reacher',
  },
  'too many recipients': {
    words: phrases(`
      too many recipients, too many rcpt*
    `),
    seen: 'Postfix, Comcast; sisimai',
  },
  'asker or moment': {
    words: phrases(`
      not allowed, not permitted, permission, not accepted from, has been blocked, is blocked,
      blocked, refused to talk, service refuse*, service unavailable, currently unavailable,
      not accepting, try again, try later, veuillez essayer, temporary, limit exceeded,
      protocol violation, protocol error, connection
    `),
    seen: 'postscreen (521 5.3.2), La Poste, Proofpoint; sisimai',
  },
} as const satisfies Readonly<Record<string, SubjectWords>>;

function phrases(text: string): Words {
  return text.split(',').map((phrase) => phrase.trim().replaceAll(/\s+/g, ' '));
}

export type Subject = keyof typeof replySubjects;

/** Words of refusals as servers write them; a star stands for any ending. */
type Words = readonly string[];

/** A word with another shortly after it. */
interface Near {
  readonly first: Words;
  readonly after: Words;
}

/** Most words between the two of a {@link Near}: "the account that you tried to reach does not exist". */
const mostBetween = 7;
/** Longer texts explain more and add nothing. */
const mostCharacters = 1000;

/**
 * The text of a reply in plain words: lower case, without accents, addresses, signs and codes, so that words
 * are found in any spelling and across lines.
 */
export function plainWords({ lines }: Reply): string {
  const text = lines
    .map((line) => line.replace(/^[245]\.\d{1,3}\.\d{1,3}\s/, ''))
    .join(' ')
    .slice(0, mostCharacters)
    .replaceAll(/<[^<>]*>/g, ' ');
  return plain(
    text
      .split(/\s+/)
      .filter((word) => !word.includes('@'))
      .join(' '),
  );
}

/** A refusal for comparison: without words that have a digit (queue ids, hosts, times), and the requested name. */
export function refusalText(reply: Reply, local: string): string {
  const words = plainWords(reply);
  const name = plain(local);
  const kept = name === '  ' ? words : words.replaceAll(name, ' ');
  return [reply.code, ...kept.split(' ').filter((word) => word !== '' && !/\d/.test(word))].join(
    ' ',
  );
}

/** Whether a text from {@link plainWords} contains one of these. */
export function hasWords(text: string, words: Words): boolean {
  return words.some((each) => text.includes(patternOf(each)));
}

/** Whether a text has a word with one of the others shortly after it. */
export function hasNear(text: string, { first, after }: Near): boolean {
  return first.some((each) => {
    const pattern = patternOf(each);
    for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) {
      const rest = text.slice(at + pattern.length - 1);
      if (hasWords(firstWords(rest, mostBetween + 3), after)) return true;
    }
    return false;
  });
}

/** The first words of a text that begins with a blank, with blanks around them. */
function firstWords(text: string, count: number): string {
  let end = 0;
  for (let word = 0; word < count; word += 1) {
    const next = text.indexOf(' ', end + 1);
    if (next === -1) return text;
    end = next;
  }
  return text.slice(0, end + 1);
}

const patterns = new Map<string, string>();

function patternOf(words: string): string {
  let pattern = patterns.get(words);
  if (pattern === undefined) {
    pattern = words.endsWith('*') ? plain(words).slice(0, -1) : plain(words);
    patterns.set(words, pattern);
  }
  return pattern;
}

/** Words with blanks before, between and after them. */
function plain(text: string): string {
  const words = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\p{N}]/gu, ' ')
    .split(' ')
    .filter((word) => word !== '');
  return ` ${words.join(' ')} `;
}
