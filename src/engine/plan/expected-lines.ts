import type { ExpectedKeys } from '../results/export-parser.js';
import { beginsWith, viewOf } from '../results/json/json-bytes.js';
import type { AddressBook } from './address-book.js';
import type { Batch } from '../batches/batch.js';

const lineFeed = 0x0a;
const plusSign = 0x2b;
/** Lines are read ahead in pieces of about this size. */
const pieceBytes = 128 * 1024;
/** Most lines compared with a key: the service may have left out those before it. */
const mostSkipped = 16;
/** Once this many more keys were found elsewhere than here, the export counts as ordered differently. */
const mostMissed = 256;

/**
 * The lines of a batch with their address numbers, both in order, as the likely keys of its export.
 *
 * The numbers are those that wait for the batch. The first number of each piece is looked up: should the two
 * ever disagree, nothing more is taken.
 */
export class ExpectedLines implements ExpectedKeys {
  readonly #batch: Batch;
  readonly #book: AddressBook;
  readonly #numberOf: (line: string) => number;
  readonly #pieces: Iterator<Uint8Array> | AsyncIterator<Uint8Array>;
  /** Lines that were read ahead: a view of a buffer that is reused for each piece. */
  #bytes = Buffer.alloc(0);
  #view = viewOf(this.#bytes);
  #room = Buffer.alloc(0);
  /** Start of the next expected line, and the least number of its address. */
  #at = 0;
  #number = 0;
  #isRead = false;
  #isTrusted = true;
  #found = 0;
  #missed = 0;

  /** @param numberOf the number of a line's address if it waits for the batch, else -1 */
  constructor(batch: Batch, book: AddressBook, numberOf: (line: string) => number) {
    this.#batch = batch;
    this.#book = book;
    this.#numberOf = numberOf;
    const lines = batch.open();
    this.#pieces =
      Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
  }

  prepare(bytes: number): Promise<void> | undefined {
    // Each key takes at least its own bytes of the export.
    const isReady = this.#isRead || !this.#isTrusted || this.#bytes.length - this.#at >= bytes;
    return isReady ? undefined : this.#readOn(bytes);
  }

  take(bytes: DataView, start: number, end: number): number {
    if (!this.#isTrusted) return -1;
    // Digits alone may be another address's number without its plus sign.
    if (this.#batch.group.type === 'phone' && bytes.getUint8(start) !== plusSign) return -1;
    const length = end - start;
    let at = this.#at;
    let number = this.#number;
    for (let skipped = 0; skipped <= mostSkipped && at < this.#bytes.length; skipped += 1) {
      number = this.#book.nextWaiting(this.#batch.id, number);
      if (number === -1) break;
      const lineEnd = at + length;
      if (
        this.#bytes[lineEnd] === lineFeed &&
        beginsWith(this.#view, at, lineEnd, bytes, start, length)
      ) {
        this.#at = lineEnd + 1;
        this.#number = number + 1;
        this.#found += 1;
        return number;
      }
      const feed = this.#bytes.indexOf(lineFeed, at);
      if (feed === -1) break;
      at = feed + 1;
      number += 1;
    }
    this.#missed += 1;
    if (this.#missed > this.#found + mostMissed) this.#isTrusted = false;
    return -1;
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #readOn(bytes: number): Promise<void> {
    const wanted = Math.max(bytes, pieceBytes);
    this.#room.set(this.#bytes.subarray(this.#at));
    let filled = this.#bytes.length - this.#at;
    while (filled < wanted) {
      const next: IteratorResult<Uint8Array, unknown> = await this.#pieces.next();
      if (next.done === true) {
        this.#isRead = true;
        break;
      }
      // A piece is only valid until the next.
      this.#makeRoom(filled, next.value.length);
      this.#room.set(next.value, filled);
      filled += next.value.length;
    }
    this.#bytes = this.#room.subarray(0, filled);
    this.#view = viewOf(this.#bytes);
    this.#at = 0;
    this.#check();
  }

  #makeRoom(filled: number, more: number): void {
    if (filled + more <= this.#room.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(filled + more, 2 * this.#room.length));
    larger.set(this.#room.subarray(0, filled));
    this.#room = larger;
  }

  #check(): void {
    const lineEnd = this.#bytes.indexOf(lineFeed);
    if (lineEnd === -1) return;
    const number = this.#numberOf(this.#bytes.toString('utf8', 0, lineEnd));
    const isFirst = this.#found === 0 && this.#number === 0;
    if (isFirst && number !== -1) this.#number = number;
    else if (this.#book.nextWaiting(this.#batch.id, this.#number) !== number) {
      this.#isTrusted = false;
    }
  }
}
