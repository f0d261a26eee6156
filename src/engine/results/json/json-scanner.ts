import {
  brokenExport,
  isHexDigit,
  isJsonSpace,
  json,
  nextSpecialByte,
  nextNumberPart,
  numberMayEnd,
  type NumberPart,
} from './json-bytes.js';

type Scanned =
  | 'all'
  /** First byte of a member's key, after its quote. */
  | 'keyStart'
  /** The byte after the closing quote of a member's key. */
  | 'keyEnd'
  /** First byte of a member's value. */
  | 'valueStart'
  /** The byte after a member's value. */
  | 'valueEnd';

type State =
  | 'start'
  | 'firstKey'
  | 'key'
  | 'colon'
  | 'memberValue'
  | 'firstItem'
  | 'value'
  | 'text'
  | 'escape'
  | 'hex'
  | 'number'
  | 'word'
  | 'behindValue'
  | 'end';

const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf);
const words: Readonly<Record<number, Uint8Array>> = {
  0x74: Uint8Array.from(Buffer.from('true')),
  0x66: Uint8Array.from(Buffer.from('false')),
  0x6e: Uint8Array.from(Buffer.from('null')),
};
/** Most levels of nesting, the outermost object counted. */
const maxDepth = 64;
const objectLevel = 0;
const arrayLevel = 1;

/**
 * Scans one JSON object (RFC 8259) in chunks cut anywhere, and reports where the keys and values of its own
 * members begin and end. It checks every byte, keeps none, and needs one byte for each level of nesting.
 */
export class MemberScanner {
  position = 0;
  /** Bytes of the body before the current chunk, for messages. */
  chunkOffset = 0;

  readonly #levels = new Uint8Array(maxDepth);
  #depth = 0;
  #state: State = 'start';
  #textIsKey = false;
  #hexDigits = 0;
  #number: NumberPart = 'minus';
  #word: Uint8Array = byteOrderMark;
  #wordBytes = 0;

  get isBehindMember(): boolean {
    return this.#depth === 1 && this.#state === 'behindValue';
  }

  /** The object is complete; only white space may follow. */
  get isAtEnd(): boolean {
    return this.#state === 'end';
  }

