import { beforeEach } from 'vitest';
import { TestClock } from '../../../src/testing/test-clock.js';
import { MemoryDatabase } from '../../trials/simulation/memory/memory-database.js';
import { openMemoryStore } from '../../trials/simulation/memory/memory-store.js';
import { describeRunStore } from './run-store-suite.js';

const leaseMs = 30_000;

/** Of the database, and of all processes that are not frozen. */
let clock: TestClock;
let database: MemoryDatabase;
beforeEach(() => {
  clock = new TestClock();
  database = new MemoryDatabase(() => clock.now());
});

describeRunStore('A store in memory', {
  open: async () => openMemoryStore(database, { clock, leaseMs }),
  begin: async (store, ...begun) => store.begin(...begun),
  shared: {
    openFrozen: async () => openMemoryStore(database, { clock: new TestClock(), leaseMs }),
    outlastClaims: async () => clock.advance(leaseMs + 1),
  },
});
