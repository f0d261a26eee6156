import { keyBytes, KeyTable } from './key-table.js';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchParameters } from '../../contract/parameters.js';
import { openPrivateFile } from '../../platform/files/private-files.js';
import { dayOf, loadDays, readRecords } from './record-file.js';
import { type CacheHit, hitCodes } from './events.js';

/** Verified addresses of an owner on a day. */
interface Verified {
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
      if (ownerOfClaim(claim) === number) own[index] = dayOfClaim(claim);
      if (isSharedBy(claim)) shared[index] = dayOfClaim(claim);
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

function ownerOfClaim(claim: number): number {
  return Math.floor(claim / ownerUnit);
}

function isSharedBy(claim: number): boolean {
  return (claim & sharedBit) !== 0;
}

/** The day after the verification, so that 0 means never. */
function dayOfClaim(claim: number): number {
  return claim & (sharedBit - 1);
}

/** Two claims combined; `undefined` where one number cannot hold both. */
function union(one: number, other: number): number | undefined {
  const [oneOwner, otherOwner] = [ownerOfClaim(one), ownerOfClaim(other)];
  if (oneOwner !== 0 && otherOwner !== 0 && oneOwner !== otherOwner) return undefined;
  const accountDay = Math.max(oneOwner && dayOfClaim(one), otherOwner && dayOfClaim(other));
  const sharedDay = Math.max(
    isSharedBy(one) ? dayOfClaim(one) : 0,
    isSharedBy(other) ? dayOfClaim(other) : 0,
  );
  const owner = oneOwner || otherOwner;
  if (sharedDay === 0) return claimOf(owner, false, accountDay);
  return owner === 0 || accountDay === sharedDay ? claimOf(owner, true, sharedDay) : undefined;
}

const globalOwner = 'global';

/** The caches that a lookup may use, and how far back. */
type CacheParameters = Pick<
  BatchParameters,
  | 'use_account_cache'
  | 'max_account_cache_backoff'
  | 'use_global_cache'
  | 'max_global_cache_backoff'
>;

interface Wanted {
  readonly account: string;
  readonly nowMs: number;
  readonly parameters: CacheParameters;
}

/**
 * The account caches and the global cache (spec 1): the day on which an address was verified. They hold
 * salted hashes, no address; the files of the global cache name no account. A file has the keys of one owner
 * and one day, so that old days are removed as a whole.
 *
 * Days are days of UTC: "1 is today alone" (spec 2.3).
 */
export class ResultCaches {
  readonly #folder: string;
  /** Owners are the hashes of accounts' names. */
  readonly #days = new VerifiedDays();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string, nowMs: number): Promise<ResultCaches> {
    const caches = new ResultCaches(folder);
    const files = { folder, name: /^([a-z0-9]+)-(\d+)\.keys$/, recordBytes: keyBytes };
    await loadDays(files, nowMs, (block, { owner, day }) => {
      const isShared = owner === globalOwner;
      caches.#days.note(block, { ...(isShared ? {} : { owner }), isShared, day });
    });
    return caches;
  }

  /** Looks a key up: "the account cache is asked first, the global cache second" (spec 1). */
  find(keys: Uint8Array, offset: number, wanted: Wanted): CacheHit {
    const [code = 0] = this.findAll(keys.subarray(offset, offset + keyBytes), wanted);
    return hitCodes[code] ?? null;
  }

  /** Looks up all consecutive keys; one byte for each, by {@link hitCodes}. */
  findAll(keys: Uint8Array, { account, nowMs, parameters }: Wanted): Uint8Array {
    const found = new Uint8Array(keys.length / keyBytes);
    const { own, shared } = this.#days.daysAfter(keys, ownerOf(account));
    if (parameters.use_account_cache) {
      const oldest = dayOf(nowMs) - parameters.max_account_cache_backoff + 1;
      mark(found, 'account', oldest, own);
    }
    if (parameters.use_global_cache) {
      const oldest = dayOf(nowMs) - parameters.max_global_cache_backoff + 1;
      mark(found, 'global', oldest, shared);
    }
    return found;
  }

  /** Whether a lookup could find anything: otherwise nothing need be read. */
  mayFind(account: string, parameters: CacheParameters): boolean {
    return (
      (parameters.use_account_cache && this.#days.has(ownerOf(account))) ||
      (parameters.use_global_cache && this.#days.has(undefined))
    );
  }

  /** Remembers keys as verified. "An account that uses the global cache gives its own results to it" (spec 1). */
  async remember(
    blocks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    verified: { readonly account: string; readonly nowMs: number; readonly isShared: boolean },
  ): Promise<void> {
    const day = dayOf(verified.nowMs);
    const { isShared } = verified;
    const owner = ownerOf(verified.account);
    const owners = isShared ? [owner, globalOwner] : [owner];
    const files: FileHandle[] = [];
    try {
      for (const each of owners) files.push(await openPrivateFile(this.#path(each, day), 'a'));
      for await (const block of blocks) {
        for (const file of files) await file.appendFile(block);
        this.#days.note(block, { owner, isShared, day });
      }
    } finally {
      for (const file of files) await file.close();
    }
  }

  static readKeys(path: string): AsyncIterable<Uint8Array> {
    return readRecords(path, keyBytes);
  }

  #path(owner: string, day: number): string {
    return join(this.#folder, `${owner}-${day}.keys`);
  }
}

/** Marks the keys verified on or after the day `oldest`, unless they are marked. */
function mark(found: Uint8Array, hit: CacheHit, oldest: number, daysAfter: Uint16Array): void {
  const code = hitCodes.indexOf(hit);
  for (let index = 0; index < daysAfter.length; index += 1) {
    const day = daysAfter[index] ?? 0;
    if (day > 0 && day - 1 >= oldest && found[index] === 0) found[index] = code;
  }
}

/** Called for every address of a batch, and for one account after another. */
let lastOwner: { readonly account: string | undefined; readonly owner: string } = {
  account: undefined,
  owner: '',
};

function ownerOf(account: string): string {
  if (lastOwner.account !== account) lastOwner = { account, owner: hashOf(account) };
  return lastOwner.owner;
}

function hashOf(account: string): string {
  return `a${createHash('sha256').update(account).digest('hex').slice(0, 32)}`;
}
