import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchParameters } from '../../contract/parameters.js';
import { openPrivateFile } from '../../platform/files/private-files.js';
import { VerifiedDays } from './verified-days.js';
import { dayOf, loadDays, readRecords } from './record-file.js';
import { type CacheHit, hitCodes } from './events.js';
import { keyBytes } from './key-table.js';

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

  /**
   * Remembers keys as verified. "An account that uses the global cache gives its own results to it"
   * (spec 1).
   */
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

  /** The keys of a batch for `remember`. */
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
