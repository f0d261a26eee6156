import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import type { JoinedRows } from '../../lists/rows/sink.js';
import { type AddressBook, pending, settledOutcome } from '../plan/address-book.js';

interface WaitingRows {
  readonly chunk: RowChunk;
  readonly tickets: Uint32Array;
  /** First row that has not left yet. */
  next: number;
}

/** Most rows in a stretch, so that a consumer may stop in between. */
const stretchRows = 256;

/** Rows in order that leave once they and all before them are settled. */
export class RowQueue {
  readonly #book: AddressBook;
  readonly #width: number;
  /** From the head on; earlier ones have left. */
  #waiting: (WaitingRows | undefined)[] = [];
  #head = 0;
  /** The outcomes of a stretch, until its length is known. */
  readonly #outcomes: Uint32Array;
  /** Once no more are settled: the rows that leave all the same, and their outcome without a result. */
  #rest: { rows: number; readonly outcome: number } | undefined;

  /** @param width number of verified columns */
  constructor(book: AddressBook, width: number) {
    this.#book = book;
    this.#width = width;
    this.#outcomes = new Uint32Array(stretchRows * width);
  }

  get isEmpty(): boolean {
    return this.#head === this.#waiting.length;
  }

  add(chunk: RowChunk, tickets: Uint32Array): void {
    if (chunk.length > 0) this.#waiting.push({ chunk, tickets, next: 0 });
  }

  /** The next settled rows; `undefined` while the oldest waits for its results. */
  take(): JoinedRows | undefined {
    const head = this.#waiting[this.#head];
    if (!head) return undefined;
    const from = head.next;
    const end = Math.min(
      head.chunk.length,
      from + Math.min(stretchRows, this.#rest?.rows ?? stretchRows),
    );
    let to = from;
    while (to < end && this.#settleRow(head.tickets, to, from)) to += 1;
    if (to === from) return undefined;
    if (this.#rest) this.#rest.rows -= to - from;
    head.next = to;
    if (to === head.chunk.length) this.#drop();
    const outcomes = this.#outcomes.slice(0, (to - from) * this.#width);
    return { chunk: head.chunk, from, to, outcomes, width: this.#width };
  }

  #settleRow(tickets: Uint32Array, row: number, from: number): boolean {
    const start = row * this.#width;
    const place = (row - from) * this.#width;
    for (let column = 0; column < this.#width; column += 1) {
      const outcome = this.#book.outcome(tickets[start + column] ?? 0);
      if (outcome === pending && !this.#rest) return false;
      this.#outcomes[place + column] = outcome === pending ? (this.#rest?.outcome ?? 0) : outcome;
    }
    return true;
  }

  /** Releases the waiting rows up to the last with a result. @param unsettled the outcome of addresses without one */
  settleUpToLast(isResult: (outcome: number) => boolean, unsettled: number): void {
    let [rows, waiting] = [0, 0];
    for (const waits of this.#waiting.slice(this.#head)) {
      const { chunk, tickets, next } = waits ?? { chunk: { length: 0 }, tickets: [], next: 0 };
      for (let row = next; row < chunk.length; row += 1) {
        waiting += 1;
        for (let place = row * this.#width; place < (row + 1) * this.#width; place += 1) {
          const ticket = tickets[place] ?? 0;
          if (settledOutcome(ticket) !== undefined) continue;
          const outcome = this.#book.outcome(ticket);
          if (outcome !== pending && isResult(outcome)) rows = waiting;
        }
      }
    }
    this.#rest = { rows, outcome: unsettled };
  }

  #drop(): void {
    // Frees its rows before the list is cut.
    this.#waiting[this.#head] = undefined;
    this.#head += 1;
    // Cut in large steps: each cut moves the rest.
    if (this.#head >= 1024 || this.#head === this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
  }
}
