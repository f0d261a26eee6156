import { TextDecoder } from 'node:util';
import type { ErrorFault } from '../../platform/errors/errors.js';
import { detectEncoding } from '../files/bytes/text-encoding.js';

/** A token of XML. Names have no prefix; text is decoded. */
export type XmlToken =
  | {
      readonly kind: 'open';
      readonly name: string;
      readonly attributes: string;
      readonly isEmpty: boolean;
    }
  | { readonly kind: 'close'; readonly name: string }
  | { readonly kind: 'text'; readonly text: string }
  | PlainCell;

/** A complete cell in its usual form: replaces up to nine tokens. */
export interface PlainCell {
  readonly kind: 'cell';
  readonly place: string;
  readonly style: string | undefined;
  readonly type: string | undefined;
  /** Of its value, or its inline text. */
  readonly text: string | undefined;
  readonly inline: string | undefined;
}

const plainCell =
  /<c r="([A-Z]{1,3})\d{1,7}"(?: s="(\d+)")?(?: t="(\w+)")?>(?:<v>([^<&\r]*)<\/v>|<is><t(?: xml:space="preserve")?>([^<&\r]*)<\/t><\/is>)<\/c>/y;

/** No tag or text of a workbook is longer; it must not fill the memory. */
const mostCharacters = 4 * 1024 * 1024;

/** Thrown for invalid XML, or XML that workbooks do not use. */
export class XmlError extends Error {
  readonly fault: ErrorFault;

  constructor(message: string, fault: ErrorFault = 'damaged') {
    super(message);
    this.fault = fault;
  }
}

/** Tokenizes XML in UTF-8 or UTF-16 as it arrives. Document types are refused, and with them all but five entities. */
export async function* scanXml(pieces: AsyncIterable<Buffer>): AsyncGenerator<XmlToken[]> {
  let decoder: TextDecoder | undefined;
  let rest = '';
  for await (const piece of pieces) {
    const tokens: XmlToken[] = [];
    decoder ??= new TextDecoder(detectEncoding(piece));
    rest = takeTokens(rest + decoder.decode(piece, { stream: true }), tokens);
    if (rest.length > mostCharacters)
      throw new XmlError('a tag or a text is too long', 'too_large');
    if (tokens.length > 0) yield tokens;
  }
  if (rest.trim() !== '') throw new XmlError('the document ends too early', 'cut_short');
}

