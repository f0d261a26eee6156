import { parseMailbox } from '../../service/verification/email-syntax.js';
import { isAscii } from '../../service/verification/is-ascii.js';

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
 * Turns an address into what may stand between the angle brackets of RCPT TO. The grammar of RFC 5321
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
