/** How `@` may be written in a text that a service sends. */
const ats = ['@', '\uff20', '\ufe6b', '%40', '&#64;', '&#x40;', '&commat;', '\\u0040'];
const atStarts = new Set(ats.map((at) => at.charAt(0)));
/** What ends an address; other characters may be a part of it. */
const ends = /[\s,;<>()[\]{}"`|]/;
/** Numbers that are surely no phone numbers, of a fixed length: identifiers and dates. */
const spared = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\d{4}-\d{2}-\d{2})/i;

const fewestDigits = 7;
/** Between two digits of a number there are no more signs than that, as in `) - `. */
const mostSigns = 3;
const sign = /[\s().+/\-\u2010-\u2015]/;

/**
 * Takes what looks like an email address or a phone number out of a text. A service may repeat the cells
 * that it was sent, and what it says ends in logs.
 */
export function hideContacts(text: string): string {
  return hideAddresses(text)
    .split(spared)
    .map((part, at) => (at % 2 === 1 ? part : hideNumbers(part)))
    .join('');
}

function hideAddresses(text: string): string {
  let hidden = '';
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (!atStarts.has(text.charAt(at))) continue;
    const mark = ats.find((each) => text.startsWith(each, at));
    if (mark === undefined) continue;
    const from = startOfLocal(text, at, done);
    let to = at + mark.length;
    // A literal for a domain is in brackets.
    if (text.charAt(to) === '[') to += 1;
    while (to < text.length && !ends.test(text.charAt(to))) to += 1;
    if (to - from === mark.length) continue;
    hidden += `${text.slice(done, from)}<address>`;
    done = to;
    at = to - 1;
  }
  return hidden + text.slice(done);
}

/** Where the part in front of an `@` begins: with quotes around it, it may hold anything. */
function startOfLocal(text: string, at: number, least: number): number {
  if (text.charAt(at - 1) === '"' && at - 2 >= least) {
    const quote = text.lastIndexOf('"', at - 2);
    if (quote >= least) return quote;
  }
  let from = at;
  while (from > least && !ends.test(text.charAt(from - 1))) from -= 1;
  return from;
}

function hideNumbers(text: string): string {
  let hidden = '';
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (!isDigit(text.charAt(at))) continue;
    let digits = 1;
    let last = at;
    for (let next = at + 1; next < text.length && next - last <= mostSigns + 1; next += 1) {
      const character = text.charAt(next);
      if (isDigit(character)) {
        digits += 1;
        last = next;
      } else if (!sign.test(character)) break;
    }
    if (digits >= fewestDigits) {
      const from = text.charAt(at - 1) === '+' && at - 1 >= done ? at - 1 : at;
      hidden += `${text.slice(done, from)}<number>`;
      done = last + 1;
    }
    at = last;
  }
  return hidden + text.slice(done);
}

function isDigit(character: string): boolean {
  return /\p{Nd}/u.test(character);
}
