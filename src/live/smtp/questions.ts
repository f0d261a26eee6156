import { parseMailbox, isAscii } from '../../service/verification/email-syntax.js';
import type { DomainCache } from './domain-cache.js';
import type { Finding } from './reply-rules.js';

/** What is asked in one conversation, and who gets the answers. */
export interface Questions {
  readonly mailFrom: string;
  /** Their domains may differ; their exchanger is one. */
  readonly recipients: readonly SmtpPath[];
  /** What other conversations have shown. */
  readonly memory: DomainCache;
  /** The local part that nobody has in a domain: always the same. */
  readonly madeUpName: (domain: string) => string;
  /** Called with each answer, by the place of its recipient; at most once for each. */
  readonly onAnswer: (place: number, answer: Answer) => void;
}

/**
 * What was found of one recipient. `doubtful`: the server took or refused it, and then showed that it
 * takes or refuses everything. `undetermined`: what its answer means could not be found out.
 */
export type Answer =
  | Exclude<Finding, 'refused' | 'busy'>
  | 'doubtful'
  | 'undetermined'
  | 'catch_all';

/** A mailbox as a command names it. */
export interface SmtpPath {
  /** `local@domain`, the domain in ASCII. */
  readonly text: string;
  readonly local: string;
  readonly domain: string;
  /** Whether only a server with SMTPUTF8 (RFC 6531) can take it. */
  readonly needsUtf8: boolean;
}

/**
 * Turns an address into what may be between the angle brackets of RCPT TO. The grammar of RFC 5321
 * lets no control character pass, and angle brackets only within quotes, where they end nothing: an
 * address cannot become a second command.
 *
 * @returns `undefined` for what is no mailbox
 */
export function smtpPathOf(address: string): SmtpPath | undefined {
  const mailbox = parseMailbox(address);
  if (mailbox === undefined) return undefined;
  const { local, domain } = mailbox;
  return { text: `${local}@${domain}`, local, domain, needsUtf8: !isAscii(local) };
}

/** What was found out of a mailbox in the end. */
export type MailOutcome =
  | 'accepted'
  | 'full'
  | 'no_mailbox'
  /** It is there, and takes no mail any more. */
  | 'disabled'
  | 'catch_all'
  /** A server was asked and does not say. */
  | 'not_told'
  /** Nobody could be asked. */
  | 'failed';

export interface MailTask {
  readonly path: SmtpPath;
  /** Somebody waits: it goes first, and is not asked again later. */
  readonly isUrgent: boolean;
  /** Anyone who wanted it may have left. */
  readonly signal: AbortSignal;
  readonly onOutcome: (outcome: MailOutcome) => void;
  /** Called with a defect. */
  readonly onError: (error: unknown) => void;
  /** Called with how often it was put off by now. */
  readonly onDelayed?: (delays: number) => void;
  /** Conversations that came to nothing for it, since it last waited. */
  tries: number;
  /** How often it was put off. */
  delays: number;
}
