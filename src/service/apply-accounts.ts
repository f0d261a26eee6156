import { endlessCredits, keyHashOf, type Account } from './account.js';
import type { Store } from './store/store.js';

/**
 * Makes the state agree with a list of accounts: new ones are added, keys replaced, credits granted,
 * and the key of an account that is not in the list is revoked. Batches, balances and ledger of all
 * accounts stay.
 */
export async function applyAccounts(store: Store, accounts: readonly Account[]): Promise<void> {
  const { state } = store;
  const listed = new Set(accounts.map(({ name }) => name));
  for (const known of state.accounts.values()) {
    if (listed.has(known.name) || known.keySha256 === null) continue;
    await setAccount(store, known.name, null, known.granted.email, known.granted.phone);
  }
  for (const account of accounts) {
    const granted = state.accounts.get(account.name)?.granted;
    await setAccount(
      store,
      account.name,
      keyHashOf(account),
      account.emailCredits ?? granted?.email ?? Infinity,
      account.phoneCredits ?? granted?.phone ?? Infinity,
    );
  }
}

async function setAccount(
  store: Store,
  name: string,
  keySha256: string | null,
  emailCredits: number,
  phoneCredits: number,
): Promise<void> {
  const known = store.state.accounts.get(name);
  const email = Math.min(emailCredits, endlessCredits);
  const phone = Math.min(phoneCredits, endlessCredits);
  const isSame =
    known?.keySha256 === keySha256 &&
    known.granted.email === email &&
    known.granted.phone === phone;
  if (isSame) return;
  await store.commit({
    event: 'account',
    name,
    keySha256,
    emailCredits: email,
    phoneCredits: phone,
  });
}
