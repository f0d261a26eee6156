import roleNamesText from './role-names.txt';
import { parseWordList } from './known-domains.js';

/** Local parts that name a function and not a person; role-names.txt has them. */
const roleNames: ReadonlySet<string> = new Set(parseWordList(roleNamesText));

/**
 * Whether a whole local part names a function (`sales`, `no-reply`), not a person or a part of a name. What
 * comes after a plus is a tag of one and the same mailbox (`info+fair`).
 */
export function isRoleName(tagged: string): boolean {
  const plus = tagged.indexOf('+');
  const local = plus > 0 ? tagged.slice(0, plus) : tagged;
  // No name of a function ends with a digit, and those of many people do.
  const last = local.charCodeAt(local.length - 1);
  if (last >= 0x30 && last <= 0x39) return false;
  const name = local.toLowerCase();
  return roleNames.has(name) || roleNames.has(name.replaceAll(/[._-]/g, ''));
}

const hashBits = 16;

function addLetter(hash: number, letter: number): number {
  return Math.imul(hash ^ (letter & 0x1f), 0x9e3779b1);
}

/** By the hash of their letters: where a name of a function may be. */
const mayBe = new Uint8Array(2 ** hashBits);
let longest = 0;
for (const name of roleNames) {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = addLetter(hash, name.charCodeAt(at));
  mayBe[hash >>> (32 - hashBits)] = 1;
  longest = Math.max(longest, name.length);
}

const plus = 0x2b;
const letter = 1;
const separator = 2;

/** What each byte is in a name: those of functions are letters, and what is written between words. */
const kinds = new Uint8Array(256);
for (const byte of Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ')) {
  kinds[byte] = letter;
}
for (const byte of Buffer.from('._-')) kinds[byte] = separator;

/** Whether {@link isRoleName} can say yes of an ASCII name; of a hundred that it says no of, one is let through. */
export function mayBeRoleName(bytes: Uint8Array, begin: number, end: number): boolean {
  let hash = 0;
  let letters = 0;
  for (let at = begin; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const kind = kinds[byte] ?? 0;
    if (byte === plus && at > begin) break;
    if (kind === 0) return false;
    if (kind === letter) {
      hash = addLetter(hash, byte);
      letters += 1;
    }
  }
  return letters <= longest && mayBe[hash >>> (32 - hashBits)] === 1;
}
