import { judgeReply, judgeSession, type Finding } from './reply-rules.js';
import type { NoSession, Session } from './open-session.js';
import type { Questions, SmtpPath } from './questions.js';
import { Refusals } from './refusals.js';
import type { Reply } from './reply-reader.js';
import { refusalText } from './reply-subjects.js';

/** How a conversation ended; recipients without an answer were not reached. */
type SessionOutcome = 'asked' | NoSession;

/**
 * Asks a server about recipients without sending a message. For an unknown domain a made-up name comes first:
 * where that is accepted, so is everything. It is repeated after the last acceptance, and an accepted mailbox
 * after the last refusal, as some servers accept or refuse everything after some wrong names.
 *
 * @throws SmtpFailure when the connection breaks; earlier answers stand
 */
export async function checkRecipients(
  session: Session,
  questions: Questions,
): Promise<SessionOutcome> {
  const conversation = new Conversation(session, questions);
  const begun = await conversation.begin();
  if (begun !== 'ready') return begun;
  try {
    await conversation.askAll();
    await conversation.settle();
  } finally {
    conversation.leave();
  }
  return 'asked';
}

type Canary = 'taken' | 'not_taken' | 'undetermined';
const putOff = { canary: 'undetermined', finding: 'temporary' } as const;

class Conversation {
  readonly #session: Session;
  readonly #questions: Questions;
  readonly #canaries = new Map<string, { readonly canary: Canary; readonly finding: Finding }>();
  /** Acceptances since a refusal last showed that the server distinguishes mailboxes. */
  #unproved: number[] = [];
  readonly #refusals: Refusals;
  #isFull = false;

  constructor(session: Session, questions: Questions) {
    this.#session = session;
    this.#questions = questions;
    this.#refusals = new Refusals(questions);
  }

