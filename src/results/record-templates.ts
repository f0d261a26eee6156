import type { VerificationType } from '../contract/enums.js';
import { findTextMember } from './find-text-member.js';
import { ByteTree } from './byte-tree.js';
import { plainTextEnd, viewOf } from './json-bytes.js';

/** Bytes of one record, and of all of them together, that are worth remembering. */
const maxRecordBytes = 4096;
const maxBytes = 12 * 1024 * 1024;
/** About what a remembered record costs besides its bytes. */
const overheadBytes = 256;

/**
 * Records seen before, to the byte, but for the address they hold: the same bytes around another
 * address are the same result, so that a record like it need not be parsed.
 *
 * The address is the text of the record's own member `email` or `phone`. It has no part in the outcome
 * (the export's key says whose the record is), and one plain text in place of another leaves all else in
 * the record what it was.
 */
export class RecordTemplates {
  /** Where the record found last ends. */
  end = 0;

  readonly #addressName: Uint8Array;
  /** Bytes up to the address; of records without one, all of them. */
  readonly #heads = new ByteTree();
  /** By the value of a head: what may follow the address, or the outcome of a record without one. */
  readonly #rests: (ByteTree | number)[] = [];
  #freeBytes = maxBytes;

  constructor(type: VerificationType) {
    this.#addressName = Buffer.from(type);
  }

  /**
   * Looks whether a record seen before begins at `from`.
   *
   * @returns the id of its outcome, or -1 when it has to be parsed
   */
  find(bytes: DataView, from: number, to: number): number {
    const head = this.#heads.find(bytes, from, to);
    if (head === -1) return -1;
    const rest = this.#rests[head];
    if (typeof rest === 'number') {
      this.end = this.#heads.end;
      return rest;
    }
    const addressEnd = plainTextEnd(bytes, this.#heads.end, to);
    if (addressEnd === -1 || rest === undefined) return -1;
    const outcome = rest.find(bytes, addressEnd, to);
    this.end = rest.end;
    return outcome;
  }

  /**
   * Remembers a record that {@link find} does not find, as long as there is room.
   *
   * @param record legal JSON, an object, without white space around it
   */
  add(record: Uint8Array, outcome: number): void {
    const cost = record.length + overheadBytes;
    if (record.length > maxRecordBytes || cost > this.#freeBytes) return;
    if (this.#store(record, outcome)) this.#freeBytes -= cost;
  }

  #store(record: Uint8Array, outcome: number): boolean {
    const address = findTextMember(record, this.#addressName);
    if (address !== undefined) {
      const rests = this.#restsBehind(record.subarray(0, address.start));
      return rests?.add(record.subarray(address.end), outcome) ?? false;
    }
    const isNew = this.#heads.add(record, this.#rests.length);
    if (isNew) this.#rests.push(outcome);
    return isNew;
  }

  #restsBehind(head: Uint8Array): ByteTree | undefined {
    const known = this.#rests[this.#heads.find(viewOf(head), 0, head.length)];
    if (known !== undefined) return typeof known === 'number' ? undefined : known;
    const rests = new ByteTree();
    if (!this.#heads.add(head, this.#rests.length)) return undefined;
    this.#rests.push(rests);
    return rests;
  }
}
