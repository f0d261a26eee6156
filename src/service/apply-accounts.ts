import { endlessCredits, keyHashOf, type Account } from './account.js';
import type { ServiceEvent } from './store/events.js';
import type { AccountState } from './store/service-state.js';
import type { Store } from './store/store.js';

type AccountEvent = Extract<ServiceEvent, { event: 'account' }>;

/**
 * Makes the state agree with a list of accounts: new ones are added, keys replaced, credits granted,
 * and the key of an account that is not in the list is revoked. Batches, balances and ledger of all
 * accounts stay.
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

/** An account's key holds no more, until the account is given one again. */
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

/** The log learns of an account only when something has changed. */
async function setAccount(store: Store, event: AccountEvent): Promise<void> {
  const known = store.state.accounts.get(event.name);
  const isSame =
    known?.keySha256 === event.keySha256 &&
    known.granted.email === event.emailCredits &&
    known.granted.phone === event.phoneCredits &&
    known.isSuspended === event.suspended;
  if (!isSame) await store.commit(event);
}
