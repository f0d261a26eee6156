/** Domains in the table at most; lists name few, and junk in one must not fill the memory. */
const placeBits = 13;
const places = 2 ** placeBits;
/** Longer domains have no place. */
const maxDomainBytes = 48;

const free = 0xff;

/**
 * Remembers a small number for each of some domains, found by their bytes as they stand. A domain has
 * one place, and takes it from the one before: whoever makes up domains that meet there gains nothing.
 */
export class DomainTable {
  readonly #names = new Uint8Array(places * maxDomainBytes);
  readonly #lengths = new Uint8Array(places);
  readonly #values = new Uint8Array(places).fill(free);

  /**
   * @param hash of the domain's bytes
   * @returns the number of a domain; `undefined` when it is not there
   */
  get(bytes: Uint8Array, begin: number, end: number, hash: number): number | undefined {
    const place = placeOf(hash);
    const value = this.#values[place];
    const length = end - begin;
    if (value === free || this.#lengths[place] !== length) return undefined;
    const names = this.#names;
    const from = place * maxDomainBytes - begin;
    for (let at = begin; at < end; at += 1) {
      if (names[from + at] !== bytes[at]) return undefined;
    }
    return value;
  }

  /** @param value below 255 */
  set(domain: Uint8Array, hash: number, value: number): void {
    if (domain.length > maxDomainBytes) return;
    const place = placeOf(hash);
    this.#names.set(domain, place * maxDomainBytes);
    this.#lengths[place] = domain.length;
    this.#values[place] = value;
  }
}

function placeOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> (32 - placeBits);
}
