import type { VerificationType } from '../../contract/enums.js';
import { type KernelMemory, startKernel } from '../../platform/kernel.js';
import { json } from './json/json-bytes.js';
import readMembersKernel from './json/read-members.wasm.txt';

const maxRecordBytes = 4096;
/** Most memory of a remembered record beside its bytes and the read-ahead. */
const overheadBytes = 64;
/** Most records of a bucket: the sender of an export must not decide how long a search takes. */
const mostAlike = 64;

export const pieceBytes = 256 * 1024;
export const memberWords = 6;
const mostMembers = 2048;
const wordBytes = 4;

/** The kernel reads whole vectors, up to this many bytes beyond its input. */
const vectorBytes = 16;
/** Its memory: the piece, the read members, the address's name, the buckets, the records. */
const membersAt = pieceBytes + 4 * vectorBytes;
const membersEnd = membersAt + mostMembers * memberWords * wordBytes;
const keysAt = membersEnd;
const nameAt = keysAt + pieceBytes + vectorBytes;
const maxNameBytes = 32;
/** Occurs in no valid JSON. */
const noName = Buffer.from('"\0');
const bucketsAt = nameAt + maxNameBytes + vectorBytes;
const recordsAt = bucketsAt + 0x1_0000 * wordBytes;
/** Pages of 64 KiB by which the memory grows: five times in all. */
const morePages = 38;
/** Words before a record's bytes: the next of its bucket, its lengths, its outcome. */
const recordWords = 4;
/** A record's words never cross a cache line. */
const alignment = 16;

/** Exports of the kernel (read-members.wat). */
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
 * Earlier records without their address: the same bytes around another address are the same result, and need
 * no parsing. A kernel finds and compares them, sixteen bytes at a time and member after member.
 *
 * The address is the text of the record's own member `email` or `phone`. It does not affect the outcome (the
 * export's key identifies the address), and replacing one plain text by another leaves the rest unchanged.
 */
export class RecordTemplates {
  readonly #type: VerificationType;
  readonly #kernel: Kernel;
  #bytes = Buffer.alloc(0);
  #words = new Int32Array(0);
  #members = this.#words;
  /** The bytes before an address: its member's name, colon and quote, as in the first record with one. */
  #name: Buffer = noName;
  #filled = recordsAt;

  constructor(type: VerificationType) {
    this.#type = type;
    // Typed by its source.
    this.#kernel = startKernel(readMembersKernel) as Kernel;
    this.#look();
    this.#bytes.set(noName, nameAt);
  }

  /** Shows a piece of an export, {@link pieceBytes} at most. */
  show(piece: Uint8Array): void {
    this.#bytes.set(piece);
    // Valid JSON holds no zero: nothing after the piece can match.
    this.#bytes[piece.length] = 0;
  }

  /**
   * Reads members of the piece while each is plain, complete and known.
   *
   * @param from after a member
   * @returns their number; {@link members} has their positions until the next call
   */
  read(from: number): number {
    if (this.#filled === recordsAt) return 0;
    const { length } = this.#name;
    const end = this.#kernel.read(from, bucketsAt, nameAt, length, membersAt, membersEnd, keysAt);
    return (end - membersAt) / (memberWords * wordBytes);
  }

  /**
   * {@link memberWords} for each read member: start and end of its key without quotes, start and end of its
   * record, its outcome, and 1 where the record's own address is surely the same as the key, byte by byte.
   */
  get members(): Int32Array {
    return this.#members;
  }

  /** The keys of the read members, concatenated. */
  keys(count: number): string {
    let end = keysAt;
    for (let at = 0; at < count * memberWords; at += memberWords) {
      end += (this.#members[at + 1] as number) - (this.#members[at] as number);
    }
    return this.#bytes.toString('latin1', keysAt, end);
  }

  /** Remembers a new record while there is room. @param record valid JSON, an object, without white space around it */
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

  /** The bytes before and after a record's address; `undefined` where it cannot be cut there. */
  #cut(record: Buffer): { readonly head: Buffer; readonly rest: Buffer } | undefined {
    const whole = { head: record.subarray(0, 0), rest: record };
    const address = findTextMember(record, Buffer.from(this.#type));
    if (address && this.#name === noName) this.#setName(record.subarray(0, address.start));
    const named = record.indexOf(this.#name);
    // The kernel searches only up to a brace.
    if (named === -1 || record.indexOf(json.closeObject) < named) return whole;
    // It belongs to an inner object, or a text.
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

  /** Renews the views of the memory: growing detaches them. */
  #look(): void {
    const { buffer } = this.#kernel.memory;
    this.#bytes = Buffer.from(buffer);
    this.#words = new Int32Array(buffer);
    this.#members = this.#words.subarray(membersAt / wordBytes, membersEnd / wordBytes);
  }
}

interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the first own member of a JSON object with this name, spelled without escapes, and a text as its
 * value.
 *
 * @param object valid JSON
 * @returns the text between its quotes
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
