import type { VerificationType } from '../../contract/enums.js';
import { giveBack, takeBlock } from '../content/block-pool.js';
import type { LineBlock } from '../content/line-block.js';
import { codeBytes } from '../content/verdict-coder.js';

const comma = 0x2c;
const quote = 0x22;
const backslash = 0x5c;
/** A byte may become `\u0000`. */
const mostEscapedBytes = 6;

/**
 * Writes records as the members of a JSON object, in bytes: an address is copied to its two places, and
 * the rest of a record is the same for all addresses of one verdict. An address in which JSON escapes
 * something goes through `JSON.stringify`.
 */
export class MemberWriter {
  /** Between the two places of the address. */
  readonly #middle: Buffer;
  /** What follows the second, by the code of the verdict. */
  readonly #endings: readonly Buffer[];
  #piece = takeBlock();
  #length = 0;
  #isFirst = true;

  /** @param endings the members of a record behind its address and its closing brace, by their codes */
  constructor(type: VerificationType, endings: readonly string[]) {
    this.#middle = Buffer.from(`":{"${type}":"`);
    this.#endings = endings.map((ending) => Buffer.from(`",${ending}`));
  }

  /**
   * Writes the records of lines from `begin` on, until the piece is full.
   *
   * @returns the line to go on with when what is written is let go of
   */
  write(lines: LineBlock, codes: Buffer, begin: number): number {
    for (let index = begin; index < lines.count; index += 1) {
      const ending = this.#endings[codes.readUInt16LE(index * codeBytes)];
      if (ending === undefined) throw new Error('an address has a code without a verdict');
      const lineBytes = lines.end(index) - lines.begin(index);
      const most = 2 + 2 * mostEscapedBytes * lineBytes + this.#middle.length + ending.length;
      if (this.#length + most > this.#piece.length) {
        if (this.#length > 0) return index;
        this.#piece = Buffer.allocUnsafeSlow(most);
      }
      this.#writeRecord(lines, index, ending);
    }
    return lines.count;
  }

  /** What was written and not let go of. */
  get written(): Uint8Array {
    return this.#piece.subarray(0, this.#length);
  }

  /** Lets go of what was written: nobody reads it any more. */
  clear(): void {
    this.#length = 0;
  }

  /** Ends the writer; nobody reads what it wrote any more. */
  end(): void {
    giveBack(this.#piece);
  }

  #writeRecord(lines: LineBlock, index: number, ending: Buffer): void {
    const piece = this.#piece;
    let at = this.#length;
    if (!this.#isFirst) {
      piece[at] = comma;
      at += 1;
    }
    this.#isFirst = false;
    piece[at] = quote;
    const keyBegin = at + 1;
    const keyEnd = writeKey(piece, keyBegin, lines, index);
    at = copy(this.#middle, 0, this.#middle.length, piece, keyEnd);
    at = copy(piece, keyBegin, keyEnd, piece, at);
    piece.set(ending, at);
    this.#length = at + ending.length;
  }
}

/** @returns where it ends */
function writeKey(piece: Buffer, begin: number, lines: LineBlock, index: number): number {
  const { bytes } = lines;
  const end = lines.end(index);
  let at = begin;
  for (let from = lines.begin(index); from < end; from += 1) {
    const byte = bytes[from] ?? 0;
    if (byte < 0x20 || byte === quote || byte === backslash) {
      return begin + piece.write(JSON.stringify(lines.text(index)).slice(1, -1), begin);
    }
    piece[at] = byte;
    at += 1;
  }
  return at;
}

/** For some bytes: a call of what copies many takes longer. */
function copy(from: Buffer, begin: number, end: number, into: Buffer, offset: number): number {
  for (let at = begin; at < end; at += 1) into[offset + at - begin] = from[at] ?? 0;
  return offset + end - begin;
}
