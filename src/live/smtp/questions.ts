import { parseMailbox, isAscii } from '../../service/verification/email-syntax.js';
import type { DomainCache } from './domain-cache.js';
import type { Finding } from './reply-rules.js';

/** The queries of one conversation, and their receiver. */
export interface Questions {
  readonly mailFrom: string;
  /** Their domains may differ; their exchanger is the same. */
  readonly recipients: readonly SmtpPath[];
  /** What other conversations have shown. */
  readonly memory: DomainCache;
  /** The made-up local part of a domain: always the same. */
  readonly madeUpName: (domain: string) => string;
  /** Called with each answer, by the recipient's index; at most once for each. */
  readonly onAnswer: (place: number, answer: Answer) => void;
}

/**
 * The result for one recipient. `doubtful`: the server accepted or refused it, and then showed that it does
 * so with everything. `undetermined`: its answer could not be interpreted.
 */
export type Answer =
  | Exclude<Finding, 'refused' | 'busy'>
  | 'doubtful'
  | 'undetermined'
  | 'catch_all';

/** A mailbox in a command. */
export interface SmtpPath {
  /** `local@domain`, the domain in ASCII. */
  readonly text: string;
  readonly local: string;
  readonly domain: string;
  /** Whether only a server with SMTPUTF8 (RFC 6531) can accept it. */
  readonly needsUtf8: boolean;
}

/**
 * An address for the angle brackets of RCPT TO. The grammar of RFC 5321 allows no control character, and
 * angle brackets only within quotes: an address cannot become a second command.
 *
 * @returns `undefined` for an invalid mailbox
 */
export function smtpPathOf(address: string): SmtpPath | undefined {
  const mailbox = parseMailbox(address);
  if (mailbox === undefined) return undefined;
  const { local, domain } = mailbox;
  return { text: `${local}@${domain}`, local, domain, needsUtf8: !isAscii(local) };
}

export type MailOutcome =
  | 'accepted'
  | 'full'
  | 'no_mailbox'
  /** It exists, and no longer accepts mail. */
  | 'disabled'
  | 'catch_all'
  /** A server was asked and does not tell. */
  | 'not_told'
  /** No server could be asked. */
  | 'failed';

export interface MailTask {
  readonly path: SmtpPath;
  /** Somebody waits: it goes first, and is not retried later. */
  readonly isUrgent: boolean;
  /** Aborted once nobody wants the result. */
  readonly signal: AbortSignal;
  readonly onOutcome: (outcome: MailOutcome) => void;
  readonly onError: (error: unknown) => void;
  readonly onDelayed?: (delays: number) => void;
  /** Fruitless conversations since the last deferral. */
  tries: number;
  delays: number;
}
