import { isUtf8 } from 'node:buffer';
import { InputError } from '../../../platform/errors/errors.js';
import { optionName } from '../../../platform/text/sentence.js';
import type { ByteReader } from '../../files/bytes/byte-reader.js';
import type { OpenSourceOptions } from '../../rows/source.js';
import { markBytesOf } from '../../files/file-signature.js';
import { findFooter, type FooterKind, footerKindOf } from './footer-detection.js';
import { lineFeedByte } from '../csv-format.js';
import { bytesAsText, sampleRows, withoutLast } from './find-dialect.js';
import type { CsvTable } from './header-detection.js';
import { isSurelyContact } from './find-header-row.js';
import { grouped } from '../../../platform/text/shown-numbers.js';

const at = 0x40;
/** A longer line is data. */
const mostLineBytes = 4096;
/** A larger block is not a footer. */
const mostBytes = 256 * 1024;
const nothing = Buffer.alloc(0);

/**
 * The bytes of a text file from its first row on, without the lines below its last row. Only the end of the
 * file shows them: possible footer lines wait until data follow, all others pass at once.
 */
export class FooterReader implements ByteReader {
  readonly #reader: ByteReader;
  readonly #input: CsvTable;
  readonly #opening: OpenSourceOptions;
  /** Lines that may be the last, and the beginning of another. */
  #held: Buffer = nothing;
  /** How many of these bytes are complete lines. */
  #heldLines = 0;
  /** Whether what follows belongs to a line that has passed already; the first line always passes. */
  #isInRow = true;
  /** Whether there are more lines than a footer has: the rest passes. */
  #isTooLong = false;
  #first: Buffer | undefined = nothing;
  #columns = 1;
  #footer: Buffer | undefined;

  constructor(reader: ByteReader, input: CsvTable, opening: OpenSourceOptions) {
    this.#reader = reader;
    this.#input = input;
    this.#opening = opening;
  }

