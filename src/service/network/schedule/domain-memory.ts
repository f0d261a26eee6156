import { TtlCache } from '../dns/ttl-cache.js';
import type { Shown } from '../smtp/ask-recipients.js';

/** What is remembered of a domain. */
type Remembered =
  /** It takes mail for any name. */
  | 'takes_all'
  /** It told a name that nobody has. */
  | 'tells'
  /** It told once, and in the same conversation or later it did not: it is asked for one again. */
  | 'wavers'
  /** It told, and now takes everything: nothing it says of a mailbox can be believed. */
  | 'contradicts';

const mostDomains = 100_000;

/** What domains do with names that nobody has. */
export class DomainMemory {
  readonly #known: TtlCache<Remembered>;
  readonly #ttlMs: number;

  constructor(options: { readonly ttlMs: number; readonly now: () => number }) {
    this.#known = new TtlCache(mostDomains, options.now);
    this.#ttlMs = options.ttlMs;
  }

  learn(domain: string, shown: Shown): void {
    const before = this.#known.get(domain);
    this.#known.put(domain, merged(before, shown), this.#ttlMs);
  }

  /** Whether a made-up name need not be asked for first. */
  isKnownToTell(domain: string): boolean {
    return this.#known.get(domain) === 'tells';
  }

  /** What is known of every mailbox of the domain; `undefined`: they have to be asked for. */
  outcome(domain: string): 'catch_all' | 'not_told' | undefined {
    const known = this.#known.get(domain);
    if (known === 'takes_all') return 'catch_all';
    return known === 'contradicts' ? 'not_told' : undefined;
  }
}

function merged(before: Remembered | undefined, shown: Shown): Remembered {
  if (before === 'contradicts') return before;
  // Some servers take everything from who asked for too many wrong names: that is no catch-all.
  if (shown === 'takes_all' && (before === 'tells' || before === 'wavers')) return 'contradicts';
  return shown;
}