const oneAttribute = /\s*([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y;

/** The value of an attribute, by its name without a prefix. */
export function attribute(attributes: string, name: string): string | undefined {
  oneAttribute.lastIndex = 0;
  for (;;) {
    const match = oneAttribute.exec(attributes);
    if (match === null) return undefined;
    if (localName(match[1] ?? '') === name) return decodeEntities(match[2] ?? match[3] ?? '');
  }
}

/** The same attributes with one set or removed. */
export function withAttribute(attributes: string, name: string, value: string | undefined): string {
  const kept: string[] = [];
  oneAttribute.lastIndex = 0;
  for (let at = 0; ; at = oneAttribute.lastIndex) {
    const match = oneAttribute.exec(attributes);
    if (match === null) break;
    if (localName(match[1] ?? '') !== name) kept.push(attributes.slice(at, oneAttribute.lastIndex));
  }
  return `${kept.join('')}${value === undefined ? '' : ` ${name}="${value}"`}`;
}

interface XmlElement {
  readonly tag: string;
  readonly attributes: string;
  readonly inside: string;
  readonly whole: string;
}

/** The same XML with elements of some names replaced; they do not nest. */
export function editXml(
  xml: string,
  edits: Readonly<Record<string, (element: XmlElement) => string>>,
): string {
  let edited = '';
  let done = 0;
  let open: { readonly start: number; readonly end: number; readonly tag: string } | undefined;
  const edit = (inside: string, end: number): void => {
    if (!open) return;
    const whole = xml.slice(open.start, end);
    const [tag, attributes] = nameAndAttributes(xml.slice(open.start + 1, open.end));
    edited += xml.slice(done, open.start);
    edited += edits[localName(tag)]?.({ tag, attributes, inside, whole }) ?? whole;
    done = end;
    open = undefined;
  };
  for (let start = xml.indexOf('<'); start !== -1;) {
    const isSpecial = xml.startsWith('<!', start) || xml.startsWith('<?', start);
    const close = isSpecial ? endOfSpecial(xml, start, []) : endOfQuoted(xml, start);
    if (close === undefined) throw new XmlError('the document ends too early', 'cut_short');
    const end = isSpecial ? close : close + 1;
    if (!isSpecial) {
      const isEmpty = xml[close - 1] === '/';
      const [tag] = nameAndAttributes(xml.slice(start + 1, isEmpty ? close - 1 : close));
      if (open && tag === `/${open.tag}`) {
        edit(xml.slice(open.end + 1, start), end);
      } else if (!open && Object.hasOwn(edits, localName(tag))) {
        open = { start, end: isEmpty ? close - 1 : close, tag };
        if (isEmpty) edit('', end);
      }
    }
    start = xml.indexOf('<', end);
  }
  return edited + xml.slice(done);
}

/** Takes complete tokens off the front; returns the rest. */
function takeTokens(text: string, tokens: XmlToken[]): string {
  let at = 0;
  while (at < text.length) {
    if (text[at] !== '<') {
      const next = text.indexOf('<', at);
      if (next === -1) return text.slice(at);
      tokens.push({ kind: 'text', text: decodeEntities(lineFeeds(text.slice(at, next))) });
      at = next;
      continue;
    }
    plainCell.lastIndex = at;
    const plain = text[at + 1] === 'c' ? plainCell.exec(text) : null;
    if (plain !== null) {
      const [, place = '', style, type, value, inline] = plain;
      tokens.push({ kind: 'cell', place, style, type, text: value, inline });
      at = plainCell.lastIndex;
      continue;
    }
    const end =
      text.startsWith('<!', at) || text.startsWith('<?', at)
        ? endOfSpecial(text, at, tokens)
        : endOfTag(text, at, tokens);
    if (end === undefined) return text.slice(at);
    at = end;
  }
  return '';
}

/** XML normalises every line end to a line feed; a carriage return is an entity. */
function lineFeeds(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

function endOfSpecial(text: string, at: number, tokens: XmlToken[]): number | undefined {
  const endOf = (mark: string, from: number): number | undefined => {
    const found = text.indexOf(mark, from);
    return found === -1 ? undefined : found + mark.length;
  };
  if (text.startsWith('<?', at)) return endOf('?>', at);
  if (text.startsWith('<!--', at)) return endOf('-->', at + 4);
  if (text.startsWith('<![CDATA[', at)) {
    const end = endOf(']]>', at);
    if (end !== undefined)
      tokens.push({ kind: 'text', text: lineFeeds(text.slice(at + 9, end - 3)) });
    return end;
  }
  // The beginning of one that may continue.
  if (text.length - at < 9) return undefined;
  throw new XmlError('it has a document type, which workbooks have not', 'unsupported');
}

function endOfTag(text: string, at: number, tokens: XmlToken[]): number | undefined {
  const close = endOfQuoted(text, at);
  if (close === undefined) return undefined;
  if (text[at + 1] === '/') {
    tokens.push({ kind: 'close', name: localName(text.slice(at + 2, close).trim()) });
    return close + 1;
  }
  const isEmpty = text[close - 1] === '/';
  const [tag, attributes] = nameAndAttributes(text.slice(at + 1, isEmpty ? close - 1 : close));
  const name = localName(tag);
  if (name === '') throw new XmlError('a tag has no name');
  tokens.push({ kind: 'open', name, attributes, isEmpty });
  return close + 1;
}

function nameAndAttributes(inside: string): readonly [name: string, attributes: string] {
  const space = inside.search(/\s/);
  return space === -1 ? [inside, ''] : [inside.slice(0, space), inside.slice(space)];
}

/** Where the tag's `>` is; one in an attribute's quotes is none. */
function endOfQuoted(text: string, from: number): number | undefined {
  let at = from;
  for (;;) {
    const close = text.indexOf('>', at);
    if (close === -1) return undefined;
    const quote = firstQuote(text, at, close);
    if (quote === undefined) return close;
    const end = text.indexOf(text.charAt(quote), quote + 1);
    if (end === -1) return undefined;
    at = end + 1;
  }
}

function firstQuote(text: string, from: number, to: number): number | undefined {
  for (let at = from; at < to; at += 1) if (text[at] === '"' || text[at] === "'") return at;
  return undefined;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

const named = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(#x[\da-fA-F]{1,6}|#\d{1,7}|\w{1,8})?;?/g, (entity, what?: string) => {
    if (what === undefined || !entity.endsWith(';')) throw new XmlError('an entity is broken');
    if (!what.startsWith('#')) {
      const character = named.get(what);
      if (character === undefined) throw new XmlError('it has an entity that XML has not');
      return character;
    }
    const code = what.startsWith('#x') ? Number.parseInt(what.slice(2), 16) : Number(what.slice(1));
    if (code > 0x10_ff_ff) throw new XmlError('an entity is not a character');
    return String.fromCodePoint(code);
  });
}
