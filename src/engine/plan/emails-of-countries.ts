import type { LineBytes } from './batch-cutter.js';

/** Most emails that are remembered: of more, an even sample is counted. */
const mostKept = 16_384;
const several = -1;

/**
 * Counts emails that are sent for several countries, and paid for once in each. The hashes of addresses
 * contain their group, so these do not compare across countries.
 */
export class EmailsOfCountries {
  /** By hash: the number of its first group, or {@link several}. */
  readonly #groups = new Map<number, number>();
  /** Emails whose hash has one of these bits are not counted. */
  #mask = 0;
  #several = 0;

  /** @param line as it is sent, once for each group */
  add(group: number, line: string | LineBytes): void {
    const text = typeof line === 'string' ? line.toLowerCase() : undefined;
    const sampled = hashOf(text ?? line, 0x81_1c_9d_c5);
    if ((sampled & this.#mask) !== 0) return;
    // Two hashes of 32 bits: two emails hardly ever share both.
    const hash = (hashOf(text ?? line, 0x1b_87_35_93) >>> 11) * 0x1_0000_0000 + sampled;
    if (!this.#groups.has(hash)) {
      this.#groups.set(hash, group);
      if (this.#groups.size > mostKept) this.#thin();
    } else if (this.#groups.get(hash) !== several) {
      this.#groups.set(hash, several);
      this.#several += 1;
    }
  }

  /** How many; of very many emails about as many. */
  get count(): number {
    return this.#several * (this.#mask + 1);
  }

  #thin(): void {
    this.#mask = this.#mask * 2 + 1;
    for (const [hash, group] of this.#groups) {
      if ((hash & this.#mask) === 0) continue;
      this.#groups.delete(hash);
      if (group === several) this.#several -= 1;
    }
  }
}

/** An FNV-1a hash without the case of bytes, of which the low bits are mixed. */
function hashOf(line: string | LineBytes, seed: number): number {
  const end = typeof line === 'string' ? line.length : line.end;
  let hash = seed;
  for (let at = typeof line === 'string' ? 0 : line.start; at < end; at += 1) {
    const unit =
      typeof line === 'string' ? line.charCodeAt(at) : lowerCase(line.bytes[at] as number);
    hash = Math.imul(hash ^ unit, 0x01_00_01_93);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45_d9_f3_b5);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}
