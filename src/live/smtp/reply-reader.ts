type SmtpFailureKind = 'connection' | 'timeout' | 'protocol' | 'tls';

/** A broken conversation. Its message holds no address and no word of the server. */
export class SmtpFailure extends Error {
  override readonly name = 'SmtpFailure';
  readonly kind: SmtpFailureKind;

  constructor(kind: SmtpFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** A server's reply (RFC 5321 4.2). */
export interface Reply {
  readonly code: number;
  /** Subject and detail of its enhanced status code (RFC 3463): `1.1` of `5.1.1`. */
  readonly enhanced: string | undefined;
  /** The text of its lines after the codes. */
  readonly lines: readonly string[];
}

/** RFC 5321 4.5.3.1.5 has 512 octets; some servers send slightly more. */
const maxLineBytes = 2048;
const maxReplyLines = 100;

const newline = 0x0a;
const lineForm = /^([2-5]\d\d)(?:([ -])(.*))?$/su;
const enhancedForm = /^([245])\.(\d{1,3}\.\d{1,3})(?:\s|$)/;

/** Assembles replies from bytes as they arrive. Holds at most one line and one reply. */
export class ReplyReader {
  #line: Uint8Array[] = [];
  #lineBytes = 0;
  #code: number | undefined;
  #lines: string[] = [];

  /** @returns the replies that these bytes complete */
  push(bytes: Uint8Array): Reply[] {
    const replies: Reply[] = [];
    let begin = 0;
    for (;;) {
      const end = bytes.indexOf(newline, begin);
      const piece = bytes.subarray(begin, end === -1 ? bytes.length : end);
      this.#lineBytes += piece.length;
      if (this.#lineBytes > maxLineBytes) {
        throw new SmtpFailure('protocol', 'a line of a reply is too long');
      }
      this.#line.push(piece);
      if (end === -1) return replies;
      const reply = this.#endLine();
      if (reply) replies.push(reply);
      begin = end + 1;
    }
  }

  get isInside(): boolean {
    return this.#lineBytes > 0 || this.#code !== undefined;
  }

  #endLine(): Reply | undefined {
    const text = Buffer.concat(this.#line).toString('utf8').replace(/\r$/, '');
    this.#line = [];
    this.#lineBytes = 0;
    const [, digits, separator = ' ', words = ''] = lineForm.exec(text) ?? [];
    const code = Number(digits);
    if (digits === undefined || (this.#code !== undefined && this.#code !== code)) {
      throw new SmtpFailure('protocol', 'the server sent something that is not a reply');
    }
    this.#code = code;
    this.#lines.push(words);
    if (this.#lines.length > maxReplyLines) {
      throw new SmtpFailure('protocol', 'a reply has too many lines');
    }
    if (separator === '-') return undefined;
    const lines = this.#lines;
    this.#code = undefined;
    this.#lines = [];
    return { code, enhanced: enhancedOf(code, lines), lines };
  }
}

/** A code of another class than its reply contradicts it, and is ignored (RFC 2034, section 4). */
function enhancedOf(code: number, lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const [, kind, rest] = enhancedForm.exec(line) ?? [];
    if (kind !== undefined && Number(kind) === Math.floor(code / 100)) return rest;
  }
  return undefined;
}
