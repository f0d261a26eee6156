import { randomInt } from 'node:crypto';

/** A number from 0 on and below 1 that nobody can foresee. */
export function systemRandom(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
