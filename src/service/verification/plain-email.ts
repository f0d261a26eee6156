import { isAscii } from 'node:buffer';
import { atext, maxAddressOctets, maxLocalOctets } from './email-syntax.js';
import type { EmailVerdict } from './engine.js';
import { domainFacts, verdictOn, isRoleName, mayBeRoleName } from './judge-email.js';

/** Size of the table of domains; lists have few, and junk must not fill the memory. */
const placeBits = 13;
const places = 2 ** placeBits;
/** Longer domains are not stored. */
const maxDomainBytes = 48;

const free = 0xff;

/**
 * Remembers a small number for each of some domains, by their bytes. A domain has one slot, and replaces the
 * previous one there: crafted collisions gain nothing.
 */
class DomainTable {
  readonly #names = new Uint8Array(places * maxDomainBytes);
  readonly #lengths = new Uint8Array(places);
  readonly #values = new Uint8Array(places).fill(free);

  /** @param hash of the domain's bytes @returns the number of a domain; `undefined` when missing */
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

/** In place of facts: the address needs the complete rules. */
const unsure = -1;
/** Marks a domain whose addresses need the complete rules. */
const readWhole = 0x80;

const other = 0;
const atom = 1;
const dot = 2;
const atSign = 3;

/** Kinds of bytes in a local part that is a dot-string. */
const kinds = new Uint8Array(256).fill(other);
for (const byte of Buffer.from(atext)) kinds[byte] = atom;
kinds[0x2e] = dot;
kinds[0x40] = atSign;

const domains = new DomainTable();

/** End of the local part of the latest address. */
let localEnd = 0;

/**
 * Reads a plain address: a dot-string, an at sign, and a domain, in ASCII. Nearly every address is one, and
 * takes one pass over its bytes without making text.
 *
 * @returns the facts of its domain; `unsure` for any other address
 */
function readPlain(bytes: Buffer, begin: number, end: number): number {
  if (end - begin > maxAddressOctets) return unsure;
  let at = begin;
  let before = dot;
  let kind = other;
  for (; at < end; at += 1) {
    kind = kinds[bytes[at] ?? 0] ?? other;
    if (kind !== atom) {
      // Each atom has a character, and an atom precedes the at sign.
      if (kind === other || before !== atom) return unsure;
      if (kind === atSign) break;
    }
    before = kind;
  }
  if (kind !== atSign || at - begin > maxLocalOctets) return unsure;
  localEnd = at;
  let hash = 0;
  for (at += 1; at < end; at += 1) hash = ((hash << 5) | (hash >>> 27)) ^ (bytes[at] ?? 0);
  const known = domains.get(bytes, localEnd + 1, end, hash) ?? lookUp(bytes, end, hash);
  return known === readWhole ? unsure : known;
}

function lookUp(bytes: Buffer, end: number, hash: number): number {
  const domain = bytes.subarray(localEnd + 1, end);
  const facts = isAscii(domain) ? domainFacts(domain.toString('latin1')) : undefined;
  domains.set(domain, hash, facts ?? readWhole);
  return facts ?? readWhole;
}

/** Judges an address like `judgeEmail`, if it is plain ASCII compared without case; `undefined` leaves it open. */
export function judgePlainEmail(
  bytes: Buffer,
  begin: number,
  end: number,
): EmailVerdict | undefined {
  const facts = readPlain(bytes, begin, end);
  if (facts === unsure) return undefined;
  return verdictOn(
    facts,
    mayBeRoleName(bytes, begin, localEnd) && isRoleName(bytes.toString('latin1', begin, localEnd)),
  );
}
