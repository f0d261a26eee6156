import { randomBytes } from 'node:crypto';
import { domainToASCII } from 'node:url';
import type { CountryCode } from '../../contract/countries.js';
import { type CellText, invalidText } from '../../lists/rows/chunks/row-chunk.js';
import { AddressTable } from '../../platform/hashing/address-table.js';
import { KeyHash } from '../../platform/hashing/key-hash.js';
import { trimCell } from '../addresses/address.js';
import { emailLine } from '../addresses/email.js';
import { emailsIn, holdsOneAddress } from '../addresses/cell-form.js';
import { familyOf, planOf } from '../addresses/phone/numbering-plan.js';
import { anyCountry, phoneCountry } from '../addresses/phone/phone-country.js';
import { phoneLine } from '../addresses/phone/phone-line.js';
import { isOneNumber, sureNumber } from '../addresses/phone/phone-readings.js';
import { barePhone, numbersIn, phoneDigits } from '../addresses/phone/phone-digits.js';
import type { VerificationType } from '../../contract/enums.js';

type SuppressedCell = VerificationType | 'domain' | 'empty' | 'without_country' | 'unread';

/**
 * Kinds of keys in the hashes of addresses. Digits without a calling code are those of a number in any country
 * (`national`), or, where the number is known, only the same digits in another cell (`written`).
 */
const kinds = { email: 1, domain: 2, phone: 3, national: 4, written: 5 };

const trunkPrefixes = ['', '0', '8', '1', '06'];

