import type { Questions } from './questions.js';

interface Refusal {
  readonly place: number;
  /** By words about a mailbox, or without any. */
  readonly finding: 'no_mailbox' | 'disabled' | 'refused';
  readonly text: string;
}

/**
 * The refusals of one conversation, until they are proved. Those before an acceptance came from a server that
 * did not refuse everything; those after the last one are open until an accepted mailbox was repeated.
 */
export class Refusals {
  readonly #questions: Questions;
  readonly #taken = new Set<number>();
  #last: number | undefined;
  #early: Refusal[] = [];
  #late: Refusal[] = [];

  constructor(questions: Questions) {
    this.#questions = questions;
  }

  taken(place: number): void {
    const { memory, recipients } = this.#questions;
    const path = recipients[place];
    // RFC 5321 4.5.1: every domain has it, and many accept mail for it from clients that they refuse otherwise.
    if (path === undefined || path.local.toLowerCase() === 'postmaster') return;
    memory.learnTaken(path.domain, path.text);
    this.#taken.add(place);
    this.#last = place;
    const early = [...this.#early, ...this.#late];
    this.#early = [];
    this.#late = [];
    // Reported at once where nothing more can be learned: a kill would lose it.
    for (const refusal of early) {
      if (refusal.finding === 'refused' && !this.#hasTaken(this.#domainOf(refusal.place)))
        this.#early.push(refusal);
      else this.#answer(refusal, true);
    }
  }

  /** Whether it was accepted, and is a real mailbox. */
  isTaken(place: number): boolean {
    return this.#taken.has(place);
  }

  refused(place: number, finding: Refusal['finding'], text: string): void {
    this.#late.push({ place, finding, text });
  }

  /** The mailbox to repeat; `undefined` when nothing is open, or none was ever accepted. */
  witness(): string | undefined {
    if (this.#late.length === 0) return undefined;
    const { memory, recipients } = this.#questions;
    if (this.#last !== undefined) return recipients[this.#last]?.text;
    for (const { place } of this.#late) {
      const mailbox = memory.takenOf(recipients[place]?.domain ?? '');
      if (mailbox !== undefined) return mailbox;
    }
    return undefined;
  }

  /** Reports all remaining answers. @param witness whether an accepted mailbox is still accepted */
  settle(witness: 'proved' | 'disproved' | 'unproved'): void {
    const { onAnswer } = this.#questions;
    for (const refusal of this.#early) this.#answer(refusal, true);
    for (const refusal of this.#late) {
      if (witness === 'disproved') onAnswer(refusal.place, 'doubtful');
      else this.#answer(refusal, witness === 'proved');
    }
    this.#early = [];
    this.#late = [];
  }

  #answer({ place, finding, text }: Refusal, isProved: boolean): void {
    const { memory, onAnswer } = this.#questions;
    if (finding !== 'refused') {
      onAnswer(place, finding);
      return;
    }
    const domain = this.#domainOf(place);
    const counts = isProved && this.#hasTaken(domain) && memory.refusalOf(domain) === text;
    if (counts) memory.learn(domain, 'refuses');
    onAnswer(place, counts ? 'no_mailbox' : 'undetermined');
  }

  /** Whether a mailbox of the domain was accepted, now or before. */
  #hasTaken(domain: string): boolean {
    const { memory } = this.#questions;
    if (memory.witnessOf(domain) !== undefined) return true;
    return [...this.#taken].some((place) => this.#domainOf(place) === domain);
  }

  #domainOf(place: number): string {
    return this.#questions.recipients[place]?.domain ?? '';
  }
}
