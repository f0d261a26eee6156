import { keyBytes, KeyTable } from './key-table.js';

/** Who verified addresses on a day, and whether everybody may know. */
export interface Verified {
  /** Whose cache they enter; of nobody's but the global one unless given. */
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
 * On which day an address was last verified, by each owner and by anybody who shares it.
 *
 * Nearly every address is verified by one owner, shared or not, so that one number says all there is to
 * know: its owner's, whether it is shared, and the day. What does not go into one number is in
 * tables of its own.
 */
export class VerifiedDays {
  readonly #claims = new KeyTable();
  readonly #owners = new Map<string, number>();
  /** What no claim says, by owner; `undefined` is the global cache. */
  readonly #others = new Map<string | undefined, KeyTable>();
  #isAnyShared = false;

  /** Whether anything is known of an owner, or of the global cache. */
  has(owner: string | undefined): boolean {
    return owner === undefined ? this.#isAnyShared : this.#owners.has(owner);
  }

  /** Notes all keys that are one after another in `keys`. */
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
   * Looks up all keys that are one after another in `keys`.
   *
   * @returns for each the day after it was last verified by the owner, and by anybody who shares it; 0
   *   where it never was
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

  /** Takes in what no claim says. */
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

/** The day after that of the verification, so that 0 is never. */
function dayOf(claim: number): number {
  return claim & (sharedBit - 1);
}

/** What two claims say together; `undefined` when no one claim says it. */
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