const atSign = 0x40;
/** Characters beside an address that is not alone in its cell, and that no domain contains; also a dot at the end. */
const beside = /[\s<>:;()",]|\.$/;
const besideBytes: ReadonlySet<number> = new Set(Buffer.from('<>:;()'));
const dot = 0x2e;
const fewestDigits = 6;

/** A hash of an address (MD5, SHA-1, SHA-256) is none: numbers that it seems to hold are nobody's. */
const hashed = /^[a-f\d]{32,128}$/i;

/** What nobody sees in a cell. */
const invisible = /\p{Cf}/gu;

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

export function isDomain(cell: CellText): boolean {
  return typeof cell === 'string' && domainIn(trimCell(cell)) !== undefined;
}

/** Addresses and domains that are never sent. Holds only hashes of their normal forms, some tens of bytes each. */
export class Suppressed {
  /** The lists that were added, and how many of their cells. */
  readonly lists: string[] = [];
  cells = 0;
  /** Whether a cell of them is one of a phone number. */
  hasPhones = false;
  readonly #country: CountryCode | undefined;
  readonly #hash: KeyHash;
  readonly #table: AddressTable;
  #hasDomains = false;
  #hasNational = false;

  /** @param country of most rows: a number without a calling code may be one of it. @default none */
  constructor(country: CountryCode | undefined) {
    const seed = randomBytes(32);
    this.#country = country;
    this.#hash = new KeyHash(seed);
    this.#table = new AddressTable({ seed });
  }

  /** @param country of the entry, as its list says: of its number, if that has no calling code */
  add(cell: CellText, country?: CountryCode): SuppressedCell {
    if (cell === invalidText) return 'unread';
    const text = trimCell(cell ?? '');
    if (text === '') return 'empty';
    if (hashed.test(text) && /[a-f]/i.test(text)) return 'unread';
    if (text.indexOf('@') > 0) return this.#addEmails(text);
    const name = domainIn(text.normalize('NFC'));
    if (name !== undefined) {
      this.#hasDomains = true;
      this.#add('domain', domainToASCII(name) || name.toLowerCase());
      return 'domain';
    }
    return this.#addPhones(barePhone(text).normalize('NFC'), country);
  }

  /** Whether an email or its domain is suppressed, in whatever writing. @param key normalised */
  hasEmail(key: string): boolean {
    return this.#isEmail(key) || (beside.test(key) && this.#hasEmailIn(key));
  }

  #hasEmailIn(text: string): boolean {
    return emailsIn(text).some((each) => {
      const email = emailLine(each);
      return 'key' in email && this.#isEmail(email.key);
    });
  }

  /**
   * Whether a phone number is suppressed, as it is read or written, or beside text.
   *
   * @param digits of the cell; `undefined` where it is a text
   */
  hasPhone(key: string, digits: string | undefined, country: CountryCode): boolean {
    if (!this.hasPhones) return false;
    if (this.#isIn('phone', key)) return true;
    if (digits === undefined) {
      return numbersIn(key.slice(1)).some((each) => this.#hasOnePhone(each, country));
    }
    // Digits that are the same but for a lost plus sign.
    const written = digits.replace('+', '');
    const whole = key.slice(1);
    return (
      this.#isWritten(written) ||
      (whole !== written && this.#isWritten(whole)) ||
      this.#isNational(key, country) ||
      (key !== `+${written}` && this.#isNational(`+${written}`, country))
    );
  }

  /**
   * Whether a cell holds a suppressed address, also one that is not sent.
   *
   * @param country of the row's phone numbers. @default none: by their calling codes
   */
  hasIn(type: VerificationType, cell: string, country: CountryCode = anyCountry): boolean {
    if (type === 'phone') return this.hasPhones && this.#hasPhoneIn(cell, country);
    const email = emailLine(cell);
    if ('key' in email) return this.hasEmail(email.key);
    return this.#hasEmailIn(cell.replaceAll(invisible, ''));
  }

  #hasPhoneIn(cell: string, country: CountryCode): boolean {
    const isSent = 'key' in phoneLine(cell, country);
    return (isSent ? [cell] : numbersIn(cell)).some((each) => this.#hasOnePhone(each, country));
  }

  #hasOnePhone(cell: string, country: CountryCode): boolean {
    const phone = phoneLine(cell, country);
    if ('reason' in phone) return false;
    return this.hasPhone(phone.key, phoneDigits(barePhone(trimCell(cell)))?.digits, country);
  }

  #isWritten(digits: string): boolean {
    return (
      this.#isIn('phone', `+${digits}`) ||
      this.#isIn('written', digits) ||
      (this.#hasNational && this.#isIn('national', digits))
    );
  }

  /** Whether a number in E.164 is suppressed by national digits of whatever country. */
  #isNational(key: string, country: CountryCode): boolean {
    if (!this.#hasNational || !key.startsWith('+')) return false;
    const family = familyOf(key.slice(1));
    if (!family) return false;
    const national = key.slice(1 + family.callingCode.length);
    return trunkPrefixes.some((prefix) => {
      const digits = prefix + national;
      if (!this.#isIn('national', digits)) return false;
      const home = planOf(country)?.family === family ? country : phoneCountry(key);
      return typeof home === 'string' && sureNumber({ digits }, home) === key;
    });
  }

  #isEmail(key: string): boolean {
    if (this.#isIn('email', key)) return true;
    return this.#hasDomains && this.#isIn('domain', key.slice(key.lastIndexOf('@') + 1));
  }

  /** The same as {@link Suppressed.hasEmail} for an ASCII key in bytes. */
  hasEmailBytes(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#areBytesIn('email', bytes, start, end)) return true;
    let domainStart = start;
    let isBeside = bytes[end - 1] === dot;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number;
      if (byte === atSign) domainStart = at + 1;
      else if (besideBytes.has(byte)) isBeside = true;
    }
    if (isBeside) return this.hasEmail(Buffer.from(bytes.subarray(start, end)).toString('latin1'));
    return this.#hasDomains && this.#areBytesIn('domain', bytes, domainStart, end);
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

  /** What is no number is suppressed as the same text, with the numbers in it. */
  #addPhones(text: string, country: CountryCode | undefined): SuppressedCell {
    const count = text.match(/\p{Nd}/gu)?.length ?? 0;
    if (count === 0) return 'unread';
    this.hasPhones = true;
    let found: SuppressedCell = 'unread';
    if (phoneDigits(text)) found = this.#addNumber(text, country);
    else {
      this.#add('phone', `t${text}`);
      for (const each of numbersIn(text)) found = this.#addNumber(each, country);
    }
    return count < fewestDigits ? 'unread' : found;
  }

  #addNumber(text: string, ofEntry: CountryCode | undefined): SuppressedCell {
    const found = phoneDigits(text);
    if (!found) return 'unread';
    const ofNumber = phoneCountry(text);
    const hasPlus = found.digits.startsWith('+');
    const digits = hasPlus ? found.digits.slice(1) : found.digits;
    const abroad = typeof ofNumber === 'string' ? ofNumber : hasPlus ? anyCountry : undefined;
    const home = abroad ?? ofEntry;
    const number = home && sureNumber(found, home);
    if (number !== undefined) {
      this.#add('phone', number);
      if (abroad) return 'phone';
      if (isOneNumber(number)) {
        this.#add('written', digits);
        return 'phone';
      }
    }
    this.#hasNational = true;
    this.#add('national', digits);
    const ofRun = this.#country && sureNumber(found, this.#country);
    if (this.#country && ofRun !== undefined && !this.#isNational(ofRun, this.#country)) {
      this.#add('phone', ofRun);
    }
    return home ? 'phone' : 'without_country';
  }

  #add(kind: keyof typeof kinds, key: string): void {
    this.#table.add(kinds[kind], key);
  }

  #isIn(kind: keyof typeof kinds, key: string): boolean {
    this.#hash.hash(kinds[kind], key);
    return this.#isFound();
  }

  #areBytesIn(kind: keyof typeof kinds, bytes: Uint8Array, start: number, end: number): boolean {
    const room = this.#hash.room(end - start);
    for (let at = start; at < end; at += 1) room[at - start] = bytes[at] as number;
    this.#hash.hashRoom(kinds[kind], end - start);
    return this.#isFound();
  }

  #isFound(): boolean {
    return this.#table.findHashed(this.#hash) !== -1;
  }
}
