import { TtlCache } from '../schedule/timed.js';

/** A domain's behaviour towards made-up names: accepts, refuses, or alternates. */
type Shown = 'accepts_all' | 'refuses' | 'varies';

interface Remembered {
  readonly shown?:
    | Shown
    /** It refused before, and now accepts everything: none of its answers can be believed. */
    | 'contradicts'
    | undefined;
  readonly refusal?: string | undefined;
  readonly witness?: string | undefined;
  /** A mailbox that was accepted, whether or not that is proved. */
  readonly taken?: string | undefined;
  /** How often it accepted a made-up name in the conversation in which it had refused it. */
  readonly wavered?: number | undefined;
  /** How often its made-up name was put off, and until when it is not asked for again. */
  readonly putOff?: { readonly times: number; readonly untilMs: number } | undefined;
  /** A made-up name was refused after this many recipients, and this many were accepted since. */
  readonly proof?: { readonly recipients: number; readonly taken: number } | undefined;
}

/** A domain that alternates this often, with ever fewer recipients, shows nothing. */
const mostWavering = 8;
/** A made-up name that is put off this often is not asked for again. */
const mostPutOff = 9;
/** Most acceptances that rest on one made-up name. */
const mostTakenAProof = 30;

const mostDomains = 100_000;

/** Remembers domains' behaviour towards made-up names, and an accepted mailbox of each. */
export class DomainCache {
  readonly #known: TtlCache<Remembered>;
  readonly #ttlMs: number;
  readonly #putOffMs: number;
  readonly #now: () => number;

  /** @param options.putOffMs how long a made-up name that was put off is not asked for */
  constructor(options: {
    readonly ttlMs: number;
    readonly putOffMs: number;
    readonly now: () => number;
  }) {
    this.#known = new TtlCache(mostDomains, options.now);
    this.#ttlMs = options.ttlMs;
    this.#putOffMs = options.putOffMs;
    this.#now = options.now;
  }

  learn(domain: string, shown: Shown): void {
    const known = this.#known.get(domain);
    const wavered = (known?.wavered ?? 0) + (shown === 'varies' ? 1 : 0);
    const isHopeless = wavered >= mostWavering;
    this.#put(domain, {
      shown: isHopeless ? 'contradicts' : merged(known?.shown, shown),
      wavered,
    });
  }

  /** The domain refused a made-up name after this many recipients of a conversation. */
  learnProof(domain: string, recipients: number): void {
    const most = Math.max(recipients, this.#known.get(domain)?.proof?.recipients ?? 0);
    this.#put(domain, { proof: { recipients: most, taken: 0 } });
  }

  /** The domain refused somebody: after wrong names, some servers accept everything. */
  forgetProof(domain: string): void {
    if (this.#known.get(domain)?.proof) this.#put(domain, { proof: undefined });
  }

  /**
   * Whether an earlier made-up name proves acceptances: in a conversation that is no longer, without a wrong
   * name since, and not too many. Counts them, if so.
   */
  provesTaken(
    domain: string,
    { recipients, taken }: { recipients: number; taken: number },
  ): boolean {
    const proof = this.#known.get(domain)?.proof;
    if (!proof || recipients > proof.recipients) return false;
    if (proof.taken + taken > mostTakenAProof) return false;
    this.#put(domain, { proof: { ...proof, taken: proof.taken + taken } });
    return true;
  }

  learnPutOff(domain: string): void {
    const times = (this.#known.get(domain)?.putOff?.times ?? 0) + 1;
    this.#put(domain, { putOff: { times, untilMs: this.#now() + this.#putOffMs } });
  }

  /** Whether its made-up name would be put off again. */
  isPutOff(domain: string): boolean {
    const putOff = this.#known.get(domain)?.putOff;
    return putOff !== undefined && (putOff.times >= mostPutOff || putOff.untilMs > this.#now());
  }

  learnRefusal(domain: string, refusal: string): void {
    this.#put(domain, { refusal });
  }

  learnWitness(domain: string, witness: string): void {
    this.#put(domain, { witness });
  }

  /** The mailbox was accepted; conversations beside this one need it before this one ends. */
  learnTaken(domain: string, taken: string): void {
    this.#put(domain, { taken });
  }

  /** A mailbox to repeat: when it is refused now, the server refuses all. */
  takenOf(domain: string): string | undefined {
    const known = this.#known.get(domain);
    return known?.witness ?? known?.taken;
  }

  /** Whether no made-up name is needed first. */
  hasMailboxVerdicts(domain: string): boolean {
    const known = this.#known.get(domain);
    // A bare refusal is enough: later acceptances are proved anyway.
    return (
      known?.shown === 'refuses' || (known?.shown === undefined && known?.refusal !== undefined)
    );
  }

  /** The domain's answer to a made-up name, as by `refusalText`. */
  refusalOf(domain: string): string | undefined {
    return this.#known.get(domain)?.refusal;
  }

  /** A mailbox of the domain whose acceptance is proved. */
  witnessOf(domain: string): string | undefined {
    return this.#known.get(domain)?.witness;
  }

  /** The outcome of every mailbox of the domain; `undefined` where each must be asked for. */
  outcome(domain: string): 'catch_all' | 'not_told' | undefined {
    const known = this.#known.get(domain)?.shown;
    if (known === 'accepts_all') return 'catch_all';
    return known === 'contradicts' ? 'not_told' : undefined;
  }

  #put(domain: string, facts: Remembered): void {
    this.#known.put(domain, { ...this.#known.get(domain), ...facts }, this.#ttlMs);
  }
}

function merged(before: Remembered['shown'], shown: Shown): Remembered['shown'] & string {
  if (before === 'contradicts') return before;
  // Some servers accept everything after too many wrong names: that is not a catch-all.
  if (shown === 'accepts_all' && (before === 'refuses' || before === 'varies'))
    return 'contradicts';
  return shown;
}