  scan(bytes: Uint8Array, from: number, to: number): Scanned {
    let at = from;
    while (at < to) {
      const byte = bytes[at] ?? 0;
      switch (this.#state) {
        case 'text':
          at = nextSpecialByte(bytes, at, to);
          if (at === to) break;
          at += 1;
          if (this.#endText(bytes[at - 1] ?? 0, at - 1)) {
            this.position = at;
            return this.#textIsKey ? 'keyEnd' : 'valueEnd';
          }
          break;
        case 'number': {
          const part = nextNumberPart(this.#number, byte);
          if (part !== undefined) {
            this.#number = part;
            at += 1;
            break;
          }
          if (!numberMayEnd(this.#number)) throw this.#refuse('a number is malformed', at);
          // The byte that ends a number belongs to the next token.
          this.#state = 'behindValue';
          if (this.#depth > 1) break;
          this.position = at;
          return 'valueEnd';
        }
        case 'word':
          if (byte !== this.#word[this.#wordBytes]) throw this.#unexpected(at);
          at += 1;
          this.#wordBytes += 1;
          if (this.#wordBytes < this.#word.length) break;
          if (this.#depth === 0) {
            this.#state = 'start';
            break;
          }
          this.#state = 'behindValue';
          if (this.#depth > 1) break;
          this.position = at;
          return 'valueEnd';
        case 'escape':
          this.#state = this.#escaped(byte, at);
          at += 1;
          break;
        case 'hex':
          if (!isHexDigit(byte)) throw this.#refuse('an escape is malformed', at);
          this.#hexDigits += 1;
          if (this.#hexDigits === 4) this.#state = 'text';
          at += 1;
          break;
        case 'memberValue':
          if (!isJsonSpace(byte)) {
            this.#state = 'value';
            this.position = at;
            return 'valueStart';
          }
          at += 1;
          break;
        default:
          if (!isJsonSpace(byte)) {
            const event = this.#structure(byte, at);
            if (event !== undefined) {
              this.position = at + 1;
              return event;
            }
          }
          at += 1;
      }
    }
    this.position = to;
    return 'all';
  }

  /** One byte between texts, numbers and words; white space was skipped. */
  #structure(byte: number, at: number): Scanned | undefined {
    switch (this.#state) {
      case 'behindValue':
        if (byte === json.comma) {
          this.#state = this.#levels[this.#depth - 1] === objectLevel ? 'key' : 'value';
          return undefined;
        }
        if (byte === json.closeObject) return this.#close(objectLevel, at);
        if (byte === json.closeArray) return this.#close(arrayLevel, at);
        throw this.#unexpected(at);
      case 'firstKey':
        if (byte === json.closeObject) return this.#close(objectLevel, at);
        return this.#openKey(byte, at);
      case 'key':
        return this.#openKey(byte, at);
      case 'colon':
        if (byte !== json.colon) throw this.#unexpected(at);
        this.#state = this.#depth === 1 ? 'memberValue' : 'value';
        return undefined;
      case 'firstItem':
        if (byte === json.closeArray) return this.#close(arrayLevel, at);
        this.#openValue(byte, at);
        return undefined;
      case 'value':
        this.#openValue(byte, at);
        return undefined;
      case 'start':
        if (byte === json.openObject) {
          this.#open(objectLevel, at);
        } else if (byte === byteOrderMark[0] && at + this.chunkOffset === 0) {
          this.#openWord(byteOrderMark);
        } else {
          throw this.#refuse('it is not a JSON object', at);
        }
        return undefined;
      default:
        throw this.#refuse('something follows its end', at);
    }
  }

  #openKey(byte: number, at: number): Scanned | undefined {
    if (byte !== json.quote) throw this.#unexpected(at);
    this.#state = 'text';
    this.#textIsKey = true;
    return this.#depth === 1 ? 'keyStart' : undefined;
  }

  #openValue(byte: number, at: number): void {
    if (byte === json.quote) {
      this.#state = 'text';
      this.#textIsKey = false;
    } else if (byte === json.openObject) {
      this.#open(objectLevel, at);
    } else if (byte === json.openArray) {
      this.#open(arrayLevel, at);
    } else {
      const word = words[byte];
      if (word) {
        this.#openWord(word);
        return;
      }
      const part = nextNumberPart('start', byte);
      if (part === undefined) throw this.#unexpected(at);
      this.#state = 'number';
      this.#number = part;
    }
  }

  #openWord(word: Uint8Array): void {
    this.#state = 'word';
    this.#word = word;
    this.#wordBytes = 1;
  }

  #open(level: number, at: number): void {
    if (this.#depth === maxDepth) {
      throw this.#refuse(`it is nested deeper than ${maxDepth} levels`, at);
    }
    this.#levels[this.#depth] = level;
    this.#depth += 1;
    this.#state = level === objectLevel ? 'firstKey' : 'firstItem';
  }

  #close(level: number, at: number): Scanned | undefined {
    if (this.#levels[this.#depth - 1] !== level) throw this.#unexpected(at);
    this.#depth -= 1;
    this.#state = this.#depth === 0 ? 'end' : 'behindValue';
    return this.#depth === 1 ? 'valueEnd' : undefined;
  }

  /** @returns whether this byte ends a text of the outermost object */
  #endText(byte: number, at: number): boolean {
    if (byte === json.backslash) {
      this.#state = 'escape';
      return false;
    }
    if (byte !== json.quote) throw this.#refuse('a text holds a control character', at);
    this.#state = this.#textIsKey ? 'colon' : 'behindValue';
    return this.#depth === 1;
  }

  #escaped(byte: number, at: number): State {
    switch (byte) {
      case json.quote:
      case json.backslash:
      case 0x2f: // slash
      case 0x62: // b
      case 0x66: // f
      case 0x6e: // n
      case 0x72: // r
      case 0x74: // t
        return 'text';
      case 0x75: // u
        this.#hexDigits = 0;
        return 'hex';
      default:
        throw this.#refuse('an escape is malformed', at);
    }
  }

  #unexpected(at: number): Error {
    return this.#refuse('it is not valid JSON', at);
  }

  #refuse(what: string, at: number): Error {
    return brokenExport(what, this.chunkOffset + at);
  }
}
