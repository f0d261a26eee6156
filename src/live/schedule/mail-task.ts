import type { SmtpPath } from '../smtp/smtp-path.js';

/** What was found out of a mailbox in the end. */
export type MailOutcome =
  | 'accepted'
  | 'full'
  | 'no_mailbox'
  /** It is there, and takes no mail any more. */
  | 'disabled'
  | 'catch_all'
  /** A server was asked and does not tell. */
  | 'not_told'
  /** Nobody could be asked. */
  | 'failed';

/** A mailbox that is to be asked for. */
export interface MailTask {
  readonly path: SmtpPath;
  /** Somebody waits: it goes first, and is not asked again later. */
  readonly isUrgent: boolean;
  /** Whoever wanted it may have left. */
  readonly signal: AbortSignal;
  readonly onOutcome: (outcome: MailOutcome) => void;
  /** Told of a defect. */
  readonly onError: (error: unknown) => void;
  /** Conversations that came to nothing for it, since it last waited. */
  tries: number;
  /** How often it was put off. */
  delays: number;
}
