import { createFastClock } from '../../../../src/testing/test-clock.js';
import { MemoryDatabase } from '../../../trials/simulation/memory/memory-database.js';
import { memoryStore } from '../../../trials/simulation/memory/memory-store.js';
import { describeSharedFeatures } from './shared-features-suite.js';

const clock = createFastClock(5);
/** Never over within a test. */
const leaseMs = 3_600_000;

describeSharedFeatures(
  'memory',
  () => {
    const database = new MemoryDatabase(() => clock.now());
    return () => memoryStore(database, leaseMs);
  },
  clock,
);
