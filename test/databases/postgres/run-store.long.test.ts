import { setTimeout } from 'node:timers/promises';
import { beforeEach, inject } from 'vitest';
import { postgresStore } from '../../../src/databases/postgres/store/postgres-store.js';
import type { SharedRunStore } from '../../../src/runs/run-store.js';
import { FakeClock } from '../../client/fake-clock.js';
import { describeRunStore } from '../../runs/run-store-suite.js';
import { newName } from './store-place.js';

const leaseMs = 3000;
const { signal } = new AbortController();

let run: string;
beforeEach(() => {
  run = newName();
});

async function open(clock?: FakeClock): Promise<SharedRunStore> {
  const store = postgresStore({ connectionString: inject('postgresUrl'), run, leaseMs });
  return store.open({ signal, ...(clock && { clock }) });
}

describeRunStore('PostgreSQL', {
  open: async () => open(),
  begin: async (store, ...begun) => store.begin(...begun),
  shared: {
    openFrozen: async () => open(new FakeClock()),
    outlastClaims: async () => setTimeout(leaseMs + 200),
  },
});