  /** The lines below the last row as they are; nothing as long as the end was not read. */
  get footer(): Uint8Array {
    return this.#footer ?? nothing;
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#input.skipFooter === 0) return this.#reader.read();
    while (this.#footer === undefined) {
      const piece = await this.#reader.read();
      const ready = piece === undefined ? this.#end() : this.#take(piece);
      if (ready.length > 0) return ready;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }

  /** @returns what passes: held lines and parts of the piece */
  #take(piece: Uint8Array): Uint8Array {
    this.#noteFirst(piece);
    const from = this.#isInRow ? piece.indexOf(lineFeedByte) + 1 : 0;
    if (this.#isInRow && from === 0) return piece;
    this.#isInRow = false;
    const bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    const { skipFooter } = this.#input;
    const cut =
      skipFooter === undefined ? this.#cut(bytes, from) : cutLines(bytes, from, skipFooter);
    this.#held = Buffer.from(bytes.subarray(cut));
    return bytes.subarray(0, cut);
  }

  /** Start of a possible footer in bytes whose lines start at `from`. */
  #cut(bytes: Uint8Array, from: number): number {
    const last = Math.max(bytes.lastIndexOf(lineFeedByte) + 1, from);
    const rest = bytes.length - last;
    this.#isInRow = rest > mostLineBytes || bytes.indexOf(at, last) !== -1;
    let start = last;
    while (start > Math.max(from, this.#heldLines)) {
      const before = start < 2 ? 0 : Math.max(bytes.lastIndexOf(lineFeedByte, start - 2) + 1, from);
      if (this.#kindOf(bytes.subarray(before, start)) === undefined) {
        this.#isTooLong = false;
        break;
      }
      start = before;
    }
    if (start === this.#heldLines) start = from;
    if (this.#isInRow) this.#isTooLong = false;
    else this.#isTooLong ||= last - start > mostBytes;
    const cut = this.#isInRow ? bytes.length : this.#isTooLong ? last : start;
    this.#heldLines = Math.max(last - cut, 0);
    return cut;
  }

  #end(): Uint8Array {
    const held = this.#held;
    this.#held = nothing;
    const lines = linesOf(held);
    const { skipFooter, name } = this.#input;
    let rows: number;
    if (skipFooter === undefined) {
      rows = this.#findFooter(lines);
      const count = lines.length - rows;
      if (count > 0) this.#opening.onFooterFound?.({ input: name, unit: 'line', count });
    } else {
      rows = lines.length - skipFooter;
      if (rows < 0) throw tooFewLines(name, skipFooter, lines.length);
      this.#refuseContacts(lines.slice(rows));
    }
    const size = lines.slice(0, rows).reduce((sum, { length }) => sum + length, 0);
    this.#footer = held.subarray(size);
    return held.subarray(0, size);
  }

  #findFooter(lines: readonly Buffer[]): number {
    if (this.#isInRow || this.#isTooLong) return lines.length;
    const kinds: FooterKind[] = [];
    for (const line of lines.toReversed()) {
      const kind = this.#kindOf(line);
      if (kind === undefined) break;
      kinds.push(kind);
    }
    return lines.length - kinds.length + findFooter(kinds.toReversed());
  }

  #kindOf(line: Uint8Array): FooterKind | undefined {
    if (line.length > mostLineBytes || line.includes(at)) return undefined;
    const cells = this.#cellsOf(line);
    return cells && footerKindOf(cells, this.#columns);
  }

  /** @returns nothing for a line that is not a complete row, such as the last of several lines */
  #cellsOf(line: Uint8Array): readonly string[] | undefined {
    const { delimiter, quote, escape } = this.#input.dialect;
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
    const text = withoutLast(bytes.toString('latin1'), '\r\n');
    const { rows, isBroken } = sampleRows(text, {
      delimiter: bytesAsText(delimiter),
      quote: quote === undefined ? undefined : bytesAsText(quote),
      escape: bytesAsText(escape),
      isWhole: true,
    });
    return isBroken ? undefined : rows[0]?.cells.map(textOfBytes);
  }

  /** The first line gives the number of columns. */
  #noteFirst(piece: Uint8Array): void {
    if (this.#first === undefined) return;
    this.#first = Buffer.concat([this.#first, piece]);
    const end = this.#first.indexOf(lineFeedByte);
    if (end === -1 && this.#first.length <= mostBytes) return;
    const first = this.#first.subarray(markBytesOf(this.#first), end === -1 ? 0 : end);
    this.#columns = this.#cellsOf(first)?.length ?? 1;
    this.#first = undefined;
  }

  /** The message may be logged: it holds no cell. */
  #refuseContacts(lines: readonly Buffer[]): void {
    const index = lines.findIndex((line) =>
      (this.#cellsOf(line) ?? []).some((cell) => isSurelyContact(cell)),
    );
    if (index === -1) return;
    const count = lines.length;
    throw new InputError(
      `${this.#input.name}: of the last ${count} lines, which ${optionName('skipFooter', count)} leaves out, line ${grouped(index + 1)} holds an email address or a phone number, and would not be verified: give the number of lines that are below the last row, or leave the option out to have them found`,
    );
  }
}

/** Starts of the last lines, including an unfinished one. */
function cutLines(bytes: Uint8Array, from: number, lines: number): number {
  let start = bytes.lastIndexOf(lineFeedByte) + 1;
  for (let left = lines; left > 0 && start > from; left -= 1) {
    start = start < 2 ? 0 : bytes.lastIndexOf(lineFeedByte, start - 2) + 1;
  }
  return Math.max(start, from);
}

function linesOf(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const lineFeed = bytes.indexOf(lineFeedByte, start);
    const end = lineFeed === -1 ? bytes.length : lineFeed + 1;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}

function tooFewLines(name: string, skipFooter: number, lines: number): InputError {
  return new InputError(
    `${name} has ${lines} lines below its first, and ${optionName('skipFooter', skipFooter)} leaves out more`,
  );
}

function textOfBytes(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : latin1;
}
