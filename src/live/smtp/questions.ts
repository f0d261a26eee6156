import type { Finding } from './reply-rules.js';
import type { SmtpPath } from './smtp-path.js';

/** What is asked in one conversation, and who hears of the answers. */
export interface Questions {
  readonly mailFrom: string;
  /** Their domains may differ; their exchanger is one. */
  readonly recipients: readonly SmtpPath[];
  /** What other conversations have shown. */
  readonly memory: DomainKnowledge;
  /** The local part that nobody has in a domain: always the same. */
  readonly madeUpName: (domain: string) => string;
  /** Told of each answer, by the place of its recipient; at most once for each. */
  readonly onAnswer: (place: number, answer: Answer) => void;
}

/** What is remembered of domains, from one conversation to the next. */
export interface DomainKnowledge {
  /** Whether a made-up name need not be asked for first. */
  isKnownToTell(domain: string): boolean;
  /** What the domain said to a made-up name, as {@link refusalText} has it. */
  refusalOf(domain: string): string | undefined;
  /** A mailbox of the domain that was taken: when it is refused now, the server refuses all. */
  witnessOf(domain: string): string | undefined;
  learn(domain: string, shown: Shown): void;
  learnRefusal(domain: string, text: string): void;
  learnWitness(domain: string, mailbox: string): void;
}

/** What a domain does with names that nobody has: takes them, tells them, or now this, now that. */
export type Shown = 'takes_all' | 'tells' | 'wavers';

/**
 * What was found of one recipient. `doubtful`: the server took or refused it, and then showed that it
 * takes or refuses everything. `undetermined`: what its answer means could not be found out.
 */
export type Answer =
  | Exclude<Finding, 'refused' | 'busy'>
  | 'doubtful'
  | 'undetermined'
  | 'catch_all';
