import { judgeReply, judgeSession, type Finding } from './judge-reply.js';
import type { NoSession, Session } from './open-session.js';
import type { SmtpPath } from './smtp-path.js';

/** What is asked in one conversation, and who hears of the answers. */
export interface Questions {
  readonly mailFrom: string;
  /** Their domains may differ; their exchanger is one. */
  readonly recipients: readonly SmtpPath[];
  /** Whether a domain is known to tell its mailboxes from others. */
  readonly isKnownToTell: (domain: string) => boolean;
  /** Makes a local part that nobody has. */
  readonly madeUpName: () => string;
  /** Told what a made-up name, or an answer as good as one, has shown of a domain. */
  readonly onShown: (domain: string, shown: Shown) => void;
  /** Told of each answer, by the place of its recipient; at most once for each. */
  readonly onAnswer: (place: number, answer: Answer) => void;
}

/** What a domain does with names that nobody has: takes them, tells them, or now this, now that. */
export type Shown = 'takes_all' | 'tells' | 'wavers';

/**
 * What was found of one recipient. `doubtful`: taken, but when the server also took a name that nobody
 * has. `undetermined`: taken, and whether the server takes everything could not be found out.
 */
export type Answer = Exclude<Finding, 'refused'> | 'doubtful' | 'undetermined' | 'catch_all';

/** How a conversation ended; recipients without an answer were not reached. */
export type Ended = 'asked' | NoSession;

/**
 * Asks a server for recipients, and never sends a message: after the last answer it takes leave. For
 * each domain that is not known, a made-up name is asked for first: where that is taken, so is
 * everything. After the last acceptance one is asked for again, because some servers take everything
 * after some wrong names.
 *
 * @throws SmtpFailure when the connection breaks; answers until then stand
 */
export async function askRecipients(session: Session, questions: Questions): Promise<Ended> {
  const conversation = new Conversation(session, questions);
  const begun = await conversation.begin();
  if (begun !== 'ready') return begun;
  await conversation.askAll();
  await conversation.settle();
  return 'asked';
}

type Canary = 'taken' | 'not_taken' | 'undetermined';

class Conversation {
  readonly #session: Session;
  readonly #questions: Questions;
  readonly #canaries = new Map<string, Canary>();
  /** Acceptances since a refusal last showed that the server tells. */
  #unproved: number[] = [];
  /** Places whose refusal had no reason, by domain. */
  readonly #refused = new Map<string, number[]>();
  /** Domains that accepted and refused: they tell. */
  readonly #accepting = new Set<string>();
  #isFull = false;

  constructor(session: Session, questions: Questions) {
    this.#session = session;
    this.#questions = questions;
  }

