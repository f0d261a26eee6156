import { TtlCache } from '../dns/ttl-cache.js';

/** What a domain does with names that nobody has: takes them, tells them, or now this, now that. */
type Shown = 'takes_all' | 'tells' | 'wavers';

/** What is remembered of a domain. */
interface Remembered {
  readonly shown?:
    | Shown
    /** It told, and now takes everything: nothing it says of a mailbox can be believed. */
    | 'contradicts';
  readonly refusal?: string;
  readonly witness?: string;
}

const mostDomains = 100_000;

/** What domains do with names that nobody has, and with one that somebody has. */
export class DomainMemory {
  readonly #known: TtlCache<Remembered>;
  readonly #ttlMs: number;

  constructor(options: { readonly ttlMs: number; readonly now: () => number }) {
    this.#known = new TtlCache(mostDomains, options.now);
    this.#ttlMs = options.ttlMs;
  }

  learn(domain: string, shown: Shown): void {
    this.#put(domain, { shown: merged(this.#known.get(domain)?.shown, shown) });
  }

  learnRefusal(domain: string, refusal: string): void {
    this.#put(domain, { refusal });
  }

  learnWitness(domain: string, witness: string): void {
    this.#put(domain, { witness });
  }

  /** Whether a made-up name need not be asked for first. */
  isKnownToTell(domain: string): boolean {
    return this.#known.get(domain)?.shown === 'tells';
  }

  /** What the domain said to a made-up name, as `refusalText` has it. */
  refusalOf(domain: string): string | undefined {
    return this.#known.get(domain)?.refusal;
  }

  /** A mailbox of the domain that was taken: when it is refused now, the server refuses all. */
  witnessOf(domain: string): string | undefined {
    return this.#known.get(domain)?.witness;
  }

  /** What is known of every mailbox of the domain; `undefined`: they have to be asked for. */
  outcome(domain: string): 'catch_all' | 'not_told' | undefined {
    const known = this.#known.get(domain)?.shown;
    if (known === 'takes_all') return 'catch_all';
    return known === 'contradicts' ? 'not_told' : undefined;
  }

  #put(domain: string, news: Remembered): void {
    this.#known.put(domain, { ...this.#known.get(domain), ...news }, this.#ttlMs);
  }
}

function merged(before: Remembered['shown'], shown: Shown): Remembered['shown'] & string {
  if (before === 'contradicts') return before;
  // Some servers take everything from who asked for too many wrong names: that is no catch-all.
  if (shown === 'takes_all' && (before === 'tells' || before === 'wavers')) return 'contradicts';
  return shown;
}
