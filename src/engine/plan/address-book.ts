import { AddressTable, shardCount } from '../../platform/hashing/address-table.js';

/** A cell's reference to its outcome: its address's number, or, with the highest bit set, the outcome itself. */
export type Ticket = number;

const settledBit = 0x8000_0000;

/** Ticket of a cell whose address is numbered after the whole list is read. */
export const laterTicket: Ticket = 0x7fff_ffff;

export const pending = -1;

export function settledTicket(outcome: number): Ticket {
  return (outcome | settledBit) >>> 0;
}

/** The outcome of a ticket that needs no service; `undefined` for an address's. */
export function settledOutcome(ticket: Ticket): number | undefined {
  return ticket >= settledBit ? ticket - settledBit : undefined;
}

/** The unique addresses of a run: each has a number, one batch and one outcome. Tens of bytes each, without the address. */
export class AddressBook {
  /**
   * Hashes and numbers addresses: a new one gets the number `size`, and must be assigned to a batch or an
   * outcome next. `unnumbered` once the hashes were handed over.
   */
  readonly table: AddressTable;
  #isHandedOver = false;
  /** By address number: its outcome, or, with the highest bit set, its batch. */
  readonly #states = new NumberList();
  /** By batch: the outcome of its remaining addresses; `pending` until it is settled. */
  readonly #fallbacks: number[] = [];
  /** By batch: the number of its first address. */
  readonly #firsts: number[] = [];

  /** @param options.seed 32 random bytes, kept with the run: collisions cannot be crafted */
  constructor(options: { readonly seed: Uint8Array }) {
    this.table = new AddressTable(options);
  }

  get size(): number {
    return this.#states.length;
  }

  /** Whether {@link handOver} was called, so that addresses are no longer found here. */
  get isHandedOver(): boolean {
    return this.#isHandedOver;
  }

  /**
   * Hands over the hashes of all addresses, shard by shard, and keeps none. Afterwards addresses are only
   * hashed here; their numbers are found elsewhere.
   *
   * @returns slots as from `AddressTable.takeShard`
   */
  *handOver(): Generator<{ readonly shard: number; readonly slots: Int32Array }> {
    this.#isHandedOver = true;
    for (let shard = 0; shard < shardCount; shard += 1) {
      yield { shard, slots: this.table.takeShard(shard) };
    }
  }

  /** Assigns a known outcome to the address numbered last: it needs no batch. */
  assignOutcome(outcome: number): void {
    this.#states.push(outcome);
  }

  assign(batch: number): void {
    while (this.#fallbacks.length <= batch) {
      this.#fallbacks.push(pending);
      this.#firsts.push(this.#states.length);
    }
    this.#states.push((batch | settledBit) >>> 0);
  }

  findWaiting(group: number, key: string, batch: number): number {
    const number = this.table.find(group, key);
    if (number === -1) return -1;
    return this.#states.at(number) === (batch | settledBit) >>> 0 ? number : -1;
  }

  /** The first number from `from` on that waits for a batch, or -1. */
  nextWaiting(batch: number, from: number): number {
    return this.#states.indexOf((batch | settledBit) >>> 0, from);
  }

  /** The numbers that wait for a batch, in ascending order, at most `most`. */
  allWaiting(batch: number, most: number): Uint32Array {
    return this.#states.indexesOf((batch | settledBit) >>> 0, most, this.#firsts[batch]);
  }

  /** Resolves an address that waits for this batch; returns whether it did. */
  resolve(number: number, batch: number, outcome: number): boolean {
    return this.#states.replace(number, (batch | settledBit) >>> 0, outcome);
  }

  /** Settles a batch: its remaining addresses get `fallback`. */
  settle(batch: number, fallback: number): void {
    this.#fallbacks[batch] = fallback;
  }

  isSettled(batch: number): boolean {
    return this.#fallbacks[batch] !== pending;
  }

  outcome(ticket: Ticket): number {
    if (ticket >= settledBit) return ticket - settledBit;
    const state = this.#states.at(ticket);
    return state < settledBit ? state : (this.#fallbacks[state - settledBit] ?? pending);
  }
}

const segmentBits = 16;
const segmentLength = 1 << segmentBits;
const segmentMask = segmentLength - 1;
/** A short list has one segment, which doubles from this length. */
const firstLength = 256;
/** This many numbers are compared one by one before a native search is worth the call. */
const near = 16;

/** A list of unsigned 32-bit numbers, four bytes each. From its first full segment on it grows without copying. */
export class NumberList {
  readonly #segments: Uint32Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    const index = this.#length;
    if (index >= segmentLength) {
      if ((index & segmentMask) === 0) this.#segments.push(new Uint32Array(segmentLength));
    } else if (index >= (this.#segments[0]?.length ?? 0)) {
      this.#segments[0] = grown(this.#segments[0]);
    }
    this.#length += 1;
    this.set(index, value);
  }

  at(index: number): number {
    const value = this.#segments[index >>> segmentBits]?.[index & segmentMask];
    if (value === undefined || index >= this.#length) {
      throw new RangeError(`no number at ${index} of ${this.#length}`);
    }
    return value;
  }

  set(index: number, value: number): void {
    const segment = this.#segments[index >>> segmentBits];
    if (segment === undefined || index >= this.#length) {
      throw new RangeError(`no number at ${index} of ${this.#length}`);
    }
    segment[index & segmentMask] = value;
  }

  /** The first index from `from` on with this value, or -1. */
  indexOf(value: number, from: number): number {
    const segment = this.#segments[from >>> segmentBits];
    const nearEnd = Math.min(from + near, (from | segmentMask) + 1, this.#length);
    for (let at = from; at < nearEnd; at += 1) if (segment?.[at & segmentMask] === value) return at;
    for (let at = from; at < this.#length; at = ((at >>> segmentBits) + 1) << segmentBits) {
      const found = this.#segments[at >>> segmentBits]?.indexOf(value, at & segmentMask) ?? -1;
      if (found === -1) continue;
      const index = (at & ~segmentMask) + found;
      return index < this.#length ? index : -1;
    }
    return -1;
  }

  /** The first indexes from `from` on with this value, at most `most`. */
  indexesOf(value: number, most: number, from = 0): Uint32Array {
    const indexes = new Uint32Array(most);
    let found = 0;
    for (let at = from; found < most;) {
      at = this.indexOf(value, at);
      if (at === -1) break;
      const segment = this.#segments[at >>> segmentBits] as Uint32Array;
      const end = Math.min(this.#length, (at | segmentMask) + 1);
      for (; at < end && found < most; at += 1) {
        if (segment[at & segmentMask] !== value) continue;
        indexes[found] = at;
        found += 1;
      }
    }
    return indexes.subarray(0, found);
  }

  /** Replaces a number if it has the expected value; returns whether it had. */
  replace(index: number, before: number, after: number): boolean {
    const segment = this.#segments[index >>> segmentBits];
    const at = index & segmentMask;
    if (segment === undefined || segment[at] !== before || index >= this.#length) return false;
    segment[at] = after;
    return true;
  }
}

function grown(segment: Uint32Array | undefined): Uint32Array {
  if (!segment) return new Uint32Array(firstLength);
  const larger = new Uint32Array(segment.length * 2);
  larger.set(segment);
  return larger;
}
