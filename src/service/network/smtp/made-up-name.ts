const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const length = 20;

/**
 * A local part that nobody has.
 *
 * @param random from 0 to below 1
 */
export function madeUpName(random: () => number): string {
  let name = '';
  while (name.length < length) {
    name += letters[Math.floor(random() * letters.length)] ?? 'x';
  }
  return name;
}
