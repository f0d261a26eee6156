import { domainToASCII } from 'node:url';

/** Whether a text is ASCII: then its length is its octets, and it has one normal form. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) > 0x7f) return false;
  }
  return true;
}

/** Most remembered answers; lists have few domains, and junk must not fill the memory. */
const mostKept = 8192;

export function remember<Answer>(answer: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, Answer>();
  return (text) => {
    const kept = known.get(text);
    if (kept !== undefined || known.has(text)) return kept as Answer;
    const found = answer(text);
    if (known.size >= mostKept) known.clear();
    known.set(text, found);
    return found;
  };
}

interface Mailbox {
  /** Local part, quotes included. */
  readonly local: string;
  /** Domain in lower case and ASCII (A-labels), of two labels or more. */
  readonly domain: string;
}

/** RFC 5321 4.5.3.1.1: octets of a local part. */
export const maxLocalOctets = 64;
/** RFC 5321 4.5.3.1.2: octets of a domain. */
const maxDomainOctets = 255;
/** RFC 5321 4.5.3.1.3: a path has 256 octets, including its angle brackets. */
export const maxAddressOctets = 254;
/** RFC 1035 2.3.4: octets of a label. */
const maxLabelOctets = 63;

const atSign = 0x40;
const backslash = 0x5c;
const dot = 0x2e;
const hyphen = 0x2d;
const quote = 0x22;

/** RFC 5322 3.2.3: atext. */
export const atext =
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~";
const isAtext = asciiTable(atext);
/** RFC 5321 4.1.2: Let-dig, and the hyphen of Ldh-str. */
const isLetterDigitHyphen = asciiTable(
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-',
);

function asciiTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/**
 * Parses an email address by the `Mailbox` grammar of RFC 5321 4.1.2 with RFC 6531 3.3, in one pass and
 * without regular expressions. Domains of one label and address literals are legal there and refused here: no
 * internet mail reaches them, and clients do not send them.
 *
 * @returns `undefined` for an invalid mailbox
 */
export function parseMailbox(address: string): Mailbox | undefined {
  // A UTF-16 unit is at least one octet: longer text need not be read.
  if (address.length > maxAddressOctets) return undefined;
  const end =
    address.charCodeAt(0) === quote ? endOfQuotedString(address) : endOfDotString(address);
  if (end < 1 || address.charCodeAt(end) !== atSign) return undefined;
  const local = address.slice(0, end);
  if (octets(local) > maxLocalOctets || octets(address) > maxAddressOctets) return undefined;
  const domain = readDomain(address.slice(end + 1));
  return domain === undefined ? undefined : { local, domain };
}

/** Dot-string = Atom *("." Atom); returns its end, or -1. */
function endOfDotString(text: string): number {
  let atomBegins = true;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === dot) {
      if (atomBegins) return -1;
      atomBegins = true;
    } else if (unit === atSign) {
      return atomBegins ? -1 : at;
    } else if (unit < 128 ? isAtext[unit] === 1 : isUtf8NonAscii(text, at)) {
      atomBegins = false;
    } else {
      return -1;
    }
  }
  return -1;
}

/** Quoted-string = DQUOTE *(qtextSMTP / quoted-pairSMTP) DQUOTE; returns its end, or -1. */
function endOfQuotedString(text: string): number {
  for (let at = 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) return at + 1;
    if (unit === backslash) {
      // quoted-pairSMTP: a backslash and one printable ASCII character or space.
      at += 1;
      const escaped = text.charCodeAt(at);
      if (!(escaped >= 0x20 && escaped <= 0x7e)) return -1;
    } else if (unit < 128 ? unit < 0x20 || unit === 0x7f : !isUtf8NonAscii(text, at)) {
      return -1;
    }
  }
  return -1;
}

/** RFC 6531 3.3: UTF8-non-ascii; C1 controls, line separators and lone surrogates are not text. */
function isUtf8NonAscii(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < 0xa0 || unit === 0x2028 || unit === 0x2029 || unit === 0xfeff) return false;
  if (unit < 0xd800 || unit > 0xdfff) return true;
  return unit < 0xdc00
    ? isLowSurrogate(text.charCodeAt(at + 1))
    : isHighSurrogate(text.charCodeAt(at - 1));
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The domain of a {@link Mailbox}. @param text after the at sign @returns `undefined` for an invalid domain */
export const readDomain = remember((text: string): string | undefined => {
  const labels = readLabels(text);
  if (labels === undefined) return undefined;
  if (labels.plain) return labels.unfit ? undefined : text.toLowerCase();
  // U-labels, and A-labels that must decode (RFC 5890 2.3.2.1): lengths count as A-labels.
  const ascii = domainToASCII(text);
  if (ascii === '' || ascii.length > maxDomainOctets) return undefined;
  const converted = readLabels(ascii);
  return converted === undefined || converted.unfit ? undefined : ascii;
});

/**
 * Domain = sub-domain *("." sub-domain), sub-domain = Let-dig [Ldh-str]. Unfit are domains of one label, and
 * overlong names or labels; international ones are checked in ASCII.
 */
function readLabels(text: string): { plain: boolean; unfit: boolean } | undefined {
  let plain = !/xn--/i.test(text);
  let unfit = text.length > maxDomainOctets || !text.includes('.');
  let begin = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const unit = at === text.length ? dot : text.charCodeAt(at);
    if (unit === dot) {
      if (at === begin) return undefined;
      if (text.charCodeAt(begin) === hyphen || text.charCodeAt(at - 1) === hyphen) return undefined;
      if (at - begin > maxLabelOctets) unfit = true;
      begin = at + 1;
    } else if (unit >= 128) {
      plain = false;
    } else if (isLetterDigitHyphen[unit] !== 1) {
      return undefined;
    }
  }
  return { plain, unfit };
}

/** One label and address literals are legal in RFC 5321, but no internet mail reaches them. */
export function isOfInternet(domain: string): boolean {
  return domain.includes('.') && !domain.startsWith('[');
}

function octets(text: string): number {
  return isAscii(text) ? text.length : Buffer.byteLength(text, 'utf8');
}
