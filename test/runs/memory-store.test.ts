import { beforeEach } from 'vitest';
import { FakeClock } from '../client/fake-clock.js';
import { MemoryStore } from '../simulation/memory-store.js';
import { describeRunStore } from './run-store-suite.js';
import { SharedRun } from '../simulation/shared-run.js';

/** Of the store, and of all processes that are not frozen. */
let clock: FakeClock;
let run: SharedRun;
beforeEach(() => {
  clock = new FakeClock();
  run = new SharedRun(() => clock.now());
});

describeRunStore('A store in memory', {
  open: async () => MemoryStore.open(run, clock),
  begin: async (store, ...begun) => store.begin(...begun),
  shared: {
    openFrozen: async () => MemoryStore.open(run, new FakeClock()),
    outlastClaims: async () => clock.advance(run.leaseMs + 1),
  },
});
