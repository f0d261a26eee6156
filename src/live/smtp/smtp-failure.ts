/** What ended a conversation before its time. */
export type SmtpFailureKind = 'connection' | 'timeout' | 'protocol' | 'tls';

/** A conversation broke. Its message holds no address and no word of the server. */
export class SmtpFailure extends Error {
  override readonly name = 'SmtpFailure';
  readonly kind: SmtpFailureKind;

  constructor(kind: SmtpFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