  /** Says who asks, and asks for a made-up name in every domain that is not known. */
  async begin(): Promise<'ready' | NoSession> {
    const { mailFrom, recipients, isKnownToTell } = this.#questions;
    const needsUtf8 = this.#session.takesUtf8 && recipients.some((path) => path.needsUtf8);
    const unknown = new Set(
      recipients.map(({ domain }) => domain).filter((domain) => !isKnownToTell(domain)),
    );
    const mail = `MAIL FROM:<${mailFrom}>${needsUtf8 ? ' SMTPUTF8' : ''}`;
    const { connection, pipelines } = this.#session;
    const canaries = [...unknown].map((domain) => this.#canaryCommand(domain));
    if (pipelines) connection.send(mail, ...canaries);
    else connection.send(mail);
    const said = judgeSession(await connection.reply());
    if (said !== 'ready') return said;
    for (const domain of unknown) {
      if (!pipelines) connection.send(this.#canaryCommand(domain));
      this.#learn(domain, judgeReply(await connection.reply()));
    }
    return 'ready';
  }

  async askAll(): Promise<void> {
    const { recipients } = this.#questions;
    const asked = recipients.flatMap((path, place) => (this.#isAsked(path, place) ? [place] : []));
    const { connection, pipelines } = this.#session;
    const commands = asked.map((place) => `RCPT TO:<${recipients[place]?.text ?? ''}>`);
    if (pipelines && commands.length > 0) connection.send(...commands);
    for (const [index, place] of asked.entries()) {
      if (!pipelines) {
        if (this.#isFull) break;
        connection.send(commands[index] ?? '');
      }
      this.#hear(place, judgeReply(await connection.reply()));
    }
  }

  /** Decides what was left open. */
  async settle(): Promise<void> {
    await this.#proveAcceptances();
    await this.#explainRefusals();
  }

  #isAsked({ domain, needsUtf8 }: SmtpPath, place: number): boolean {
    const { onAnswer } = this.#questions;
    if (this.#canaries.get(domain) === 'taken') {
      onAnswer(place, 'catch_all');
      return false;
    }
    if (needsUtf8 && !this.#session.takesUtf8) {
      // RFC 6531 3.2: such a message cannot be sent to this server at all.
      onAnswer(place, 'no_mailbox');
      return false;
    }
    return true;
  }

  #learn(domain: string, finding: Finding): void {
    const canary = canaryOf(finding);
    this.#canaries.set(domain, canary);
    if (canary === 'taken') this.#questions.onShown(domain, 'takes_all');
    // A bare refusal may mean the asker: that the domain tells is not proved by it.
    if (finding === 'no_mailbox') this.#questions.onShown(domain, 'tells');
  }

  #hear(place: number, finding: Finding): void {
    const { onAnswer, recipients } = this.#questions;
    const domain = recipients[place]?.domain ?? '';
    switch (finding) {
      case 'accepted':
        this.#accepting.add(domain);
        if (this.#canaries.get(domain) === 'undetermined') onAnswer(place, 'undetermined');
        else this.#unproved.push(place);
        return;
      case 'refused':
        this.#refused.set(domain, [...(this.#refused.get(domain) ?? []), place]);
        this.#trust();
        return;
      case 'no_mailbox':
        this.#trust();
        onAnswer(place, finding);
        return;
      case 'too_many':
        this.#isFull = true;
        onAnswer(place, finding);
        return;
      default:
        onAnswer(place, finding);
    }
  }

  /** A refusal shows that the server still tells: what it took before is there. */
  #trust(): void {
    for (const place of this.#unproved) this.#questions.onAnswer(place, 'accepted');
    this.#unproved = [];
  }

  async #proveAcceptances(): Promise<void> {
    const last = this.#unproved.at(-1);
    if (last === undefined) return;
    const { onAnswer, onShown, recipients } = this.#questions;
    const domain = recipients[last]?.domain ?? '';
    const { connection } = this.#session;
    connection.send(this.#canaryCommand(domain));
    if (canaryOf(judgeReply(await connection.reply())) === 'taken') {
      for (const place of this.#unproved) onAnswer(place, 'doubtful');
      this.#unproved = [];
      onShown(domain, 'wavers');
      return;
    }
    this.#trust();
  }

  /**
   * A server that refuses without a reason may mean the asker. One that took another name of the domain
   * tells; so does one that takes postmaster, which every domain has (RFC 5321 4.5.1).
   */
  async #explainRefusals(): Promise<void> {
    const { connection } = this.#session;
    for (const [domain, places] of this.#refused) {
      let tells = this.#accepting.has(domain) || this.#questions.isKnownToTell(domain);
      if (!tells) {
        connection.send(`RCPT TO:<postmaster@${domain}>`);
        tells = judgeReply(await connection.reply()) === 'accepted';
      }
      if (tells) this.#questions.onShown(domain, 'tells');
      for (const place of places) {
        this.#questions.onAnswer(place, tells ? 'no_mailbox' : 'not_told');
      }
    }
  }

  #canaryCommand(domain: string): string {
    return `RCPT TO:<${this.#questions.madeUpName()}@${domain}>`;
  }
}

function canaryOf(finding: Finding): Canary {
  switch (finding) {
    case 'accepted':
    case 'full':
      return 'taken';
    case 'no_mailbox':
    case 'refused':
      return 'not_taken';
    default:
      return 'undetermined';
  }
}
