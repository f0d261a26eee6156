import { randomBytes } from 'node:crypto';
import { domainToASCII } from 'node:url';
import type { CountryCode } from '../../contract/countries.js';
import { type CellText, invalidText } from '../../lists/rows/chunks/row-chunk.js';
import { AddressTable } from '../../platform/hashing/address-table.js';
import { KeyHash } from '../../platform/hashing/key-hash.js';
import { trimCell } from '../addresses/address.js';
import { emailLine } from '../addresses/email.js';
import { emailsIn, holdsOneAddress } from '../addresses/cell-form.js';
import { planOf } from '../addresses/phone/numbering-plan.js';
import { phoneCountry } from '../addresses/phone/phone-country.js';
import { phoneLine } from '../addresses/phone/phone-line.js';
import { sureNumber } from '../addresses/phone/phone-readings.js';
import { barePhone, phoneDigits } from '../addresses/phone/phone-digits.js';
import type { VerificationType } from '../../contract/enums.js';

/** The kind of a cell in a list of suppressed addresses. */
type SuppressedCell = VerificationType | 'domain' | 'empty' | 'without_country' | 'unread';

/** Kinds of keys in the hashes of addresses: an address is suppressed in every country, national digits are not. */
const kinds = { email: 1, domain: 2, phone: 3, national: 4 };

/** Prefixes of a national number within its country. */
const trunkPrefixes = ['', '0', '8', '1', '06'];

const atSign = 0x40;
/** Characters beside an address that is not alone in its cell, and that no domain contains; also a dot at the end. */
const beside = /[\s<>:;()",]|\.$/;
const besideBytes: ReadonlySet<number> = new Set(Buffer.from('<>:;()'));
const dot = 0x2e;
const fewestDigits = 6;

const label = /^[\p{L}\p{N}_-]+$/u;
const mostOfLabel = 63;
const topLabel = /^(?:xn--[a-z\d-]+|\p{L}\p{L}+)$/iu;

/** The domain in `example.com` or `@example.com`, also internationalised; not a number with points. */
function domainIn(text: string): string | undefined {
  const name = text.startsWith('@') ? text.slice(1) : text;
  const labels = name.split('.');
  const areLabels = labels.every((each) => each.length <= mostOfLabel && label.test(each));
  return labels.length > 1 && areLabels && topLabel.test(labels.at(-1) ?? '') ? name : undefined;
}

/** Whether a cell is the name of a domain, and not an address. */
export function isDomain(cell: CellText): boolean {
  return typeof cell === 'string' && domainIn(trimCell(cell)) !== undefined;
}

/** Addresses and domains that are never sent. Holds only hashes of their normal forms, some tens of bytes each. */
export class Suppressed {
  readonly #country: CountryCode | undefined;
  readonly #hash: KeyHash;
  readonly #table: AddressTable;
  #hasDomains = false;
  #hasNational = false;

  /** @param country country of numbers without a calling code. @default each row's */
  constructor(country: CountryCode | undefined) {
    const seed = randomBytes(32);
    this.#country = country;
    this.#hash = new KeyHash(seed);
    this.#table = new AddressTable({ seed });
  }

  add(cell: CellText): SuppressedCell {
    if (cell === invalidText) return 'unread';
    const text = trimCell(cell ?? '');
    if (text === '') return 'empty';
    if (text.indexOf('@') > 0) return this.#addEmails(text);
    const name = domainIn(text.normalize('NFC'));
    if (name !== undefined) {
      this.#hasDomains = true;
      this.#add('domain', domainToASCII(name) || name.toLowerCase());
      return 'domain';
    }
    if ((text.match(/\d/g)?.length ?? 0) < fewestDigits) return 'unread';
    const ofNumber = phoneCountry(text);
    const country = typeof ofNumber === 'string' ? ofNumber : this.#country;
    if (!country) return this.#addNational(text);
    const number = phoneLine(text, country);
    if ('reason' in number) return 'unread';
    this.#add('phone', number.key);
    return 'phone';
  }

  /** Whether an address or its domain is suppressed, in whatever writing. @param key normalised */
  has(type: VerificationType, key: string): boolean {
    if (this.#has(type, key)) return true;
    if (type === 'phone' || !beside.test(key)) return false;
    return emailsIn(key).some((each) => {
      const email = emailLine(each);
      return 'key' in email && this.#has(type, email.key);
    });
  }

  /**
   * Whether a phone number is suppressed by its national digits in the country of its row.
   *
   * @param key gives the number's key, called where there are such digits
   */
  hasNational(key: () => string, country: CountryCode): boolean {
    return this.#hasNational && this.#isNational(key(), country);
  }

  #isNational(key: string, country: CountryCode): boolean {
    // What is surely not a number is compared by its digits.
    if (key.startsWith('d')) return this.#hasDigits(key.slice(1));
    const code = planOf(country)?.family.callingCode;
    if (code === undefined || !key.startsWith(`+${code}`)) return false;
    const national = key.slice(1 + code.length);
    return trunkPrefixes.some((prefix) => {
      const digits = prefix + national;
      return this.#hasDigits(digits) && sureNumber({ digits }, country) === key;
    });
  }

  #hasDigits(digits: string): boolean {
    this.#hash.hash(kinds.national, digits);
    return this.#isFound();
  }

  #has(type: VerificationType, key: string): boolean {
    this.#hash.hash(kinds[type], key);
    if (this.#isFound()) return true;
    if (type === 'phone' || !this.#hasDomains) return false;
    this.#hash.hash(kinds.domain, key.slice(key.lastIndexOf('@') + 1));
    return this.#isFound();
  }

  /** The same for an ASCII key in bytes. */
  hasBytes(type: VerificationType, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#isIn(kinds[type], bytes, start, end)) return true;
    if (type === 'phone') return false;
    let domainStart = start;
    let isBeside = bytes[end - 1] === dot;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number;
      if (byte === atSign) domainStart = at + 1;
      else if (besideBytes.has(byte)) isBeside = true;
    }
    if (isBeside) return this.has(type, Buffer.from(bytes.subarray(start, end)).toString('latin1'));
    return this.#hasDomains && this.#isIn(kinds.domain, bytes, domainStart, end);
  }

  /** An address with a name, or beside others, is suppressed, too. */
  #addEmails(text: string): SuppressedCell {
    let isRead = false;
    // Nearly all cells hold exactly one address.
    for (const each of holdsOneAddress('email', text) ? [text] : [text, ...emailsIn(text)]) {
      const email = emailLine(each);
      if ('reason' in email || /\s/.test(email.line)) continue;
      this.#add('email', email.key);
      isRead = true;
    }
    return isRead ? 'email' : 'unread';
  }

  #addNational(text: string): SuppressedCell {
    const { digits } = phoneDigits(barePhone(text)) ?? {};
    if (digits === undefined || digits.startsWith('+')) return 'unread';
    this.#hasNational = true;
    this.#add('national', digits);
    return 'without_country';
  }

  #add(kind: keyof typeof kinds, key: string): void {
    this.#table.add(kinds[kind], key);
  }

  #isIn(kind: number, bytes: Uint8Array, start: number, end: number): boolean {
    const room = this.#hash.room(end - start);
    for (let at = start; at < end; at += 1) room[at - start] = bytes[at] as number;
    this.#hash.hashRoom(kind, end - start);
    return this.#isFound();
  }

  #isFound(): boolean {
    return this.#table.findHashed(this.#hash) !== -1;
  }
}
