import * as z from 'zod';
import { createHash } from 'node:crypto';
import { ConfigurationError } from '../platform/errors/errors.js';
import { parseConfig } from '../platform/json.js';
import type { ServiceEvent } from './storage/events.js';
import type { AccountState } from './storage/service-state.js';
import type { Store } from './storage/store.js';

/** An account of the local service. */
export interface Account {
  readonly name: string;
  /** Its key, unless {@link Account.keySha256} is given. */
  readonly key?: string | undefined;
  /** SHA-256 of its key, in hexadecimal. */
  readonly keySha256?: string | undefined;
  /**
   * Credits granted so far, including spent ones: raise it to give more. `Infinity` is unlimited.
   *
   * @default what was granted before, or unlimited for a new account
   */
  readonly emailCredits?: number | undefined;
  /** Like {@link Account.emailCredits}. */
  readonly phoneCredits?: number | undefined;
  /**
   * Whether its requests are answered with 403 although the key is valid.
   *
   * @default false
   */
  readonly suspended?: boolean | undefined;
}

/** The number behind "unlimited": differences between balances are still exact, half credits included. */
export const endlessCredits = 1e15;

const accountsFile = z
  .array(
    z
      .object({
        name: z.string().min(1),
        key: z.string().min(1).optional(),
        key_sha256: z
          .string()
          .regex(/^[0-9a-fA-F]{64}$/)
          .optional(),
        email_credit: z.number().min(0).optional(),
        phone_credit: z.number().min(0).optional(),
        suspended: z.boolean().optional(),
      })
      .strict(),
  )
  .min(1);

/**
 * Reads an accounts file: a JSON array of `{"name", "key", "email_credit", "phone_credit"}`, with
 * `key_sha256` in place of `key` if wanted; `"suspended": true` answers its requests with 403.
 *
 * @throws ConfigurationError `invalid_option`, with the field and never a key
 *
 * @example
 * ```ts
 * const accounts = parseAccounts('[{ "name": "ada", "key": "a-key", "email_credit": 10, "phone_credit": 0 }]');
 * console.log(accounts[0]?.name); // ada
 * ```
 */
export function parseAccounts(json: string): readonly Account[] {
  const accounts = parseConfig(json, accountsFile, 'the accounts file');
  return accounts.map(({ key_sha256, email_credit, phone_credit, ...account }) => ({
    ...account,
    keySha256: key_sha256?.toLowerCase(),
    emailCredits: email_credit,
    phoneCredits: phone_credit,
  }));
}

export function keyHashOf(account: Account): string {
  if (account.key !== undefined && account.key !== '') return hashKey(account.key);
  if (account.keySha256 !== undefined) return account.keySha256.toLowerCase();
  throw new ConfigurationError(`account ${account.name} has neither a key nor its hash`, {
    option: 'accounts',
    fault: 'missing',
  });
}

function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

type AccountEvent = Extract<ServiceEvent, { event: 'account' }>;

/**
 * Updates the state to a list of accounts: new ones are added, keys replaced, credits granted, and the key of
 * an account that is not in the list is revoked. Batches, balances and ledger stay.
 */
export async function applyAccounts(store: Store, accounts: readonly Account[]): Promise<void> {
  const { state } = store;
  const listed = new Set(accounts.map(({ name }) => name));
  for (const account of state.accounts.values()) {
    if (listed.has(account.name)) continue;
    await setAccount(store, revocationOf(account));
  }
  for (const account of accounts) {
    const granted = state.accounts.get(account.name)?.granted;
    await setAccount(store, {
      event: 'account',
      name: account.name,
      keySha256: keyHashOf(account),
      emailCredits: Math.min(account.emailCredits ?? granted?.email ?? Infinity, endlessCredits),
      phoneCredits: Math.min(account.phoneCredits ?? granted?.phone ?? Infinity, endlessCredits),
      suspended: account.suspended ?? false,
    });
  }
}

export function revocationOf({ name, granted, isSuspended }: AccountState): AccountEvent {
  return {
    event: 'account',
    name,
    keySha256: null,
    emailCredits: granted.email,
    phoneCredits: granted.phone,
    suspended: isSuspended,
  };
}

/** The log records only changes of an account. */
async function setAccount(store: Store, event: AccountEvent): Promise<void> {
  const known = store.state.accounts.get(event.name);
  const isSame =
    known?.keySha256 === event.keySha256 &&
    known.granted.email === event.emailCredits &&
    known.granted.phone === event.phoneCredits &&
    known.isSuspended === event.suspended;
  if (!isSame) await store.commit(event);
}