  /** Sends MAIL FROM, and asks for a made-up name in every unknown domain. */
  async begin(): Promise<'ready' | NoSession> {
    const { mailFrom, recipients, memory } = this.#questions;
    const needsUtf8 = this.#session.takesUtf8 && recipients.some((path) => path.needsUtf8);
    const unknown = new Set<string>();
    for (const { domain } of recipients) {
      if (memory.hasMailboxVerdicts(domain)) continue;
      if (memory.isPutOff(domain)) this.#canaries.set(domain, putOff);
      else unknown.add(domain);
    }
    const mail = `MAIL FROM:<${mailFrom}>${needsUtf8 ? ' SMTPUTF8' : ''}`;
    const { connection, pipelines } = this.#session;
    const canaries = [...unknown].map((domain) => this.#canaryCommand(domain));
    if (pipelines) connection.send(mail, ...canaries);
    else connection.send(mail);
    const judged = judgeSession(await connection.reply());
    if (judged !== 'ready') return judged;
    for (const domain of unknown) {
      if (!pipelines) connection.send(this.#canaryCommand(domain));
      const reply = await connection.reply();
      // The server closes the connection (RFC 5321 3.8).
      if (reply.code === 421) return 'temporary';
      this.#learn(domain, reply);
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
      this.#take(place, await connection.reply());
    }
  }

  /** Decides open answers. */
  async settle(): Promise<void> {
    await this.#proveAcceptances();
    await this.#proveRefusals();
  }

  /** A broken conversation proves nothing more: explicit answers still count. */
  leave(): void {
    this.#refusals.settle('unproved');
  }

  #isAsked({ domain, needsUtf8 }: SmtpPath, place: number): boolean {
    const { onAnswer } = this.#questions;
    if (this.#canaries.get(domain)?.canary === 'taken') {
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

  #learn(domain: string, reply: Reply): void {
    const { madeUpName, memory } = this.#questions;
    const finding = this.#judge(reply);
    const canary = canaryOf(reply, finding);
    this.#canaries.set(domain, { canary, finding });
    if (finding === 'temporary') memory.learnPutOff(domain);
    if (canary === 'taken') memory.learn(domain, 'accepts_all');
    if (canary === 'not_taken') memory.learnRefusal(domain, refusalText(reply, madeUpName(domain)));
    // A bare refusal may concern the client: it does not prove that the domain distinguishes mailboxes.
    if (finding === 'no_mailbox') memory.learn(domain, 'refuses');
  }

  #take(place: number, reply: Reply): void {
    const { memory, onAnswer, recipients } = this.#questions;
    const path = recipients[place];
    if (path === undefined) return;
    const known = this.#canaries.get(path.domain);
    const finding = this.#judge(reply);
    switch (finding) {
      case 'accepted':
        // Such a provider needs no made-up name: it may refuse that one, and no other.
        if (this.#session.provider?.takesAll === true) {
          onAnswer(place, 'catch_all');
          return;
        }
        this.#refusals.taken(place);
        if (known?.canary === 'undetermined') onAnswer(place, 'undetermined');
        else this.#unproved.push(place);
        return;
      case 'full':
      case 'busy':
        // An answer that a made-up name gets, too, says nothing.
        if (known?.finding === finding) onAnswer(place, 'not_told');
        else if (finding === 'full') onAnswer(place, finding);
        else this.#unproved.push(place);
        return;
      case 'refused':
      case 'no_mailbox':
      case 'disabled':
        this.#trust();
        memory.forgetProof(path.domain);
        this.#refusals.refused(place, finding, refusalText(reply, path.local));
        return;
      case 'too_many':
        this.#isFull = true;
        onAnswer(place, finding);
        return;
      default:
        onAnswer(place, finding);
    }
  }

  /** A refusal shows that the server still distinguishes mailboxes: earlier acceptances are real. */
  #trust(): void {
    const { memory, onAnswer, recipients } = this.#questions;
    for (const place of this.#unproved) {
      const path = recipients[place];
      if (path && this.#refusals.isTaken(place)) memory.learnWitness(path.domain, path.text);
      onAnswer(place, 'accepted');
    }
    this.#unproved = [];
  }

  async #proveAcceptances(): Promise<void> {
    const last = this.#unproved.at(-1);
    if (last === undefined) return;
    const { onAnswer, memory, recipients } = this.#questions;
    const domain = recipients[last]?.domain ?? '';
    const isOfOne = this.#unproved.every((place) => recipients[place]?.domain === domain);
    const load = { recipients: recipients.length, taken: this.#unproved.length };
    if (isOfOne && memory.provesTaken(domain, load)) {
      this.#trust();
      return;
    }
    const { connection } = this.#session;
    connection.send(this.#canaryCommand(domain));
    const reply = await connection.reply();
    if (canaryOf(reply, this.#judge(reply)) === 'taken') {
      for (const place of this.#unproved) onAnswer(place, 'doubtful');
      this.#unproved = [];
      memory.learn(domain, 'varies');
      return;
    }
    memory.learnProof(domain, recipients.length);
    this.#trust();
  }

  /** Repeats an accepted mailbox: a server that now refuses it refuses everything. */
  async #proveRefusals(): Promise<void> {
    const witness = this.#refusals.witness();
    if (witness === undefined) {
      this.#refusals.settle('unproved');
      return;
    }
    const { connection } = this.#session;
    connection.send(`RCPT TO:<${witness}>`);
    const { code } = await connection.reply();
    const kind = Math.floor(code / 100);
    this.#refusals.settle(kind === 2 ? 'proved' : kind === 5 ? 'disproved' : 'unproved');
  }

  #judge(reply: Reply): Finding {
    return judgeReply(reply, this.#session.provider);
  }

  #canaryCommand(domain: string): string {
    return `RCPT TO:<${this.#questions.madeUpName(domain)}@${domain}>`;
  }
}

/** Whatever the reason: a server that permanently refuses a made-up name does not accept everything. */
function canaryOf({ code }: Reply, finding: Finding): Canary {
  if (finding === 'accepted') return 'taken';
  return code >= 500 && finding !== 'too_many' ? 'not_taken' : 'undetermined';
}
