import type { SMTPServerOptions } from 'smtp-server';
import type { MailOutcome } from '../../../src/live/smtp/questions.js';
import type { Manner } from '../smtp/exchanger.js';

/** One situation of the mail of a domain, and what has to be said of its addresses. */
export interface Situation {
  readonly what: string;
  /** What each local part is. */
  readonly asks: Readonly<Record<string, MailOutcome>>;
  /** The exchanger; without one, nobody listens. */
  readonly manner?: Manner;
  /** An exchanger of the package smtp-server in its place. */
  readonly server?: SMTPServerOptions;
  /**
   * Lines of the zone; `@` is the domain, `IP` the exchanger's address. By default an MX record and its
   * address.
   */
  readonly zone?: readonly string[];
  /** The domain as it is asked for, where that is not the one of the zone. */
  readonly domain?: string;
  /** Whether the exchanger makes the asker wait: it is asked by a hasty one. */
  readonly isSlow?: true;
  /** Flags beside the outcome. */
  readonly flags?: Readonly<
    Partial<Record<'is_free' | 'is_role' | 'is_disposable' | 'is_syntax_error', boolean>>
  >;
}
