import type { VerificationType } from '../../contract/enums.js';
import { type KernelMemory, startKernel } from '../../platform/kernel.js';
import { json } from './json/json-bytes.js';
import { readMembersKernel } from './json/read-members-kernel.js';

/** Bytes of one record that are worth remembering; of all of them, as many as there is room for. */
const maxRecordBytes = 4096;
/** What a remembered record takes at most besides its bytes, and what is read after it. */
const overheadBytes = 64;
/** So many records share a bucket: anyone who writes an export must not decide how long one is searched for. */
const mostAlike = 64;

/** Bytes of an export that are shown at once. */
export const pieceBytes = 256 * 1024;
/** Words of a member that was read. */
export const memberWords = 5;
/** So many members are read at once. */
const mostMembers = 2048;
const wordBytes = 4;

/** The kernel reads whole vectors, up to so many bytes after what it is asked for. */
const vectorBytes = 16;
/** Its memory: the piece, the members that were read, the address's name, the buckets, the records. */
const membersAt = pieceBytes + 4 * vectorBytes;
const membersEnd = membersAt + mostMembers * memberWords * wordBytes;
const keysAt = membersEnd;
const nameAt = keysAt + pieceBytes + vectorBytes;
const maxNameBytes = 32;
/** Stands in no legal JSON. */
const noName = Buffer.from('"\0');
const bucketsAt = nameAt + maxNameBytes + vectorBytes;
const recordsAt = bucketsAt + 0x1_0000 * wordBytes;
/** So many pages, of 64 KiB, the memory grows by: five times in all. */
const morePages = 38;
/** Words in front of a record's bytes: the next of its bucket, its lengths, its outcome. */
const recordWords = 4;
/** No record's words lie in two lines of the processor's cache. */
const alignment = 16;

/** What the kernel exports (read-members.wat). */
interface Kernel {
  readonly memory: KernelMemory;
  bucket(head: number, headEnd: number, rest: number, restEnd: number, buckets: number): number;
  read(
    from: number,
    buckets: number,
    name: number,
    nameLength: number,
    out: number,
    outEnd: number,
    keys: number,
  ): number;
}

/**
 * Records seen before, to the byte, but for the address they hold: the same bytes around another
 * address are the same result, so that a record like it need not be parsed. A kernel finds and compares
 * them, sixteen bytes at a time and member after member.
 *
 * The address is the text of the record's own member `email` or `phone`. It has no part in the outcome
 * (the export's key says whose the record is), and one plain text in place of another leaves all else in
 * the record what it was.
 */
export class RecordTemplates {
  readonly #type: VerificationType;
  readonly #kernel: Kernel;
  #bytes = Buffer.alloc(0);
  #words = new Int32Array(0);
  #members = this.#words;
  /** What is in front of an address: its member's name, colon and quote; those of the first record with one. */
  #name: Buffer = noName;
  #filled = recordsAt;

  constructor(type: VerificationType) {
    this.#type = type;
    // Its types are those of its source.
    this.#kernel = startKernel(readMembersKernel) as Kernel;
    this.#look();
    this.#bytes.set(noName, nameAt);
  }

  /** Shows a piece of an export, {@link pieceBytes} at most. */
  show(piece: Uint8Array): void {
    this.#bytes.set(piece);
    // No legal JSON holds a zero: nothing that is read after the piece can fit.
    this.#bytes[piece.length] = 0;
  }

