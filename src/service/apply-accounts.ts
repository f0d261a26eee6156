import { endlessCredits, keyHashOf, type Account } from './account.js';
import type { ServiceEvent } from './store/events.js';
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
  for (const { name, granted, isSuspended } of state.accounts.values()) {
    if (listed.has(name)) continue;
    await setAccount(store, {
      event: 'account',
      name,
      keySha256: null,
      emailCredits: granted.email,
      phoneCredits: granted.phone,
      suspended: isSuspended,
    });
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
