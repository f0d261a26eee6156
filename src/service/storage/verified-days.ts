import { keyBytes, KeyTable } from './key-table.js';

/** Verified addresses of an owner on a day. */
export interface Verified {
  /** Owner of their account cache; none for the global cache alone. */
  readonly owner?: string;
  /** Whether they enter the global cache. */
  readonly isShared: boolean;
  /** From 0 to 65534. */
  readonly day: number;
}

const dayBits = 16;
const sharedBit = 2 ** dayBits;
const ownerUnit = 2 * sharedBit;
const mostOwners = 8191;

/**
 * The day on which an address was last verified, by each owner and by anybody who shares it.
 *
 * Nearly every address has one owner, so that one number holds everything: the owner, whether it is shared,
 * and the day. Other facts are in additional tables.
 */
export class VerifiedDays {
  readonly #claims = new KeyTable();
  readonly #owners = new Map<string, number>();
  /** Facts beyond the claims, by owner; `undefined` is the global cache. */
  readonly #others = new Map<string | undefined, KeyTable>();
  #isAnyShared = false;

  /** Whether there is anything about an owner, or in the global cache. */
  has(owner: string | undefined): boolean {
    return owner === undefined ? this.#isAnyShared : this.#owners.has(owner);
  }

  /** Records all consecutive keys in `keys`. */
  note(keys: Uint8Array, verified: Verified): void {
    const { owner, isShared, day } = verified;
    const number = owner === undefined ? 0 : this.#numberOf(owner);
    this.#isAnyShared ||= isShared;
    if (number > mostOwners) {
      this.#noteApart(keys, verified);
      return;
    }
    this.#claims.addAll(keys, claimOf(number, isShared, day + 1), (known, claim, at) => {
      const both = union(known, claim);
      if (both === undefined) this.#noteApart(keys.subarray(at, at + keyBytes), verified);
      return both ?? known;
    });
  }

  /**
   * Looks up all consecutive keys in `keys`.
   *
   * @returns for each the day after its last verification by the owner, and by anybody who shares it; 0 for
   * never
   */
  daysAfter(
    keys: Uint8Array,
    owner: string,
  ): { readonly own: Uint16Array; readonly shared: Uint16Array } {
    const found = new Uint32Array(keys.length / keyBytes);
    this.#claims.getAll(keys, found);
    const number = this.#owners.get(owner);
    const own = new Uint16Array(found.length);
    const shared = new Uint16Array(found.length);
    for (let index = 0; index < found.length; index += 1) {
      const claim = (found[index] ?? 0) - 1;
      if (claim === -1) continue;
      if (ownerOf(claim) === number) own[index] = dayOf(claim);
      if (isSharedBy(claim)) shared[index] = dayOf(claim);
    }
    this.#raise(own, keys, owner);
    this.#raise(shared, keys, undefined);
    return { own, shared };
  }

  /** Adds facts beyond the claims. */
  #raise(days: Uint16Array, keys: Uint8Array, owner: string | undefined): void {
    const others = this.#others.get(owner);
    if (others === undefined) return;
    const found = new Uint32Array(days.length);
    others.getAll(keys, found);
    for (let index = 0; index < days.length; index += 1) {
      days[index] = Math.max(days[index] ?? 0, found[index] ?? 0);
    }
  }

  #noteApart(keys: Uint8Array, { owner, isShared, day }: Verified): void {
    if (owner !== undefined) this.#tableOf(owner).addAll(keys, day);
    if (isShared) this.#tableOf(undefined).addAll(keys, day);
  }

  #tableOf(owner: string | undefined): KeyTable {
    let table = this.#others.get(owner);
    if (table === undefined) this.#others.set(owner, (table = new KeyTable()));
    return table;
  }

  #numberOf(owner: string): number {
    const number = this.#owners.get(owner) ?? this.#owners.size + 1;
    this.#owners.set(owner, number);
    return number;
  }
}

function claimOf(owner: number, isShared: boolean, day: number): number {
  return owner * ownerUnit + (isShared ? sharedBit : 0) + day;
}

function ownerOf(claim: number): number {
  return Math.floor(claim / ownerUnit);
}

function isSharedBy(claim: number): boolean {
  return (claim & sharedBit) !== 0;
}

/** The day after the verification, so that 0 means never. */
function dayOf(claim: number): number {
  return claim & (sharedBit - 1);
}

/** Two claims combined; `undefined` where one number cannot hold both. */
function union(one: number, other: number): number | undefined {
  const [oneOwner, otherOwner] = [ownerOf(one), ownerOf(other)];
  if (oneOwner !== 0 && otherOwner !== 0 && oneOwner !== otherOwner) return undefined;
  const accountDay = Math.max(oneOwner && dayOf(one), otherOwner && dayOf(other));
  const sharedDay = Math.max(
    isSharedBy(one) ? dayOf(one) : 0,
    isSharedBy(other) ? dayOf(other) : 0,
  );
  const owner = oneOwner || otherOwner;
  if (sharedDay === 0) return claimOf(owner, false, accountDay);
  return owner === 0 || accountDay === sharedDay ? claimOf(owner, true, sharedDay) : undefined;
}
