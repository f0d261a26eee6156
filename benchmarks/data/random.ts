/** A generator of pseudo-random numbers (mulberry32): the same seed gives the same numbers anywhere. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    return mix(this.#state) / 0x1_0000_0000;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }
}

/** Spreads a 32-bit number over all 32-bit numbers. */
export function mix(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 15), number | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}