  /**
   * Reads members of the piece for as long as each is plain, whole in it and like one seen before.
   *
   * @param from after a member
   * @returns how many; {@link members} says where they are, until the next call
   */
  read(from: number): number {
    if (this.#filled === recordsAt) return 0;
    const { length } = this.#name;
    const end = this.#kernel.read(from, bucketsAt, nameAt, length, membersAt, membersEnd, keysAt);
    return (end - membersAt) / (memberWords * wordBytes);
  }

  /**
   * {@link memberWords} for each member that was read: where its key begins and ends, without quotes,
   * where its record begins and ends, and its outcome.
   */
  get members(): Int32Array {
    return this.#members;
  }

  /** The keys of the members that were read, one after the other. */
  keys(count: number): string {
    let end = keysAt;
    for (let at = 0; at < count * memberWords; at += memberWords) {
      end += (this.#members[at + 1] as number) - (this.#members[at] as number);
    }
    return this.#bytes.toString('latin1', keysAt, end);
  }

  /**
   * Remembers a record that was not known, as long as there is room.
   *
   * @param record legal JSON, an object, without white space around it
   */
  add(record: Buffer, outcome: number): void {
    const at = this.#filled;
    const end = at + record.length + overheadBytes;
    if (record.length > maxRecordBytes || !this.#hasRoom(end)) return;
    const cut = this.#cut(record);
    if (!cut) return;
    const { head, rest } = cut;
    const headAt = at + recordWords * wordBytes;
    const restAt = headAt + head.length;
    this.#bytes.set(head, headAt);
    this.#bytes.set(rest, restAt);
    const brace = restAt + rest.indexOf(json.closeObject);
    const bucket = this.#kernel.bucket(headAt, restAt, restAt, brace, bucketsAt) / wordBytes;
    if (this.#isFull(bucket)) return;
    this.#words.set([this.#words[bucket] ?? 0, head.length, rest.length, outcome], at / wordBytes);
    this.#words[bucket] = at;
    this.#filled = Math.ceil((restAt + rest.length) / alignment) * alignment;
  }

  /** What is in front of a record's address, and what after it; `undefined` when it is not known by it. */
  #cut(record: Buffer): { readonly head: Buffer; readonly rest: Buffer } | undefined {
    const whole = { head: record.subarray(0, 0), rest: record };
    const address = findTextMember(record, Buffer.from(this.#type));
    if (address && this.#name === noName) this.#setName(record.subarray(0, address.start));
    const named = record.indexOf(this.#name);
    // The kernel looks no further than a brace.
    if (named === -1 || record.indexOf(json.closeObject) < named) return whole;
    // Of an object inside the record, or of a text.
    if (named + this.#name.length !== address?.start) return undefined;
    return { head: record.subarray(0, address.start), rest: record.subarray(address.end) };
  }

  #setName(head: Buffer): void {
    const name = head.subarray(head.lastIndexOf(`"${this.#type}"`));
    if (name.length <= maxNameBytes) this.#name = Buffer.from(name);
    this.#bytes.set(this.#name, nameAt);
  }

  #isFull(bucket: number): boolean {
    let at = bucket * wordBytes;
    for (let count = 0; count < mostAlike; count += 1) {
      at = this.#words[at / wordBytes] ?? 0;
      if (at === 0) return false;
    }
    return true;
  }

  #hasRoom(end: number): boolean {
    if (end <= this.#bytes.length) return true;
    try {
      this.#kernel.memory.grow(morePages);
    } catch {
      return false;
    }
    this.#look();
    return true;
  }

  /** Looks at all of the memory: what looked at it before it grew sees nothing any more. */
  #look(): void {
    const { buffer } = this.#kernel.memory;
    this.#bytes = Buffer.from(buffer);
    this.#words = new Int32Array(buffer);
    this.#members = this.#words.subarray(membersAt / wordBytes, membersEnd / wordBytes);
  }
}

/** A stretch of bytes, from `start` to before `end`. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the first member of a JSON object, its own and not one of an object inside it, that has this
 * name, spelled without escapes, and a text as its value.
 *
 * @param object legal JSON
 * @returns what is between the quotes of the text
 */
export function findTextMember(object: Uint8Array, name: Uint8Array): ByteRange | undefined {
  let depth = 0;
  let isKey = false;
  let isNamed = false;
  for (let at = 0; at < object.length; at += 1) {
    switch (object[at]) {
      case json.quote: {
        const start = at + 1;
        at = closingQuote(object, start);
        if (depth !== 1) break;
        if (isKey) isNamed = Buffer.compare(object.subarray(start, at), name) === 0;
        else if (isNamed) return { start, end: at };
        break;
      }
      case json.openObject:
      case json.openArray:
        depth += 1;
        isKey = true;
        break;
      case json.closeObject:
      case json.closeArray:
        depth -= 1;
        break;
      case json.comma:
        isKey = true;
        break;
      case json.colon:
        isKey = false;
        break;
      default:
    }
  }
  return undefined;
}

function closingQuote(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== json.quote) at += bytes[at] === json.backslash ? 2 : 1;
  return at;
}
